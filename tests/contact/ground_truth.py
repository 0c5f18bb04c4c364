#!/usr/bin/env python3
"""Writes ground_truth.h: solids on planes, and the contacts that MuJoCo finds.

Needs the Python packages mujoco and numpy. Run it by hand when a solid is to be added; the header is
kept with the tests, so that they need neither.

    python3 tests/contact/ground_truth.py > tests/contact/ground_truth.h
"""
import mujoco
import numpy as np

POSES = 6
MARGIN = 0.004
rng = np.random.default_rng(7)


def prism(corners, height):
    turn = np.sort(rng.uniform(0, 2 * np.pi, corners))
    return [(0.1 * np.cos(a), 0.08 * np.sin(a), z) for a in turn for z in (-height, height)]


def blob(count):
    v = rng.normal(size=(count, 3))
    return v / np.linalg.norm(v, axis=1)[:, None] * [0.1, 0.08, 0.05]


def mesh(points):
    text = " ".join(f"{x:.7g}" for p in points for x in p)
    return f"<mesh name='m' vertex='{text}'/>", "type='mesh' mesh='m'"


SOLIDS = {
    "sphere": ("", "size='.07'"),
    "capsule": ("", "type='capsule' size='.03 .08'"),
    "ellipsoid": ("", "type='ellipsoid' size='.1 .06 .03'"),
    "cylinder": ("", "type='cylinder' size='.06 .04'"),
    "box": ("", "type='box' size='.1 .06 .03'"),
    "cube of a mesh": mesh([(x, y, z) for x in (-0.05, 0.05) for y in (-0.05, 0.05)
                            for z in (-0.05, 0.05)]),
    "prism of a mesh": mesh(prism(7, 0.04)),
    "blob of a mesh": mesh(blob(60)),
    "larger blob": mesh(blob(400)),
}
PLANES = ["", "euler='25 -10 0'"]


def text_of(asset, geom):
    """With %s in place of the plane's rotation."""
    return (f"<mujoco><asset>{asset}</asset><worldbody><geom type='plane' size='5 5 1' %s/>"
            f"<body><freejoint/><geom {geom} margin='{MARGIN}'/></body></worldbody></mujoco>")


def poses(model, data, kind):
    """Some lying flat to a small angle, some any way; the lowest point a little inside."""
    mujoco.mj_kinematics(model, data)
    up = data.geom_xmat[0].reshape(3, 3)
    for i in range(POSES):
        turn = np.zeros(4)
        small = rng.normal(size=3) * 10.0 ** rng.uniform(-3, -1) if i % 2 else rng.normal(size=3) * 2
        mujoco.mju_axisAngle2Quat(turn, small / np.linalg.norm(small), np.linalg.norm(small))
        own = np.zeros(4)
        mujoco.mju_mat2Quat(own, up.flatten())
        q = np.zeros(4)
        mujoco.mju_mulQuat(q, own, turn)
        low, high = 0.0, 0.3
        for _ in range(60):  # the height at which it just touches
            middle = (low + high) / 2
            data.qpos[:] = [*(up[:, 2] * middle + [0.3, -0.2, 0]), *q]
            data.qpos[:3] -= up[:, 2] * np.dot(up[:, 2], [0.3, -0.2, 0])
            mujoco.mj_kinematics(model, data)
            mujoco.mj_collision(model, data)
            touching = data.ncon > 0
            low, high = (middle, high) if touching else (low, middle)
        place = data.qpos[:3] - up[:, 2] * (MARGIN + rng.uniform(0.001, 0.012))
        yield [float(x) for x in (*place, *q)]


def row_of(model, contact):
    plane = model.geom_type[contact.geom[0]] == mujoco.mjtGeom.mjGEOM_PLANE
    return [*contact.pos, *((1.0 if plane else -1.0) * contact.frame[:3]), -contact.dist]


def braces(values, digits=10):
    return "{" + ", ".join(f"{x:.{digits}g}" for x in values) + "}"


print("// Written by ground_truth.py: MuJoCo's contacts of solids with planes.")
print("#pragma once\n")
print("// clang-format off")
print("typedef struct GroundCase {")
print("    unsigned model;        // [1] 2 * solid + plane")
print("    double pose[7];        // [m] and quaternion of the body")
print("    unsigned count;        // [1]")
print("    double contacts[4][7]; // [m] place, [1] normal, [m] depth")
print("} GroundCase;\n")
cases = []
planes = ", ".join(f'"{plane}"' for plane in PLANES)
print(f"static const char *const ground_planes[] = {{{planes}}};\n")
print("// With %s in place of the plane's rotation.")
print("static const char *const ground_solids[] = {")
for name, (asset, geom) in SOLIDS.items():
    text = text_of(asset, geom)
    print(f"    // {name}")
    for i in range(0, len(text), 92):
        print(f'    "{text[i:i + 92]}"')
    print("    ,")
    for plane in PLANES:
        model = mujoco.MjModel.from_xml_string(text % plane)
        data = mujoco.MjData(model)
        number = len(cases) // POSES
        for pose in poses(model, data, name):
            data.qpos[:] = pose
            mujoco.mj_forward(model, data)
            rows = [braces(row_of(model, c)) for c in data.contact]
            joined = ",\n      ".join(rows)
            cases.append(f"    {{{number}, {braces(pose, 17)}, {len(rows)},\n     {{{joined}}}}},")
print("};\n\nstatic const GroundCase ground_cases[] = {")
print("\n".join(cases))
print("};\n// clang-format on\n\n#endif")
