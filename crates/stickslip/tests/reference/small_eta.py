"""Limit cycle of subloading friction with eta = 0.0002 1/s and a contact time of 2 ms (set S of seed 003; N, mm, s).

The rate form integrated by an explicit method of order 8 (scipy, DOP853, rtol 1e-10). Prints amplitude and period after 16000 s:
0.020153 and 236.19 s (scipy 1.17; LSODA with rtol 1e-8 gives 0.020153 and 236.20 s).
"""

import math

import numpy as np
from scipy.integrate import solve_ivp

LOAD, STIFFNESS, R_RATE, KAPPA, ETA = 100.0, 1000.0, 100.0, 10.0, 2e-4
MU_STATIC, MU_KINETIC, SPRING, MASS, SPEED, CONTACT_TIME = 0.4, 0.2, 10.0, 10.0, 1e-3, 2e-3
END = 18000.0


def rates(t, y):
    x, v, q, mu = y
    healing, softening = ETA * (1 - mu / MU_STATIC), KAPPA * (mu / MU_KINETIC - 1)
    slip, sign = 0.0, math.copysign(1.0, q)
    if q != 0.0:
        ratio = abs(q) / (mu * LOAD)
        approach = -R_RATE * math.log(ratio)
        excess = STIFFNESS * sign * v - ratio * healing * LOAD
        slip = max(0.0, excess / (STIFFNESS + approach * mu * LOAD - ratio * softening * LOAD))
    q_rate = STIFFNESS * (v - sign * slip)
    pull = SPRING * (SPEED * t - x) - q - CONTACT_TIME * q_rate
    return [v, pull / MASS, q_rate, healing - softening * slip]


tolerances = [1e-12, 1e-14, 1e-12, 1e-14]
run = solve_ivp(rates, (0, END), [0, 0, 0, MU_STATIC], method="DOP853", rtol=1e-10, atol=tolerances, max_step=5.0)
late = run.t > END - 2000
t, q = run.t[late], run.y[2, late] / LOAD
print("amplitude", q.max() - q.min())
middle, quarter = 0.5 * (q.max() + q.min()), 0.25 * (q.max() - q.min())
was_low, rises = False, []
for time, value in zip(t, q - middle):
    was_low = was_low or value < -quarter
    if was_low and value > 0:
        rises.append(time)
        was_low = False
print("period", np.diff(rises).mean())
