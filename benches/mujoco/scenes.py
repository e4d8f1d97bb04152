"""The scenes of `cargo xtask bench scenes` in MuJoCo: one line for each, with its name, the nanoseconds of CPU time per step and what came out.

Needs the package `mujoco`. MuJoCo's contacts are soft: what should rest creeps, and that is the number behind the cost. The first argument says how
often each scene is run; the least time counts. Further arguments choose scenes.
"""

import math
import sys
import time

import mujoco

STEPS = 2000
HEAD = '<mujoco><option timestep="{step}" cone="elliptic"/><worldbody>'
FLOOR = '<geom type="plane" size="500 500 1" friction="{mu} 0 0"/>'


def row(count):
    """Blocks that rub on the ground and on their neighbours, each pushed to and fro."""
    text = HEAD.format(step=0.001)
    for i in range(count):
        text += (
            f'<body pos="{0.3 * i} 0 0"><joint name="j{i}" type="slide" axis="0 1 0" frictionloss="1"/>'
            '<geom type="sphere" size="0.1" mass="1" contype="0" conaffinity="0"/></body>'
        )
    text += "</worldbody><tendon>"
    for i in range(1, count):
        text += f'<fixed frictionloss="0.8"><joint joint="j{i - 1}" coef="1"/><joint joint="j{i}" coef="-1"/></fixed>'
    return text + "</tendon></mujoco>"


def push_row(data):
    for i in range(len(data.qfrc_applied)):
        data.qfrc_applied[i] = 3 * math.sin((5 + i % 7) * data.time)


def spheres(count):
    """Spheres that touch in a line on a plane."""
    text = HEAD.format(step=0.001) + FLOOR.format(mu=0.3)
    for i in range(count):
        text += (
            f'<body pos="{0.2 * i} 0 0.1"><freejoint/><geom type="sphere" size="0.1" mass="1" friction="0.3 0 0"/></body>'
        )
    return text + "</worldbody></mujoco>"


def boxes(count):
    """Boxes that slide on a plane, apart from each other."""
    text = HEAD.format(step=0.001) + FLOOR.format(mu=0.3)
    for i in range(count):
        text += (
            f'<body pos="{0.5 * i} 0 0.05"><freejoint/>'
            '<geom type="box" size="0.1 0.1 0.05" mass="1" friction="0.3 0 0"/></body>'
        )
    return text + "</worldbody></mujoco>"


def stack(count):
    """Boxes on each other."""
    text = HEAD.format(step=0.001) + FLOOR.format(mu=0.5)
    for i in range(count):
        text += (
            f'<body pos="0 0 {0.05 + 0.1 * i}"><freejoint/>'
            '<geom type="box" size="0.1 0.1 0.05" mass="1" friction="0.5 0 0"/></body>'
        )
    return text + "</worldbody></mujoco>"


def gripper(_):
    """A box between two fingers that press with 20 N and are kept in the middle by a spring."""
    finger = (
        '<body pos="{x} 0 0" gravcomp="1"><joint name="{name}" type="slide" axis="1 0 0"/>'
        '<geom type="box" size="0.02 0.1 0.1" mass="0.1" friction="0.5 0 0"/></body>'
    )
    return (
        HEAD.format(step=0.001)
        + finger.format(x=-0.07, name="left")
        + finger.format(x=0.07, name="right")
        + '<body><freejoint/><geom type="box" size="0.05 0.05 0.05" mass="1" friction="0.5 0 0"/></body></worldbody>'
        '<tendon><fixed name="centre" stiffness="1e4" damping="50"><joint joint="left" coef="1"/><joint joint="right" coef="1"/>'
        "</fixed></tendon></mujoco>"
    )


def squeeze(data):
    data.qfrc_applied[0], data.qfrc_applied[1] = 20, -20


def arm(joints):
    """An arm whose hinges rub."""
    text = '<mujoco><option timestep="0.001"><flag contact="disable"/></option><worldbody>'
    for i in range(joints):
        text += (
            f'<body pos="0 0 {0.2 if i else 0}"><joint type="hinge" axis="{["0 0 1", "0 1 0"][i % 2]}" frictionloss="2"/>'
            '<inertial pos="0.02 0 0.1" mass="1" diaginertia="0.01 0.01 0.005"/>'
        )
    return text + "</body>" * joints + "</worldbody></mujoco>"


def dominoes(count):
    """Dominoes of which the first is pushed over."""
    text = HEAD.format(step=0.0005) + FLOOR.format(mu=0.5)
    for i in range(count):
        text += (
            f'<body pos="{0.02 * i} 0 0.024"><freejoint/>'
            '<geom type="box" size="0.004 0.012 0.024" mass="0.01" friction="0.2 0 0"/></body>'
        )
    return text + "</worldbody></mujoco>"


def kick(data):
    data.qvel[0] = 1


def slide(data):
    for body in range(len(data.qvel) // 6):
        data.qvel[6 * body : 6 * body + 6] = [1, 0.2, 0, 0, 0, 1]


def bend(data):
    data.qpos[:], data.qvel[:] = 0.3, 0.5


def tip(data):
    data.qvel[0], data.qvel[4] = 0.144, 6


def height(data, body):
    return float(data.xpos[body][2])


# Name: text, number, what happens at the start, forces, steps, what came out.
SCENES = {
    "row-300": (row, 300, None, push_row, 500, lambda d: [float(d.qpos[0])]),
    "spheres-40": (spheres, 40, kick, None, STEPS, lambda d: [float(d.qpos[0])]),
    "spheres-200": (spheres, 200, kick, None, 500, lambda d: [float(d.qpos[0])]),
    "boxes-16": (boxes, 16, slide, None, STEPS, lambda d: [float(d.qpos[0])]),
    "gripper": (gripper, 1, None, squeeze, STEPS, lambda d: [height(d, 3)]),
    "stack-10": (stack, 10, None, None, STEPS, lambda d: [height(d, 10) - 0.95]),
    "arm-7": (arm, 7, bend, None, STEPS, lambda d: [float(d.qpos[0])]),
    "arm-30": (arm, 30, bend, None, STEPS, lambda d: [float(d.qpos[0])]),
    "dominoes": (dominoes, 5, tip, None, 4000, lambda d: [float(d.qpos[0])]),
}


def run(name):
    text, number, start, force, steps, outcome = SCENES[name]
    model = mujoco.MjModel.from_xml_string(text(number))
    data = mujoco.MjData(model)
    if start:
        start(data)
    spent, done = 0, 0
    # Forces change slowly: ten steps at a time.
    while done < steps:
        count = min(10 if force else 500, steps - done)
        if force:
            force(data)
        begin = time.process_time_ns()
        mujoco.mj_step(model, data, nstep=count)
        spent += time.process_time_ns() - begin
        done += count
    return spent / steps, outcome(data)


def main():
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    for name in sys.argv[2:] or SCENES:
        results = [run(name) for _ in range(runs)]
        print(name, min(ns for ns, _ in results), *results[0][1])


if __name__ == "__main__":
    main()
