"""Friction tests on a contact with known parameters, for `stickslip analyse`.

The model is written here from Ozaki, Hashiguchi and Chen (2007), eqs 5, 7, 12, 16, 17, 19 and 25 in one dimension, and
integrated by SciPy's DOP853 method. Nothing of this program is called. Units: N, mm, s.

    python friction_tests.py hard  1 out/    one file per test; noise of 2 % of the largest force of the record
    python friction_tests.py soft  2 out/    all tests in one file, with a column `record`; noise of 2 % of the force itself
    python friction_tests.py cycle 3 out/    stick-slip of a block behind a spring, uneven sampling, noise of 2 % of the largest force

The second argument is the seed of the noise. Needs NumPy and SciPy (written with 2.3 and 1.16).
"""

import os
import sys

import numpy as np
from scipy.integrate import solve_ivp

SETS = {
    # mu_s, mu_k, kappa 1/mm, m, eta 1/s, n, r 1/mm, alpha N/mm, normal force N
    "hard": dict(mu_s=0.52, mu_k=0.31, kappa=6.0, m=1.3, eta=0.004, n=0.8, r=150.0, alpha=2000.0, F=50.0),
    "soft": dict(mu_s=0.27, mu_k=0.18, kappa=1.2, m=1.0, eta=0.03, n=1.5, r=40.0, alpha=300.0, F=200.0),
}


def rates(p, q, mu, v):
    """q' and mu' at the speed v of the contact; q is the resistance, positive against positive motion."""
    F, s = p["F"], np.sign(q)
    R = min(abs(q) / (mu * F), 1.0)
    heal = p["eta"] * max(0.0, 1.0 - mu / p["mu_s"]) ** p["n"]
    soften = p["kappa"] * max(0.0, mu / p["mu_k"] - 1.0) ** p["m"]
    slip = 0.0
    if R > 0.0:
        U = -p["r"] * np.log(R)
        slip = max(0.0, (p["alpha"] * s * v - R * heal * F) / (p["alpha"] + U * mu * F - R * soften * F))
    return p["alpha"] * (v - s * slip), heal - soften * slip


def record(p, moves, start=None):
    """Follows moves (speed, duration or "unload", rows) from an unloaded contact; returns rows of t, x, q."""
    t, x, q, mu = 0.0, 0.0, 0.0, p["mu_s"] if start is None else start
    rows = [(t, x, q)]
    for speed, lasts, count in moves:
        unload = lasts == "unload"
        event = lambda _, y: y[0]
        event.terminal = True
        lasts = 1e3 * abs(q) / p["alpha"] / abs(speed) if unload else lasts
        done = solve_ivp(
            lambda _, y: rates(p, y[0], y[1], speed),
            (0.0, lasts),
            (q, mu),
            method="DOP853",
            rtol=1e-10,
            atol=1e-13,
            dense_output=True,
            events=event if unload else None,
            max_step=min(lasts / 20.0, 0.3 / (p["r"] * abs(speed))) if speed else lasts / 20.0,
        )
        assert done.success
        # Friction stays between its bounds, and the force below the limit.
        assert np.all(done.y[1] >= p["mu_k"] * (1 - 1e-9)) and np.all(done.y[1] <= p["mu_s"] * (1 + 1e-9))
        assert np.all(np.abs(done.y[0]) <= done.y[1] * p["F"] * (1 + 1e-6))
        lasts = done.t[-1]
        for part in np.linspace(0.0, lasts, count + 1)[1:]:
            rows.append((t + part, x + speed * part, done.sol(part)[0]))
        t, x, (q, mu) = t + lasts, x + speed * lasts, done.y[:, -1]
        if unload:
            q = 0.0
    return np.array(rows)


