"""Writes box_qp.txt: coupled frictions solved by scipy, as an independent reference of the coupled implicit step.

The step of masses M with free velocities v and frictions J of limits F is the minimum of |M^(-1/2) J' f + M^(1/2) v|^2 / 2 within
|f_i| <= F_i (scalar) or |f_block| <= F (disk).  Scalar cases: scipy.optimize.lsq_linear(method='bvls'), an active-set method.
Singular cases (repeated rows) add delta * sum f^2/F with delta = 1e-9, whose minimum tends to the documented split.
Disk cases: scipy.optimize.minimize(method='SLSQP').

    python box_qp.py > box_qp.txt        (numpy 2, scipy 1.17)
"""
import numpy as np
from scipy.optimize import lsq_linear, minimize

rng = np.random.default_rng(20240607)


def show(kind, masses, v, rows, limits, force, dim=1):
    print(kind, len(masses), len(rows), dim)
    for values in (masses, v, rows.ravel(), limits, force):
        print(" ".join(repr(float(x)) for x in values))


def scalar(bodies, n, repeated):
    masses = 10 ** rng.uniform(-1, 1, bodies)
    v = rng.normal(size=bodies)
    rows = rng.normal(size=(n, bodies)) * (rng.uniform(size=(n, bodies)) < 0.6)
    if repeated:
        rows[n // 2:] = rows[:n - n // 2]
    limits = rng.uniform(0.05, 1.0, n)
    a = (rows / np.sqrt(masses)).T
    b = -np.sqrt(masses) * v
    if repeated or n > bodies:
        delta = 1e-9
        a = np.vstack([a, np.diag(np.sqrt(delta / limits))])
        b = np.concatenate([b, np.zeros(n)])
    result = lsq_linear(a, b, (-limits, limits), method="bvls", tol=1e-15, max_iter=1000)
    show("singular" if repeated or n > bodies else "regular", masses, v, rows, limits, result.x)


def disks(bodies, blocks):
    masses = 10 ** rng.uniform(-1, 1, bodies)
    v = rng.normal(size=bodies)
    rows = rng.normal(size=(2 * blocks, bodies))
    limits = rng.uniform(0.05, 1.0, blocks)
    a = (rows / np.sqrt(masses)).T
    b = -np.sqrt(masses) * v
    cone = {"type": "ineq",
            "fun": lambda f: limits ** 2 - (f.reshape(-1, 2) ** 2).sum(axis=1),
            "jac": lambda f: np.array([[-2 * f[j] if j // 2 == i else 0.0 for j in range(len(f))] for i in range(blocks)])}
    result = minimize(lambda f: 0.5 * np.sum((a @ f - b) ** 2), np.zeros(2 * blocks), jac=lambda f: a.T @ (a @ f - b),
                      constraints=[cone], method="SLSQP", options={"ftol": 1e-17, "maxiter": 1000})
    show("disk", masses, v, rows, limits, result.x, 2)


for bodies, n in ((2, 2), (4, 3), (6, 6), (12, 10), (30, 25)):
    scalar(bodies, n, False)
for bodies, n in ((2, 4), (3, 6), (5, 9), (10, 14)):
    scalar(bodies, n, True)
for bodies, blocks in ((4, 2), (8, 3), (12, 5)):
    disks(bodies, blocks)
