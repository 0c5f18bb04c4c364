#!/usr/bin/env python3
"""Writes articulated_truth.h: random trees and what MuJoCo computes for them.

Needs the Python packages mujoco and numpy. Run it by hand when a tree is to be added; the header is
kept with the tests, so that they need neither.

    python3 tests/motion/articulated_truth.py > tests/motion/articulated_truth.h
"""
import numpy as np
import mujoco

# Parent, joint type per link; a floating link 0 is a free base. Link 0 of a fixed tree is the world.
TREES = [
    ("chain", False, [(0, "hinge"), (1, "hinge"), (2, "slide"), (3, "hinge"), (4, "hinge")]),
    ("walker", True, [(0, "hinge"), (1, "hinge"), (0, "hinge"), (3, "slide"), (0, "ball"),
                      (5, "hinge"), (2, "ball"), (7, "slide")]),
    ("crowd", False, [(0, "free"), (1, "hinge"), (1, "ball"), (0, "free"), (4, "slide"),
                      (0, "ball")]),
    ("square", True, [(0, "hinge"), (1, "hinge"), (2, "hinge"), (1, "hinge"), (0, "slide"),
                      (5, "hinge")]),
]


def random_quaternion(rng):
    q = rng.normal(size=4)
    return q / np.linalg.norm(q)


def right_angle(rng):
    """One of the 24 rotations that map axes to axes."""
    while True:
        m = np.zeros((3, 3))
        m[range(3), rng.permutation(3)] = rng.choice([-1.0, 1.0], 3)
        if np.linalg.det(m) > 0:
            break
    q = np.zeros(4)
    mujoco.mju_mat2Quat(q, m.reshape(9))
    return q


def random_body(rng, square):
    axes = rng.normal(size=(3, 3))
    inertia = axes @ axes.T * 0.02
    inertia += np.eye(3) * np.trace(inertia)  # keeps the triangle inequality
    axis = rng.normal(size=3)
    if square:
        axis = np.eye(3)[rng.integers(3)] * rng.choice([-1.0, 1.0])
    place = rng.normal(size=3) * 0.3
    if square:
        place[rng.integers(3)] = 0.0
    return {
        "pos": place,
        "quat": right_angle(rng) if square else random_quaternion(rng),
        "axis": axis / np.linalg.norm(axis),
        "mass": rng.uniform(0.2, 2.0),
        "com": rng.normal(size=3) * 0.1,
        "inertia": [inertia[0, 0], inertia[1, 1], inertia[2, 2], inertia[0, 1], inertia[0, 2],
                    inertia[1, 2]],
        "armature": rng.uniform(0.0, 0.1),
    }


def text(values):
    return " ".join(repr(float(v)) for v in values)


def body_xml(bodies, links, index):
    b = bodies[index]
    kind = "free" if index == 0 else links[index - 1][1]
    xml = f'<body name="b{index}" pos="{text(b["pos"])}" quat="{text(b["quat"])}">'
    if kind == "free":
        xml += "<freejoint/>"
    elif kind == "ball":
        xml += f'<joint type="ball" armature="{b["armature"]!r}"/>'
    else:
        xml += f'<joint type="{kind}" axis="{text(b["axis"])}" armature="{b["armature"]!r}"/>'
    xml += (f'<inertial pos="{text(b["com"])}" mass="{b["mass"]!r}" '
            f'fullinertia="{text(b["inertia"])}"/>')
    for child, (parent, _) in enumerate(links, 1):
        if parent == index:
            xml += body_xml(bodies, links, child)
    return xml + "</body>"


def model_xml(bodies, links, free):
    inner = body_xml(bodies, links, 0) if free else "".join(
        body_xml(bodies, links, i) for i, (p, _) in enumerate(links, 1) if p == 0)
    return ('<mujoco><compiler angle="radian" inertiafromgeom="false" balanceinertia="false"/>'
            '<option gravity="0 0 -9.81"/><worldbody>' + inner + "</worldbody></mujoco>")


def array(values):
    return "{" + ", ".join(repr(float(v)) for v in np.ravel(values)) + "}"


