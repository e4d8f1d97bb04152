# Amplitudes near the critical speed of 2 N/mm and 10 t (seed 003, Fig 9(a)) by LSODA: the rate form of subloading friction, set S in
# N, mm, s with a contact time of 2 ms. Each run lasts 3.5 mu_s F/(K v) + 2000 s, the last 1.6 mu_s F/(K v) + 1000 s count.
# Needs NumPy and SciPy:  python3 critical_speed.py
from math import log

import numpy as np
from scipy.integrate import solve_ivp

F, ALPHA, R_RATE, KAPPA, ETA, MU_S, MU_K = 100.0, 1000.0, 100.0, 10.0, 0.002, 0.4, 0.2
K, M, CONTACT_TIME = 2.0, 10.0, 0.002


def rates(q, mu, v):
    ratio, sign = abs(q) / (mu * F), (1.0 if q > 0 else -1.0)
    h, g = KAPPA * (mu / MU_K - 1), ETA * (1 - mu / MU_S)
    slip = 0.0
    if ratio > 0:
        slip = max(0.0, (ALPHA * sign * v - ratio * g * F) / (ALPHA - R_RATE * log(ratio) * mu * F - ratio * h * F))
    return ALPHA * (v - sign * slip), g - h * slip


def amplitude(drive, tolerance):
    reach = MU_S * F / (K * drive)
    end, counted = 3.5 * reach + 2000, 1.6 * reach + 1000

    def rhs(t, y):
        stretch, v, q, mu = y
        dq, dmu = rates(q, mu, v)
        return [drive - v, (K * stretch - q - CONTACT_TIME * dq) / M, dq, dmu]

    absolute = [1e-3 * tolerance, 1e-3 * tolerance, 0.1 * tolerance, 1e-3 * tolerance]
    run = solve_ivp(rhs, (0, end), [0, 0, 0, MU_S], method="LSODA", rtol=tolerance, atol=absolute, max_step=1.0)
    late = run.y[:, run.t >= end - counted].T
    return np.ptp([q + CONTACT_TIME * rates(q, mu, v)[0] for _, v, q, mu in late]) / F


for drive in [0.04, 0.0428, 0.0452, 0.0476, 0.05, 0.06]:
    print(drive, *("%.6f" % amplitude(drive, tolerance) for tolerance in (1e-8, 1e-10)))
