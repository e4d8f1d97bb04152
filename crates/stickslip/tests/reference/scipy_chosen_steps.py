"""Reference values for `adaptive` and `stiff`: three systems written out as plain equations and integrated by SciPy.

    python scipy_chosen_steps.py > scipy_chosen_steps.csv       (SciPy 1.17, NumPy 2.4)

Each is integrated by two methods of different kinds; the largest difference between them is printed with the values.
"""
import numpy as np
from scipy.integrate import solve_ivp


def integrate(rate, start, breaks, times, method, step):
    """States at `times`, with a restart at every break of the right-hand side's input."""
    found = []
    state = np.array(start, float)
    ends = sorted(set(breaks) | set(times))
    now = 0.0
    for end in ends:
        run = solve_ivp(rate, (now, end), state, method=method, rtol=3e-13, atol=1e-17, max_step=step)
        assert run.success, run.message
        state, now = run.y[:, -1], end
        if end in times:
            found.append(state.copy())
    return np.array(found)


def pulled_block(t, y):
    """1 kg behind a spring of 90 N/m whose end moves at 0.2 m/s; friction of seed 001, eq 9, K = 1e6 N/m, beta = 1e-4 s,
    limit 10 + 5 exp(-(v/0.1)^2) N, viscous 1 N s/m."""
    p, v, a = y
    limit = 10 + 5 * np.exp(-(v / 0.1) ** 2)
    f = np.clip(1e6 * (a + 1e-4 * v), -limit, limit)
    return [v, 90 * (0.2 * t - p) - f - v, (f / 1e6 - a) / 1e-4]


def ball(t, y):
    """0.5 kg falling on a spring of 1e4 N/m and a damper of 20 N s/m, which act while the height is below 0."""
    z, v = y
    return [v, -9.8 + (-(1e4 * z + 20 * v) / 0.5 if z < 0 else 0.0)]


def bounces(times):
    """The ball, with every touch and release found as an event, so that no step crosses one."""
    def edge(t, y):
        return y[0]
    edge.terminal = True
    flight = lambda t, y: [y[1], -9.8]
    touch = lambda t, y: [y[1], -9.8 - (1e4 * y[0] + 20 * y[1]) / 0.5]
    state, now, found, down = np.array([0.1, 0.0]), 0.0, [], False
    for end in times:
        while now < end:
            edge.direction = 1 if down else -1
            run = solve_ivp(touch if down else flight, (now, end), state, method="DOP853", rtol=3e-13, atol=1e-16,
                            events=edge, max_step=1e-3)
            state, now = run.y[:, -1], run.t[-1]
            if run.status == 1:
                down = not down
                state[0] = 0.0
        found.append(state.copy())
    return np.array(found)


def robertson(t, y):
    """Robertson's chemical reaction: rates from 0.04 to 3e7."""
    a, b, c = y
    return [-0.04 * a + 1e4 * b * c, 0.04 * a - 1e4 * b * c - 3e7 * b * b, 3e7 * b * b]


def show(name, times, values, check, columns):
    apart = np.abs(values - check).max()
    for t, row in zip(times, values):
        for column, value in zip(columns, row):
            print(f"{name},{t},{column},{value!r},{apart:.1e}".replace("np.float64(", "").replace(")", ""))


print("network,t,column,value,difference between methods")
times = [0.5, 1.0, 2.0, 3.0]
first = integrate(pulled_block, [0, 0, 0], [], times, "Radau", 1e-3)
second = integrate(pulled_block, [0, 0, 0], [], times, "DOP853", 1e-3)
show("pulled block", times, first, second, ["block.position", "block.velocity", "floor.a"])
times = [0.16, 0.3, 0.5]
show("ball", times, bounces(times), integrate(ball, [0.1, 0], [], times, "RK45", 2e-6), ["z", "vz"])
times = [0.4, 40.0, 400.0]
first = integrate(robertson, [1, 0, 0], [], times, "Radau", np.inf)
second = integrate(robertson, [1, 0, 0], [], times, "BDF", np.inf)
show("robertson", times, first, second, ["a", "b", "c"])
