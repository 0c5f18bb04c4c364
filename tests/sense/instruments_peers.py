#!/usr/bin/env python3
"""Compares sensor values with MuJoCo's in random states.

usage: instruments_peers.py PROBE STATES MODEL...

PROBE is the program test_sense_instruments. A model that has few sensors of its own is copied with
its folder and gets one of each kind on everything that has a name. Exit code 77 where MuJoCo is
absent.
"""
import os
import shutil
import subprocess
import sys
import tempfile

try:
    import mujoco
    import numpy as np
except ImportError:
    print("skipped: the Python packages mujoco and numpy are not installed")
    sys.exit(77)

TOLERANCE = 1e-9
KINDS = mujoco.mjtSensor
SKIPPED = (KINDS.mjSENS_TOUCH, KINDS.mjSENS_JOINTLIMITFRC, KINDS.mjSENS_TENDONLIMITFRC,
           KINDS.mjSENS_USER)
AXES = (KINDS.mjSENS_FRAMEQUAT, KINDS.mjSENS_FRAMEXAXIS, KINDS.mjSENS_FRAMEYAXIS,
        KINDS.mjSENS_FRAMEZAXIS)
TURNS = (KINDS.mjSENS_BALLQUAT, KINDS.mjSENS_FRAMEQUAT)


def names(model, kind, count):
    found = [mujoco.mj_id2name(model, kind, i) for i in range(count)]
    return [(i, name) for i, name in enumerate(found) if name]


def frame_sensors(kind, name, reference):
    out = []
    for sensor in ("pos", "quat", "xaxis", "yaxis", "zaxis", "linvel", "angvel"):
        out.append(f'<frame{sensor} objtype="{kind}" objname="{name}"/>')
        if reference:
            out.append(f'<frame{sensor} objtype="{kind}" objname="{name}" reftype="xbody" '
                       f'refname="{reference}"/>')
    for sensor in ("linacc", "angacc"):
        out.append(f'<frame{sensor} objtype="{kind}" objname="{name}"/>')
    return out


def all_sensors(model):
    """XML of a sensor of each kind on everything with a name."""
    o = mujoco.mjtObj
    out = ["<clock/>", "<e_potential/>", "<e_kinetic/>"]
    bodies = [(i, n) for i, n in names(model, o.mjOBJ_BODY, model.nbody) if i > 0]
    reference = bodies[0][1] if bodies else None
    for j, name in names(model, o.mjOBJ_JOINT, model.njnt):
        kind = int(model.jnt_type[j])
        if kind >= 2:
            out += [f'<{s} joint="{name}"/>' for s in ("jointpos", "jointvel", "jointactuatorfrc")]
        elif kind == 1:
            out += [f'<{s} joint="{name}"/>' for s in ("ballquat", "ballangvel")]
        if model.jnt_limited[j]:
            out += [f'<{s} joint="{name}"/>' for s in ("jointlimitpos", "jointlimitvel")]
    for t, name in names(model, o.mjOBJ_TENDON, model.ntendon):
        out += [f'<tendon{s} tendon="{name}"/>' for s in ("pos", "vel", "actuatorfrc")]
    for a, name in names(model, o.mjOBJ_ACTUATOR, model.nu):
        out += [f'<actuator{s} actuator="{name}"/>' for s in ("pos", "vel", "frc")]
    for s, name in names(model, o.mjOBJ_SITE, model.nsite):
        out += [f'<{k} site="{name}"/>' for k in ("accelerometer", "velocimeter", "gyro",
                                                   "magnetometer", "force", "torque")]
        out += frame_sensors("site", name, reference)
    for b, name in bodies:
        out += frame_sensors("body", name, reference) + frame_sensors("xbody", name, None)
        out += [f'<subtree{k} body="{name}"/>' for k in ("com", "linvel", "angmom")]
    for g, name in names(model, o.mjOBJ_GEOM, model.ngeom):
        if model.geom_type[g] != mujoco.mjtGeom.mjGEOM_MESH:
            out += frame_sensors("geom", name, None)
    return out


