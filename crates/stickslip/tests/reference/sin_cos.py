"""Writes sin_cos.csv: angles with sine and cosine as a double plus the remainder (mpmath, 60 digits)."""
import random

from mpmath import cos, mp, mpf, pi, sin

mp.dps = 60
random.seed(4)


def split(value):
    near = float(value)
    return f"{near!r},{float(value - mpf(near))!r}"


angles = [random.uniform(-limit, limit) for limit in (0.8, 3.0, 50.0, 1e3, 99999.0) for _ in range(80)]
angles += [float(k * pi / 2) for k in range(1, 100)]
angles += [float(random.randrange(100, 63000) * pi / 2) for _ in range(100)]
angles += [float(k * pi / 4) for k in range(1, 60, 2)]

with open("sin_cos.csv", "w") as out:
    out.write("# angle, sine: nearest double, remainder; cosine: nearest double, remainder\n")
    for x in angles:
        out.write(f"{x!r},{split(sin(mpf(x)))},{split(cos(mpf(x)))}\n")
