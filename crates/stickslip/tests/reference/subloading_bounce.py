"""A ball thrown onto a floor with a damper and subloading friction (SI units): what it does until 0.3 s.

Rate form (seed 003, eqs 16-25) by explicit methods (scipy 1.17). The law needs to know how fast the normal force changes. `elastic` knows
what depth and speed tell; a stretch beyond the limit then goes back over a slip of 1/r. `whole` knows also what the damper does with the
acceleration: the difference of both is what the first leaves out. No R is beyond its flow from 0 with the slip since the ball met the floor.
"""

import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import brentq
from scipy.special import exp1

MASS, RADIUS, GRAVITY, FLOOR, DAMPER = 0.3, 0.2, 9.8, 1e5, 20.0
MU_STATIC, MU_KINETIC, STIFFNESS, KAPPA, ETA, R_RATE = 0.5, 0.3, 2e5, 400.0, 0.5, 1e4


def flow(travel):
    """R where E1(-ln R) = travel."""
    if travel < 1e-30:
        return 0.0
    return 1.0 if travel > 40 else np.exp(-np.exp(brentq(lambda x: np.log(exp1(np.exp(x)) / travel), -90, 5, xtol=1e-15)))


def rates(_, y, whole):
    _, height, speed, rise, spin, stretch, mu, slipped = y
    depth = RADIUS - height
    # The damper may pull; friction then has no load.
    normal = FLOOR * depth - DAMPER * rise if depth > 0 else 0.0
    load, lift = max(0.0, normal), normal / MASS - GRAVITY
    load_rate = -FLOOR * rise - (DAMPER * lift if whole else 0.0)
    slide = speed - RADIUS * spin
    healing, softening = ETA * (1 - mu / MU_STATIC), KAPPA * (mu / MU_KINETIC - 1)
    most = flow(R_RATE * slipped)
    slip, force, along, beyond = 0.0, 0.0, np.sign(stretch), max(0.0, abs(stretch) - most * mu * load / STIFFNESS)
    if load > 0:
        ratio = min(most, STIFFNESS * abs(stretch) / (mu * load))
        if ratio > 0:
            pushed = STIFFNESS * along * slide - ratio * (healing * load + mu * load_rate)
            resisting = STIFFNESS - (R_RATE * np.log(ratio) * mu + ratio * softening) * load
            slip = max(0.0, pushed / resisting) + beyond * R_RATE * abs(slide)
        force = along * min(STIFFNESS * abs(stretch), most * mu * load)
    stretched = slide - along * slip if load > 0 else -along * beyond * R_RATE * abs(slide)
    turn = force * RADIUS / (0.4 * MASS * RADIUS**2)
    passed = max(abs(slide), slip) if load > 0 else -slipped * R_RATE * abs(slide)
    return [speed, rise, -force / MASS, lift, turn, stretched, healing - softening * slip, passed]


if __name__ == "__main__":
    start = [0.0, 0.25, 2.0, 0.0, 0.0, 0.0, MU_STATIC, 0.0]
    for whole in (False, True):
        for method, rtol in (("DOP853", 1e-11), ("RK45", 1e-9)):
            run = solve_ivp(rates, (0, 0.3), start, method, rtol=rtol, atol=1e-14, max_step=1e-3, args=(whole,))
            x, height, speed, rise, spin, _, mu, _ = run.y[:, -1]
            print("whole" if whole else "elastic", method, f"{x:.7f} {height:.7f} {speed:.7f} {rise:.7f} {spin:.7f} {mu:.7f}")