def tests(p):
    """The tests of the appendix."""
    fall = p["mu_k"] / p["kappa"]
    stretch = p["mu_s"] * p["F"] / p["alpha"]
    slow = p["eta"] * fall  # where slip and rest are about equal
    yield "long-hold", record(p, [(0.3 * slow, 5 * fall / (0.3 * slow), 250)])
    yield "fast-sliding", record(p, [(300 * slow, 10 * fall / (300 * slow), 200)])
    for speed in (0.1, 1.0, 10.0):
        yield f"transition {speed:g}", record(p, [(speed * slow, 5 * fall / (speed * slow), 200)])
    for hold in (0.05, 0.2, 0.6, 2.0, 10.0):
        fast = 100 * slow
        hold *= p["mu_s"] / p["eta"]
        course = [(fast, 8 * fall / fast, 60), (-fast, "unload", 5), (0.0, hold, 10), (fast, 4 * fall / fast, 120)]
        yield f"recovery {hold:.4g}", record(p, course)
    yield "presliding", record(p, [(slow, (stretch + 1 / p["r"]) / slow, 150)])
    reach = 0.7 * stretch + 0.5 / p["r"]
    back = [(-slow, 2 * reach / slow, 60), (slow, 2 * reach / slow, 60)]
    yield "cyclic", record(p, [(slow, reach / slow, 30)] + 2 * back)


def noisy(q, generator, of_itself):
    size = np.abs(q) if of_itself else np.max(np.abs(q))
    return q + 0.02 * size * generator.standard_normal(q.size)


def sparse(number, digits):
    return np.format_float_positional(float(f"{number:.{digits}g}"), trim="-")


def block(generator):
    """The spring force of a block of 2 kg behind a spring of 3 N/mm drawn with 1 mm/s; Coulomb friction of 12 N that holds 18 N."""
    K, M, v, holds, slides = 3.0, 2e-3, 1.0, 18.0, 12.0
    omega = np.sqrt(K / M)
    # Stuck, the stretch grows by v. Slipping, it swings about slides/K as reach*cos(omega*t - phase), until it again grows by v: the block
    # then stands still, as far below slides/K as it was above.
    above = (holds - slides) / K
    reach, phase = np.hypot(above, v / omega), np.arctan2(v / omega, above)
    lasts = (np.pi + 2.0 * phase) / omega
    course, t, stretch = [], 0.0, 0.0
    while t < 60.0:
        sticks = (holds / K - stretch) / v
        course.append((t, sticks, stretch))
        t += sticks + lasts
        stretch = slides / K - above

    def force(time):
        begin, sticks, first = [c for c in course if c[0] <= time][-1]
        if time - begin < sticks:
            return K * (first + v * (time - begin))
        return slides + K * reach * np.cos(omega * (time - begin - sticks) - phase)

    times = np.cumsum(0.005 + generator.exponential(0.025, 2000))
    times = times[times < 59.0]
    forces = np.array([force(time) for time in times])
    return times, forces + 0.02 * 18.0 * generator.standard_normal(times.size)


def main():
    name, seed, folder = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    generator = np.random.default_rng(seed)
    os.makedirs(folder, exist_ok=True)
    if name == "cycle":
        with open(os.path.join(folder, "cycle.csv"), "w") as file:
            file.write("time,spring\n")
            for t, f in zip(*block(generator)):
                file.write(f"{sparse(t, 6)},{sparse(f, 4)}\n")
        return
    p = SETS[name]
    if name == "hard":
        for test, rows in tests(p):
            q = noisy(rows[:, 2], generator, False)
            with open(os.path.join(folder, test.replace(" ", "-") + ".csv"), "w") as file:
                file.write("t,x,friction\n")
                for (t, x, _), force in zip(rows, q):
                    file.write(f"{sparse(t, 8)},{sparse(x, 7)},{sparse(force, 5)}\n")
        return
    with open(os.path.join(folder, "soft.csv"), "w") as file:
        # Another bench: the force on the sample, against the motion.
        file.write("record,time,slip,force\n")
        for test, rows in tests(p):
            q = noisy(rows[:, 2], generator, True)
            for (t, x, _), force in zip(rows, q):
                file.write(f"{test},{sparse(t, 8)},{sparse(x, 7)},{sparse(-force, 5)}\n")


if __name__ == "__main__":
    main()
