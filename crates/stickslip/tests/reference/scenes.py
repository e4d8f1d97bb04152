#!/usr/bin/env python3
"""Writes the scenes of `scenarios/` that are too many numbers to write by hand: card-house.toml, bowl.stl.

    python3 crates/stickslip/tests/reference/scenes.py

Needs nothing but Python. Running it again gives the same bytes.
"""

import math
import struct
from pathlib import Path

SCENARIOS = Path(__file__).resolve().parents[4] / "scenarios"


def card_house():
    """Two pairs of cards that lean on each other, one card across, one pair on top. Cards lean by 20 degrees and begin where they touch."""
    length, width, thick, lean = 0.09, 0.06, 0.002, math.radians(20)
    head = """# A card house: two pairs of cards that lean on each other, a card across them, a pair on top. Written by crates/stickslip/tests/reference/scenes.py.
# Friction holds it: a free pair needs a coefficient of tan(20°)/2 − thickness/(2·length) = 0.171 at its feet. At rest nothing moves.
title = "A card house stands"

[simulation]
duration = "2 s"
step = "1 ms"
integrator = "implicit-euler"
gravity = [0, 0, -9.81]

[contacts]
between = "all"
friction = { law = "implicit", mu = 0.5 }

[bodies.table]
kind = "fixed"
shape = { box = [1, 1, 0.1] }
position = [0, 0, -0.05]
"""
    # A card stands on its outer lower edge and leans inwards: the corner of its upper edge that is farthest in touches its partner.
    half, flat = 0.5 * length, 0.5 * thick
    up, over = math.cos(lean), math.sin(lean)
    bodies = []

    def card(name, x, z, angle):
        turn = [math.cos(0.5 * angle), 0.0, math.sin(0.5 * angle), 0.0]
        bodies.append(
            f"""
[bodies.{name}]
kind = "rigid-body"
mass = "2 g"
shape = {{ box = [{thick}, {width}, {length}] }}
position = [{x!r}, 0, {z!r}]
rotation = {turn!r}
"""
        )

    def pair(name, middle, floor):
        # Heights of the lowest corner below the middle of a card, and how far in its inner upper corner is.
        low = half * up + flat * over
        reach = half * over + flat * up
        card(f"{name}_left", middle - reach, floor + low, lean)
        card(f"{name}_right", middle + reach, floor + low, -lean)

    # The outer upper corner is the highest.
    top = 2 * (half * up + flat * over)
    pair("west", -0.04, 0.0)
    pair("east", 0.04, 0.0)
    bodies.append(
        f"""
[bodies.across]
kind = "rigid-body"
mass = "3 g"
shape = {{ box = [0.16, {width}, {thick}] }}
position = [0, 0, {top + flat!r}]
"""
    )
    pair("top", 0.0, top + thick)
    (SCENARIOS / "card-house.toml").write_text(head + "".join(bodies))


def bowl():
    """A hollow of radius 0.3 m in a block of revolution with 24 sides, as a binary STL file."""
    segments = 24
    profile = [(0.0, 0.0)]
    profile += [(0.3 * math.sin(0.15 * k), 0.3 * (1 - math.cos(0.15 * k))) for k in range(1, 7)]
    rim = profile[-1]
    profile += [(rim[0] + 0.02, rim[1]), (rim[0] + 0.02, -0.02), (0.0, -0.02)]

    def at(point, k):
        angle = 2 * math.pi * (k % segments) / segments
        return (point[0] * math.cos(angle), point[0] * math.sin(angle), point[1])

    triangles = []
    for one, other in zip(profile, profile[1:]):
        for k in range(segments):
            a, b, c, d = at(one, k), at(other, k), at(other, k + 1), at(one, k + 1)
            # Normals outwards: up in the hollow, down below.
            if other[0] > 0:
                triangles.append((a, b, c))
            if one[0] > 0:
                triangles.append((a, c, d) if other[0] > 0 else (a, b, d))
    data = b"A bowl".ljust(80, b" ") + struct.pack("<I", len(triangles))
    for triangle in triangles:
        data += struct.pack("<12fH", 0, 0, 0, *(x for corner in triangle for x in corner), 0)
    (SCENARIOS / "bowl.stl").write_bytes(data)


card_house()
bowl()
