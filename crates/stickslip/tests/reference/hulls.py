"""Hulls of points by scipy's Qhull: the reference of `hulls.csv`, written by `python3 hulls.py`.

Volume, centre and inertia about it (per unit of density) are sums of signed tetrahedra over Qhull's triangles, so no merged face is trusted. The
numbers of corners and faces are those of the planes of Qhull that differ. Rows: kind, volume, centre, xx yy zz xy xz yz, corners, faces, points.
"""

import numpy as np
from scipy.spatial import ConvexHull


def solid(points):
    hull = ConvexHull(points)
    middle = points.mean(axis=0)
    volume, first, second = 0.0, np.zeros(3), np.zeros((3, 3))
    for simplex in hull.simplices:
        a, b, c = points[simplex] - middle
        part = np.dot(a, np.cross(b, c)) / 6.0
        if np.dot(np.cross(b - a, c - a), a) < 0.0:
            part = -part
        s = a + b + c
        volume += part
        first += part * s / 4.0
        second += part / 20.0 * (sum(np.outer(p, p) for p in (a, b, c)) + np.outer(s, s))
    assert abs(volume - hull.volume) < 1e-12 * volume
    centre = first / volume
    about = second - volume * np.outer(centre, centre)
    inertia = np.eye(3) * np.trace(about) - about
    planes = []
    for plane in hull.equations:
        if not any(np.abs(plane - other).max() < 1e-9 for other in planes):
            planes.append(plane)
    # A corner lies in three planes whose normals span space.
    corners = 0
    for p in points[hull.vertices]:
        on = [plane[:3] for plane in planes if abs(plane[:3] @ p + plane[3]) < 1e-9]
        corners += len(on) >= 3 and np.linalg.matrix_rank(np.array(on), tol=1e-6) == 3
    return volume, centre + middle, inertia, corners, len(planes)


def ring(n, radius, height, turn=0.0):
    angle = 2.0 * np.pi * np.arange(n) / n + turn
    return np.stack([radius * np.cos(angle), radius * np.sin(angle), np.full(n, height)], axis=1)


def chamfered(rng):
    edges = rng.uniform(0.2, 1.0, 3)
    cut = rng.uniform(0.05, 0.4) * edges.min()
    points = []
    for axis in range(3):
        for sign in np.ndindex(2, 2, 2):
            corner = (2.0 * np.array(sign) - 1.0) * edges / 2.0
            corner[axis] -= np.sign(corner[axis]) * cut
            points.append(corner)
    return np.array(points)


def turned(rng):
    q, r = np.linalg.qr(rng.normal(size=(3, 3)))
    q = q * np.sign(np.diag(r))
    return q if np.linalg.det(q) > 0.0 else -q


def main():
    rng = np.random.default_rng(20261119)
    rows = []

    def add(kind, points, move=True):
        points = points[rng.permutation(len(points))]
        if move:
            points = points @ turned(rng).T + rng.uniform(-1.0, 1.0, 3)
        volume, centre, inertia, corners, faces = solid(points)
        i = inertia
        numbers = [volume, *centre, i[0, 0], i[1, 1], i[2, 2], i[0, 1], i[0, 2], i[1, 2]]
        rows.append([kind, *map(repr, map(float, numbers)), str(corners), str(faces), *map(repr, map(float, points.ravel()))])

    for n in (3, 5, 6, 9, 14, 20):
        r, s, h = rng.uniform(0.05, 0.5, 3)
        add("frustum", np.concatenate([ring(n, r, -h), ring(n, s, h)]))
        add("prism", np.concatenate([ring(n, r, -h), ring(n, r, h)]), move=n % 2 == 0)
        add("antiprism", np.concatenate([ring(n, r, -h), ring(n, s, h, 0.2)]))
    for k in range(8):
        add("chamfered", chamfered(rng), move=k % 2 == 0)
        add("lattice", np.round(rng.uniform(-1.0, 1.0, (35, 3)) * 3.0) / 4.0, move=k % 2 == 0)
        add("random", rng.normal(size=(30, 3)))
    with open("hulls.csv", "w") as out:
        for row in rows:
            out.write(",".join(row) + "\n")


main()
