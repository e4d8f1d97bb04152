"""Random grasps and the largest load that each can hold, by Clarabel, a convex solver that shares nothing with ours.

    pip install numpy scipy clarabel
    python grasps.py > grasps.csv

A box is held by two to four fingers on slides, each pushing on a face of its own with a given force: plates that touch the four corners of the
face, or round tips that touch one point of it. A load (a force at the centre and a torque) is scaled by s. The largest s for which forces within
the friction cones balance box and fingers is

    max s   with   sum f + s F = 0,   sum r x f + s M = 0,   sum n.f = push of each finger,   |f - (n.f) n| <= mu n.f.

Each row: plates (1) or tips (0); sides of the box; its mass; its rotation (w, x, y, z); force and torque of the load for s = 1, world axes; for each of
four fingers: face (0 to 5 for -x, +x, -y, +y, -z, +z; -1: no finger), the two coordinates of the tip on the face, push, mu, mass; the largest s.
"""
import sys

import clarabel
import numpy as np
from scipy import sparse

COUNT = 1000


def rotation(q):
    w, x, y, z = q / np.linalg.norm(q)
    return np.array([
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ])


def points(plates, half, face, u, v):
    """Points of contact in the axes of the box, and the inward normal."""
    axis, sign = face // 2, 1.0 if face % 2 else -1.0
    one, other = (axis + 1) % 3, (axis + 2) % 3
    normal = np.zeros(3)
    normal[axis] = -sign
    found = []
    for a, b in [(-1, -1), (-1, 1), (1, -1), (1, 1)] if plates else [(u, v)]:
        point = np.zeros(3)
        point[axis], point[one], point[other] = sign * half[axis], a * half[one], b * half[other]
        found.append(point)
    return found, normal


def largest_load(plates, half, turn, force, torque, fingers, part=1.0):
    """max s, or None where no forces balance the fingers alone. Cones are those of `part` of the coefficients."""
    columns, cones, pushes = [], [], []
    for number, (face, u, v, push, mu, _) in enumerate(fingers):
        spots, normal = points(plates, half, face, u, v)
        normal = turn @ normal
        pushes.append(push)
        for spot in spots:
            arm = turn @ spot
            block = np.zeros((6 + len(fingers), 3))
            block[:3] = np.eye(3)
            block[3:6] = [[0, -arm[2], arm[1]], [arm[2], 0, -arm[0]], [-arm[1], arm[0], 0]]
            block[6 + number] = normal
            columns.append(block)
            # mu n.f and the tangential part are a vector of the second-order cone.
            across = np.linalg.svd(normal.reshape(1, 3))[2][1:]
            cones.append(np.vstack([part * mu * normal, across]))
    variables = 3 * len(columns) + 1
    balance = np.zeros((6 + len(fingers), variables))
    balance[:, :-1] = np.hstack(columns)
    balance[:3, -1], balance[3:6, -1] = force, torque
    right = np.concatenate([np.zeros(6), pushes])
    rows = [balance]
    for k, cone in enumerate(cones):
        row = np.zeros((3, variables))
        row[:, 3 * k:3 * k + 3] = -cone
        rows.append(row)
    positive = np.zeros((1, variables))
    positive[0, -1] = -1.0
    rows.append(positive)
    a = sparse.csc_matrix(np.vstack(rows))
    b = np.concatenate([right, np.zeros(3 * len(cones) + 1)])
    kinds = [clarabel.ZeroConeT(len(right))] + [clarabel.SecondOrderConeT(3) for _ in cones] + [clarabel.NonnegativeConeT(1)]
    cost = np.zeros(variables)
    cost[-1] = -1.0
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-11
    empty = sparse.csc_matrix((variables, variables))
    found = clarabel.DefaultSolver(empty, cost, a, b, kinds, settings).solve()
    if str(found.status) not in ("Solved", "AlmostSolved"):
        return None
    return found.x[-1]


def main():
    chance = np.random.default_rng(7)

    def number(low, high):
        return float(f"{chance.uniform(low, high):.4g}")

    def direction(size):
        vector = chance.normal(size=3)
        return np.array([float(f"{x:.4g}") for x in size * vector / np.linalg.norm(vector)])

    done = 0
    while done < COUNT:
        plates = bool(chance.integers(2))
        sides = np.array([number(0.03, 0.3) for _ in range(3)])
        half = 0.5 * sides
        mass = float(f"{10 ** chance.uniform(-1.5, 1.5):.4g}")
        q = np.array([float(f"{x:.4g}") for x in chance.normal(size=4)]) if chance.integers(2) else np.array([1.0, 0, 0, 0])
        turn = rotation(q)
        count = int(chance.integers(2, 5))
        first, second = chance.permutation(3)[:2]
        faces = [2 * first, 2 * first + 1, 2 * second, 2 * second + 1][:count]
        pushes = [number(5, 60)] * 2 + [number(2, 40)] * 2
        if count == 3:
            pushes[2] = float(f"{0.3 * min(pushes[2], pushes[0]):.4g}")
        fingers = []
        for k, face in enumerate(faces):
            u, v = number(-0.6, 0.6), number(-0.6, 0.6)
            if not plates and k % 2 and count != 3:
                # Opposite tips on a line through the centre, or near it where others hold too.
                u, v = (fingers[-1][1], fingers[-1][2])
                u, v = (-u, -v) if count == 2 else (u, v)
            fingers.append((face, u, v, pushes[k], number(0.2, 1.0), float(f"{10 ** chance.uniform(-2, 0):.4g}")))
        force = direction(mass * 9.81)
        arm = float(np.mean(half)) * number(0, 0.5)
        torque = np.zeros(3) if count == 2 and not plates else direction(max(arm, 1e-3) * mass * 9.81)
        if largest_load(plates, half, turn, force, torque, fingers, 0.7) is None:
            continue
        load = largest_load(plates, half, turn, force, torque, fingers)
        if load is None or not 1e-3 < load < 1e3:
            continue
        row = [int(plates), *sides, mass, *q, *force, *torque]
        for k in range(4):
            row += list(fingers[k]) if k < count else [-1, 0, 0, 0, 0, 0]
        print(",".join(f"{x:g}" if isinstance(x, int) else repr(float(x)).removesuffix(".0") for x in row) + f",{load:.12g}")
        done += 1


main()
