#!/usr/bin/env python3
"""Reference numbers for time-dependent subloading friction, from nothing but the equations and Python's own library.

It shares no code with the engine. Units: N, mm, s; a mass of 10 N s2/mm is 10 t. State: position x, velocity v, friction
resistance q, coefficient mu; see subloading.md, section 1, for the equations. The integrator is that of Dormand and Prince with
error control.

    python3 docs/science/reference.py fig3        # static peak and plateau at low speeds
    python3 docs/science/reference.py exponent    # the exponent n of recovery
    python3 docs/science/reference.py corner      # soft spring, slow drive
    python3 docs/science/reference.py masses      # displacement amplitude of four masses
    python3 docs/science/reference.py cyclic      # slip that accumulates below the limit: closed form
"""

import math
import sys

MU_S, MU_K, KAPPA, ETA, ALPHA = 0.4, 0.2, 10.0, 0.002, 1000.0

A = [
    [],
    [1 / 5],
    [3 / 40, 9 / 40],
    [44 / 45, -56 / 15, 32 / 9],
    [19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729],
    [9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656],
    [35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84],
]
C = [0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1, 1]
E = [71 / 57600, 0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40]


def integrate(rates, y, t, end, scale, tolerance, largest, watch):
    """Dormand-Prince 5(4); `watch(t, y)` sees every accepted step."""
    h = 1e-4
    first = rates(t, y)
    size = range(len(y))
    while t < end - 1e-12 * end:
        h = min(h, largest, end - t)
        k = [first]
        for stage in range(1, 7):
            row = A[stage]
            k.append(rates(t + C[stage] * h, [y[i] + h * sum(a * k[j][i] for j, a in enumerate(row) if a) for i in size]))
            if stage == 6:
                new = [y[i] + h * sum(a * k[j][i] for j, a in enumerate(row) if a) for i in size]
        error = max(abs(h * sum(e * k[j][i] for j, e in enumerate(E) if e)) / (scale[i] + abs(new[i])) for i in size)
        error /= tolerance
        if error <= 1:
            t, y, first = t + h, new, k[6]
            watch(t, y)
        h *= min(4.0, max(0.2, 0.9 * max(error, 1e-10) ** -0.2))
    return y


def slip_rate(v, q, mu, force, r, n=1.0):
    """Plastic slip rate lambda >= 0, the sign of q, and the recovery rate g."""
    recovery = ETA * max(0.0, 1 - mu / MU_S) ** n
    if q == 0.0:
        return 0.0, 0.0, recovery
    s = math.copysign(1.0, q)
    ratio = abs(q) / (mu * force)
    fall = KAPPA * (mu / MU_K - 1)
    below = ALPHA + (-r * math.log(ratio)) * mu * force - ratio * fall * force
    return max(0.0, (ALPHA * s * v - ratio * recovery * force) / below), s, recovery


def pulled(v, end=0.1, force=10.0, r=1000.0):
    """A contact pulled at constant speed (Fig 3): peak of q/F and where, q/F at the end, and the plateau in closed form."""
    def rates(_, y):
        q, mu = y
        slip, s, recovery = slip_rate(v, q, mu, force, r)
        return [ALPHA * (v - s * slip), recovery - KAPPA * (mu / MU_K - 1) * slip]

    points = [(0.0, 0.0)]
    last = integrate(rates, [0.0, MU_S], 0.0, end / v, [1e-3, 1e-3], 1e-11, 2e-5 / v,
                     lambda t, y: points.append((v * t, y[0] / force)))
    top = max(range(len(points)), key=lambda i: points[i][1])
    (x0, y0), (x1, y1), (x2, y2) = points[top - 1:top + 2]
    d1, d2 = (y1 - y0) / (x1 - x0), (y2 - y1) / (x2 - x1)
    curve = (d2 - d1) / (x2 - x0)
    place = (x0 + x1) / 2 - d1 / (2 * curve)
    peak = y0 + d1 * (place - x0) + curve * (place - x0) * (place - x1)
    return peak, place, last[0] / force, (KAPPA * v + ETA) / (KAPPA * v / MU_K + ETA / MU_S)


def block(spring, v, mass=10.0, n=1.0, contact_time=0.002, force=100.0, r=100.0, tolerance=1e-8):
    """The drawn block with the protocol of section 4.6: amplitude of the elastic friction over F, period, and amplitude of the
    spring's stretch in mm."""
    end = 3.5 * MU_S * force / (spring * v) + 2000
    begin = end - (1.6 * MU_S * force / (spring * v) + 1000)

    def rates(t, y):
        x, u, q, mu = y
        slip, s, recovery = slip_rate(u, q, mu, force, r, n)
        change = ALPHA * (u - s * slip)
        return [u, (spring * (v * t - x) - q - contact_time * change) / mass, change,
                recovery - KAPPA * (mu / MU_K - 1) * slip]

    kept = []
    integrate(rates, [0.0, 0.0, 0.0, MU_S], 0.0, end, [1e-3, 1e-3, 1e-2, 1e-3], tolerance, 50.0,
              lambda t, y: kept.append((t, y[2] / force, v * t - y[0])) if t >= begin else None)
    values = [q for _, q, _ in kept]
    stretch = [e for _, _, e in kept]
    middle = (max(values) + min(values)) / 2
    crossings = [kept[i][0] for i in range(1, len(kept)) if values[i - 1] > middle >= values[i]]
    # Vibrations cross the middle several times in one slip.
    starts = [t for i, t in enumerate(crossings) if i == 0 or t - crossings[i - 1] > 20]
    period = (starts[-1] - starts[0]) / (len(starts) - 1) if len(starts) > 1 else float("nan")
    return max(values) - min(values), period, max(stretch) - min(stretch)


def exponential_integral(x):
    """E1(x) by its continued fraction, or its series for small x."""
    if x < 1:
        total, term = -0.5772156649015329 - math.log(x), 1.0
        for k in range(1, 60):
            term *= -x / k
            total -= term / k
        return total
    fraction = 0.0
    for k in range(200, 0, -1):
        fraction = k / (1 + k / (x + fraction))
    return math.exp(-x) / (x + fraction)


def main():
    what = sys.argv[1] if len(sys.argv) > 1 else ""
    if what == "fig3":
        for v in (1e-6, 1e-5, 1e-4, 1e-3, 1e-2):
            print(v, *("%.9g" % value for value in pulled(v)), flush=True)
    elif what == "exponent":
        for v in (1e-3, 1e-2):
            for n in (0.5, 1.0, 2.0, 3.0):
                print(v, n, *("%.6g" % value for value in block(10.0, v, n=n)), flush=True)
    elif what == "corner":
        for spring, v in ((10.0, 1e-4), (5.0, 2e-2)):
            print(spring, v, *("%.6g" % value for value in block(spring, v)), flush=True)
    elif what == "masses":
        for v in (1e-3, 5e-3):
            for mass in (1.0, 2.0, 5.0, 10.0):
                print(v, mass, *("%.6g" % value for value in block(10.0, v, mass=mass)), flush=True)
    elif what == "cyclic":
        # Loaded from 0 to a part R of the limit again and again, friction neither falling nor recovering: R' = U(R) slip.
        for part in (0.5, 0.7, 0.9):
            print(part, "slip per cycle %.9g mm" % (exponential_integral(-math.log(part)) / 100.0))
    else:
        print(__doc__)


main()
