"""Slip events of a short chain by plain loops: the reference of `slip_events.csv`, written by `python3 slip_events.py`.

Nothing is shared with the engine: friction is a piecewise linear curve whose intersections with the line of the step are
found segment by segment, and events are found after the run, as connected sets of (step, block). Standard library only.
"""

N, T, STEPS = 24, 0.01, 8270
K, PULL, SPEED = 100.0, 1.0, 0.02
V = [0.0, 0.05, 0.2, 0.8, 3.2]
F = [1.0, 0.8, 0.5, 0.2, 0.06]


def friction(free):
    """Velocity after a step: 0 if the friction at rest can stop the block, else the fastest s with s + T*g(s) = |free|."""
    speed, sign = abs(free), (1.0 if free > 0 else -1.0)
    if speed <= T * F[0]:
        return 0.0
    s = speed - T * F[-1]
    if s >= V[-1]:
        return sign * s
    for i in range(len(V) - 2, -1, -1):
        slope = (F[i + 1] - F[i]) / (V[i + 1] - V[i])
        # s + T*(F_i + slope*(s - V_i)) = speed
        s = (speed - T * (F[i] - slope * V[i])) / (1.0 + T * slope)
        if V[i] <= s <= V[i + 1]:
            return sign * s
    raise ValueError(free)


def main():
    x = [0.001 * abs(i - 7) - 0.002 * abs(i - 16) + 0.0005 * i for i in range(N)]
    v = [0.0] * N
    slip = {}
    for step in range(STEPS):
        plate = SPEED * T * step
        force = [PULL * (plate - x[i]) for i in range(N)]
        for i in range(N - 1):
            pull = K * (x[i + 1] - x[i])
            force[i] += pull
            force[i + 1] -= pull
        v = [friction(v[i] + T * force[i]) for i in range(N)]
        x = [x[i] + T * v[i] for i in range(N)]
        slip.update({(step, i): T * v[i] for i in range(N) if v[i] != 0.0})
    rows = []
    while slip:
        cells, reached = [], [next(iter(slip))]
        moment = 0.0
        while reached:
            step, block = cell = reached.pop()
            if cell not in slip:
                continue
            moment += slip.pop(cell)
            cells.append(cell)
            reached += [(step, block - 1), (step, block + 1)]
            reached += [(step + dt, block + di) for dt in (-1, 1) for di in (-1, 0, 1)]
        steps, blocks = [cell[0] for cell in cells], [cell[1] for cell in cells]
        if max(steps) < STEPS - 1:
            rows.append((min(steps), max(steps), min(blocks), max(blocks) - min(blocks) + 1, abs(moment)))
    rows.sort(key=lambda row: (row[1], row[2]))
    with open("slip_events.csv", "w", encoding="ascii") as file:
        file.write("began,last,first,blocks,moment\n")
        for row in rows:
            file.write(",".join(map(repr, row)) + "\n")
    print(len(rows), "events, largest", max(row[4] for row in rows))


if __name__ == "__main__":
    main()
