"""Elliptic friction of maximal dissipation, integrated by an explicit method of order 8 (scipy, DOP853, rtol 1e-12).

f = -N (a^2 v1, b^2 v2)/sqrt(a^2 v1^2 + b^2 v2^2), v1 along a direction, v2 across it (Goyal, Ruina and Papadopoulos 1991). Prints what
tests/elliptic.rs expects.
"""

import numpy as np
from scipy.integrate import solve_ivp


def run(rates, end, start):
    out = solve_ivp(rates, (0, end), start, method="DOP853", rtol=1e-12, atol=1e-14)
    assert out.success
    return out.y[:, -1]


def friction(v, along, normal, a, b):
    across = np.array([-along[1], along[0]])
    v1, v2 = along @ v, across @ v
    speed = np.hypot(a * v1, b * v2)
    return -normal * (a * a * v1 * along + b * b * v2 * across) / speed


def angle(degrees):
    return np.array([np.cos(np.radians(degrees)), np.sin(np.radians(degrees))])


def pushed():
    """A puck of 2 kg under 19 N that a force of (1.5, 0.6) N pushes, direction at 25 degrees, coefficients 0.15 and 0.35."""
    force, along = np.array([1.5, 0.6]), angle(25)

    def rates(t, y):
        return np.concatenate([y[2:], (force + friction(y[2:], along, 19.0, 0.15, 0.35)) / 2.0])

    return run(rates, 0.5, [0, 0, 1.2, -0.9])


def skate():
    """A point of 0.5 kg under 4 N whose direction turns by 1.5 rad/s from 10 degrees on; coefficients 0.05 and 0.3."""

    def rates(t, y):
        along = angle(10 + np.degrees(1.5 * t))
        return np.concatenate([y[2:], friction(y[2:], along, 4.0, 0.05, 0.3) / 0.5])

    return run(rates, 1.0, [0, 0, 1.8, 0.4])


def turntable():
    """The same point on a table that turns by 0.8 rad/s, with the direction on the table."""

    def rates(t, y):
        x, v = y[:2], y[2:]
        along = angle(10 + np.degrees(0.8 * t))
        slip = v - 0.8 * np.array([-x[1], x[0]])
        return np.concatenate([v, friction(slip, along, 4.0, 0.05, 0.3) / 0.5])

    return run(rates, 0.6, [0.3, 0.1, 1.8, 0.4])


def bristle():
    """LuGre's model: bristle z in scaled velocities, 1 kg under 10 N, direction at -35 degrees, coefficients 0.3 and 0.2."""
    e = angle(-35)
    scale = np.outer(e, e) + (0.2 / 0.3) * (np.eye(2) - np.outer(e, e))
    stiff, damp = 2e3, 30.0

    def rates(t, y):
        v, z = y[2:4], y[4:]
        seen = scale @ v
        z_rate = seen - np.hypot(*seen) * stiff / 3.0 * z
        push = np.array([4 * np.sin(3 * t), 3 * np.cos(5 * t)])
        return np.concatenate([v, push - scale @ (stiff * z + damp * z_rate), z_rate])

    return run(rates, 1.5, np.zeros(6))


for name, case in [("pushed", pushed), ("skate", skate), ("turntable", turntable), ("bristle", bristle)]:
    print(name, *(f"{value:.12g}" for value in case()))