def with_sensors(path, folder):
    """A copy of the model, with its folder, that has every sensor."""
    copy = os.path.join(folder, "copy")
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(os.path.dirname(path), copy)
    model = mujoco.MjModel.from_xml_path(path)
    if model.nsensor > 50:
        return os.path.join(copy, os.path.basename(path))
    out = os.path.join(copy, "all_sensors.xml")
    with open(out, "w") as file:
        file.write(f'<mujoco><include file="{os.path.basename(path)}"/><sensor>' +
                   "".join(all_sensors(model)) + "</sensor></mujoco>")
    return out


def random_state(model, data, rng):
    data.qpos[:] = rng.normal(size=model.nq)
    for j in range(model.njnt):
        first = model.jnt_qposadr[j] + {0: 3, 1: 0}.get(int(model.jnt_type[j]), 0)
        if model.jnt_type[j] in (0, 1):
            data.qpos[first:first + 4] /= np.linalg.norm(data.qpos[first:first + 4])
        if model.jnt_type[j] == 0:
            data.qpos[model.jnt_qposadr[j] + 2] += 2.0  # mostly above the floor
    data.qvel[:] = rng.normal(size=model.nv)
    data.ctrl[:] = rng.normal(size=model.nu)


def compare(probe, path, count, folder):
    path = with_sensors(path, folder)
    model = mujoco.MjModel.from_xml_path(path)
    for name in ("CONTACT", "EQUALITY"):
        model.opt.disableflags |= int(getattr(mujoco.mjtDisableBit, "mjDSBL_" + name))
    model.opt.gravity[:2] = 0  # our worlds pull straight down
    model.opt.density = model.opt.viscosity = 0
    data = mujoco.MjData(model)
    rng = np.random.default_rng(1)
    states, truth = [], []
    for _ in range(count):
        mujoco.mj_resetData(model, data)
        random_state(model, data, rng)
        mujoco.mj_forward(model, data)
        states.append(" ".join(repr(float(x)) for x in [*data.qpos, *data.qvel, *data.qacc,
                                                        *data.actuator_force]))
        truth.append(data.sensordata.copy())
    run = subprocess.run([probe, path], input="\n".join(states), capture_output=True, text=True)
    lines = run.stdout.splitlines()
    if run.returncode != 0 or len(lines) != count:
        print(f"{path}: {run.returncode} {run.stdout[-300:]}{run.stderr[-300:]}")
        return False
    worst, name = 0.0, ""
    floor = model.ngeom > 0 and model.geom_type[0] == 0 and model.geom_bodyid[0] == 0
    for line, expected in zip(lines, truth):
        got = np.array(line.split(), dtype=float)
        for s in range(model.nsensor):
            kind = KINDS(int(model.sensor_type[s]))
            if kind in SKIPPED or (kind == KINDS.mjSENS_RANGEFINDER and not floor):
                continue
            part = slice(model.sensor_adr[s], model.sensor_adr[s] + model.sensor_dim[s])
            ours, theirs = got[part], expected[part]
            if kind in TURNS and np.dot(ours, theirs) < 0:
                ours = -ours
            error = np.abs(ours - theirs).max() / max(1.0, np.abs(theirs).max())
            # MuJoCo keeps the corners of meshes in float, moved to their middle, and stops turning
            # inertias into their axes early: those of nearly equal moments are known to 1e-4.
            if model.nmesh and kind == KINDS.mjSENS_RANGEFINDER:
                error *= 1e-3
            elif kind in AXES and int(model.sensor_objtype[s]) == int(
                    mujoco.mjtObj.mjOBJ_BODY):
                error *= 1e-5
            elif model.nmesh:
                error *= 0.05
            if error > worst:
                worst = error
                name = f"{kind.name} {s}: {ours} instead of {theirs}"
    print(f"{os.path.basename(path)}: {model.nsensor} sensors, {count} states, worst {worst:.1e} "
          f"{name if worst > TOLERANCE else ''}")
    return worst <= TOLERANCE


with tempfile.TemporaryDirectory() as work:
    os.chdir(work)  # MuJoCo writes its log where it runs
    results = []
    for file in sys.argv[3:]:
        print(file, end=": ")
        results.append(compare(sys.argv[1], file, int(sys.argv[2]), work))
sys.exit(0 if all(results) else 1)
