"""A block drawn through a spring over subloading friction, by tractions on an area (eq 32 of the paper on the trapezoidal update):

M a = K (V t - u) - S f,   f = alpha (e + tau e'),   |alpha e| = R mu p,   R' = U(R) s,   mu' = eta (1 - mu/mu_s) - kappa (mu/mu_k - 1) s

with alpha per area, p a pressure and S the area, integrated by an explicit method of order 8 (scipy, DOP853, rtol 1e-11). For
U = -r ln R, and for U = r/tan(pi R/2), which scenarios give as an expression. Prints t, u, v, e, mu.
"""

import numpy as np
from scipy.integrate import solve_ivp

AREA, PRESSURE, STIFFNESS = 2.5e-3, 2e4, 8e8
MASS, SPRING, SPEED = 2.0, 4e3, 0.01
MU_S, MU_K, KAPPA, ETA, R_RATE, TAU = 0.5, 0.3, 2e3, 0.1, 2e4, 2e-3


def rates(t, y, approach):
    u, v, e, mu = y
    healing, softening = ETA * (1 - mu / MU_S), KAPPA * (mu / MU_K - 1)
    slip = 0.0
    if e != 0.0:
        ratio = STIFFNESS * abs(e) / (mu * PRESSURE)
        pushed = STIFFNESS * np.sign(e) * v - ratio * healing * PRESSURE
        held = STIFFNESS + R_RATE * approach(ratio) * mu * PRESSURE - ratio * softening * PRESSURE
        slip = max(0.0, pushed / held)
    e_rate = v - np.sign(e) * slip
    traction = STIFFNESS * (e + TAU * e_rate)
    return [v, (SPRING * (SPEED * t - u) - AREA * traction) / MASS, e_rate, healing - softening * slip]


for name, approach in [("log", lambda x: -np.log(x)), ("cotangent", lambda x: 1 / np.tan(np.pi * x / 2))]:
    for end in [0.4, 1.0]:
        out = solve_ivp(rates, (0, end), [0, 0, 0, MU_S], method="DOP853", rtol=1e-11, atol=1e-16, args=(approach,), max_step=1e-3)
        print(name, end, *(f"{value:.12g}" for value in out.y[:, -1]))
