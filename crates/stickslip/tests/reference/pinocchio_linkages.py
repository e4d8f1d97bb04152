"""Writes pinocchio_linkages.csv: random linkages and what Pinocchio (pip install pin) computes for them.

Rows of a case: `case` (name, floating, number of links), `gravity`, one `link` a link (parent or -1, 0 revolute or
1 prismatic, axis, origin, rotation w x y z, mass, com, inertia row by row), `q`, `v`, `tau`, then the results `acceleration`,
`mass` (row by row), `bias`, `point` (position of the point (0.1, 0.2, 0.3) of the last link), `kinetic`, `potential`.

A floating root is written in our convention: quaternion (w, x, y, z), velocities and forces of the root in world axes at its
origin; Pinocchio keeps them in the axes of the root, hence the conversions.
"""
import numpy as np
import pinocchio as pin

random = np.random.default_rng(20040)


def row(name, values):
    return name + "," + ",".join(v if isinstance(v, str) else f"{v:.17g}" for v in values) + "\n"


def random_link(i, floating, branching):
    parent = i - 1 if not branching else int(random.integers(-1, i))
    if floating and i > 0:
        parent = max(parent, 0)
    quaternion = random.normal(size=4)
    root = random.normal(size=(3, 3)) * 0.3
    axis = random.normal(size=3)
    return {
        "parent": parent if i > 0 else -1,
        "prismatic": int(random.random() < 0.4),
        "axis": axis / np.linalg.norm(axis),
        "origin": random.uniform(-0.5, 0.5, 3),
        "rotation": quaternion / np.linalg.norm(quaternion),
        "mass": random.uniform(0.3, 3.0),
        "com": random.uniform(-0.3, 0.3, 3),
        "inertia": root @ root.T + 0.02 * np.eye(3),
    }


def depth_first(links, parent=-1):
    for i, link in enumerate(links):
        if link["parent"] == parent:
            yield i
            yield from depth_first(links, i)


def build(links, floating, gravity):
    model = pin.Model()
    model.gravity = pin.Motion(gravity, np.zeros(3))
    joints = {}
    # Pinocchio wants depth-first numbers: its mass matrix takes the joints of a subtree for neighbours
    for i in depth_first(links):
        link = links[i]
        w, x, y, z = link["rotation"]
        placement = pin.SE3(pin.Quaternion(w, x, y, z).toRotationMatrix(), link["origin"])
        if floating and i == 0:
            joint, placement = pin.JointModelFreeFlyer(), pin.SE3.Identity()
        elif link["prismatic"]:
            joint = pin.JointModelPrismaticUnaligned(*link["axis"])
        else:
            joint = pin.JointModelRevoluteUnaligned(*link["axis"])
        parent = 0 if link["parent"] < 0 else joints[link["parent"]]
        joints[i] = model.addJoint(parent, joint, placement, f"j{i}")
        model.appendBodyToJoint(joints[i], pin.Inertia(link["mass"], link["com"], link["inertia"]), pin.SE3.Identity())
    return model, [joints[i] for i in range(len(links))]


def case(name, count, floating, branching):
    links = [random_link(i, floating, branching) for i in range(count)]
    kinds = [link["prismatic"] for link in links[1:]]
    links[-1]["prismatic"], links[-2]["prismatic"] = (1, 0) if len(set(kinds)) < 2 else kinds[-1:] + kinds[-2:-1]
    gravity = np.array([0.4, -0.8, -9.81])
    model, joints = build(links, floating, gravity)
    data = model.createData()
    index_q = [model.joints[j].idx_q for j in joints]
    index_v = [model.joints[j].idx_v for j in joints]
    first = 1 if floating else 0
    position, velocity, force = (random.normal(size=count) for _ in range(3))
    q, v, tau = np.zeros(model.nq), np.zeros(model.nv), np.zeros(model.nv)
    for i in range(first, count):
        q[index_q[i]], v[index_v[i]], tau[index_v[i]] = position[i], velocity[i], force[i]
    order = [index_v[i] for i in range(first, count)]
    ours_q, ours_v, ours_tau = list(position[first:]), list(velocity[first:]), list(force[first:])
    change = np.eye(model.nv)  # our velocities = change @ Pinocchio's
    extra = np.zeros(model.nv)  # and our accelerations = change @ Pinocchio's + extra
    if floating:
        order = list(range(6)) + order
        place, quaternion = random.normal(size=3), random.normal(size=4)
        quaternion /= np.linalg.norm(quaternion)
        w, x, y, z = quaternion
        turn = pin.Quaternion(w, x, y, z).toRotationMatrix()
        change[:3, :3] = change[3:6, 3:6] = turn
        motion, load = random.normal(size=6), random.normal(size=6)
        q[:7] = [*place, x, y, z, w]
        v[:6], tau[:6] = change[:6, :6].T @ motion, change[:6, :6].T @ load
        extra[:3] = turn @ np.cross(v[3:6], v[:3])
        ours_q = [*place, w, x, y, z, *ours_q]
        ours_v, ours_tau = [*motion, *ours_v], [*load, *ours_tau]
    acceleration = change @ pin.aba(model, data, q, v, tau) + extra
    mass = pin.crba(model, data, q)
    mass = np.triu(mass) + np.triu(mass, 1).T
    # H_pin a_pin + b_pin = tau_pin with a_pin = changeᵀ(a − extra) and tau = change tau_pin
    bias = change @ (pin.nonLinearEffects(model, data, q, v) - mass @ change.T @ extra)
    mass = change @ mass @ change.T
    pin.forwardKinematics(model, data, q, v)
    point = data.oMi[joints[-1]].act(np.array([0.1, 0.2, 0.3]))
    kinetic = pin.computeKineticEnergy(model, data, q, v)
    potential = pin.computePotentialEnergy(model, data, q)
    out = row("case", [name, str(int(floating)), str(count)]) + row("gravity", gravity)
    for link in links:
        numbers = [*link["axis"], *link["origin"], *link["rotation"], link["mass"], *link["com"], *link["inertia"].flatten()]
        out += row("link", [str(link["parent"]), str(link["prismatic"]), *numbers])
    out += row("q", ours_q) + row("v", ours_v) + row("tau", ours_tau)
    out += row("acceleration", acceleration[order]) + row("mass", mass[np.ix_(order, order)].flatten())
    out += row("bias", bias[order]) + row("point", point) + row("kinetic", [kinetic]) + row("potential", [potential])
    return out


with open("pinocchio_linkages.csv", "w") as file:
    file.write(f"# written by pinocchio_linkages.py with Pinocchio {pin.__version__}\n")
    file.write(case("chain", 5, False, False))
    file.write(case("tree", 7, False, True))
    file.write(case("bush", 9, False, True))
    file.write(case("floating chain", 4, True, False))
    file.write(case("floating tree", 8, True, True))