def reorder(model, links, free):
    """MuJoCo numbers joints depth first, we by link: indices of our values in MuJoCo's vectors."""
    q, v = (list(range(7)), list(range(6))) if free else ([], [])
    for i in range(1, len(links) + 1):
        j = model.body(f"b{i}").jntadr[0]
        nq, nv = {0: (7, 6), 1: (4, 3), 2: (1, 1), 3: (1, 1)}[int(model.jnt_type[j])]
        q += range(model.jnt_qposadr[j], model.jnt_qposadr[j] + nq)
        v += range(model.jnt_dofadr[j], model.jnt_dofadr[j] + nv)
    return q, v


def emit_state(model, data, rng, q_map, v_map, last):
    data.qpos[:] = rng.normal(size=model.nq)
    for j in range(model.njnt):
        a = model.jnt_qposadr[j]
        if model.jnt_type[j] == 0:
            data.qpos[a + 3:a + 7] = random_quaternion(rng)
        elif model.jnt_type[j] == 1:
            data.qpos[a:a + 4] = random_quaternion(rng)
    data.qvel[:] = rng.normal(size=model.nv) * 2
    data.qfrc_applied[:] = rng.normal(size=model.nv) * 5
    mujoco.mj_forward(model, data)
    mass = np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(model, data, mass)
    pick = np.array(v_map, dtype=int)
    jacobian = np.zeros((6, model.nv))
    body = model.body(f"b{last}").id
    turn = data.xmat[body].reshape(3, 3)
    mujoco.mj_jac(model, data, jacobian[:3], jacobian[3:],
                  data.xpos[body] + turn @ np.array([0.1, -0.2, 0.3]), body)
    print("      {", end="")
    print(",\n       ".join([
        "." + name + " = " + array(values) for name, values in [
            ("position", data.qpos[q_map]), ("velocity", data.qvel[v_map]),
            ("force", data.qfrc_applied[v_map]), ("bias", data.qfrc_bias[v_map]),
            ("acceleration", data.qacc[v_map]), ("mass", mass[np.ix_(pick, pick)]),
            ("jacobian", jacobian[:, v_map]), ("point", data.xpos[body]), ("rotation", turn)]]), end="},\n")


def emit_tree(seed, name, free, links):
    rng = np.random.default_rng(seed)
    bodies = [random_body(rng, name == "square") for _ in range(len(links) + 1)]
    model = mujoco.MjModel.from_xml_string(model_xml(bodies, links, free))
    # The compiler turns inertias into principal axes and back; what it kept is what it computes with.
    data = mujoco.MjData(model)
    q_map, v_map = reorder(model, links, free)
    kinds = {"hinge": "MF_JOINT_HINGE", "slide": "MF_JOINT_SLIDE", "ball": "MF_JOINT_BALL",
             "free": "MF_JOINT_FLOATING"}
    print(f'    {{"{name}", {str(free).lower()}, {len(links) + 1}, {model.nv},')
    print("     {")
    for i, b in enumerate(bodies):
        parent, kind = links[i - 1] if i else (0, "free")
        if kind == "free":
            b["armature"] = 0.0
            if i:
                b["pos"], b["quat"] = np.zeros(3), np.array([1.0, 0, 0, 0])
        print(f'      {{{parent}, {kinds[kind]}, {array(b["pos"])}, {array(b["quat"])}, '
              f'{array(b["axis"])}, {b["mass"]!r}, {array(b["com"])}, {array(b["inertia"])}, '
              f'{b["armature"]!r}}},')
    print("     },\n     {")
    for _ in range(3):
        emit_state(model, data, rng, q_map, v_map, len(links))
    print("     }},")


print("// Random trees and the results of MuJoCo", mujoco.__version__, "for them: positions, "
      "velocities, forces,\n// mass matrix, bias forces, accelerations. Written by "
      "articulated_truth.py; do not edit.\n// clang-format off\nstatic const Tree trees[] = {")
for number, tree in enumerate(TREES):
    emit_tree(4711 + number, *tree)
print("};\n// clang-format on")
