"""A block drawn in a circle through a spring over subloading friction in the plane, exponents other than 1 (N, mm, s).

The rate form (seed 003, eqs 16-25, f_n constant) integrated by an explicit method of order 8 (scipy 1.17, DOP853, rtol 1e-11). Prints
time, position, stretch and mu. LSODA with rtol 1e-9 gives the same to the digits that are compared.
"""

import numpy as np
from scipy.integrate import solve_ivp

LOAD, STIFFNESS, R_RATE, KAPPA, ETA, M_EXP, N_EXP = 100.0, 2000.0, 100.0, 10.0, 0.02, 1.4, 0.8
MU_STATIC, MU_KINETIC, SPRING, MASS, CONTACT_TIME = 0.4, 0.2, 10.0, 2.0, 5e-3
RADIUS, TURN = 8.0, 0.02


def rates(t, y, log=True):
    x, v, e, mu = y[0:2], y[2:4], y[4:6], y[6]
    healing = ETA * max(0.0, 1 - mu / MU_STATIC) ** N_EXP
    softening = KAPPA * max(0.0, mu / MU_KINETIC - 1) ** M_EXP
    length = np.hypot(*e)
    slip, along = 0.0, np.zeros(2)
    if length > 0.0:
        along = e / length
        ratio = STIFFNESS * length / (mu * LOAD)
        approach = -R_RATE * np.log(ratio) if log else R_RATE * (1 - ratio) / ratio
        excess = STIFFNESS * (along @ v) - ratio * healing * LOAD
        slip = max(0.0, excess / (STIFFNESS + approach * mu * LOAD - ratio * softening * LOAD))
    e_rate = v - slip * along
    hook = RADIUS * np.array([np.sin(TURN * t), 1 - np.cos(TURN * t)])
    pull = SPRING * (hook - x) - STIFFNESS * (e + CONTACT_TIME * e_rate)
    return np.concatenate([v, pull / MASS, e_rate, [healing - softening * slip]])


if __name__ == "__main__":
    times = [30.0, 60.0, 90.0, 120.0, 150.0]
    start = [0.0] * 6 + [MU_STATIC]
    tolerances = [1e-12] * 4 + [1e-14] * 3
    for log in (True, False):
        for method, rtol in (("DOP853", 1e-11), ("LSODA", 1e-9)):
            run = solve_ivp(rates, (0, 150), start, method, times, rtol=rtol, atol=tolerances, max_step=0.5, args=(log,))
            print("log" if log else "ratio", method)
            for t, y in zip(run.t, run.y.T):
                print(f"{t:.0f} " + " ".join(f"{value:.9f}" for value in (y[0], y[1], y[4], y[5], y[6])))
