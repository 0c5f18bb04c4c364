#!/usr/bin/env python3
"""Compares sensor values with MuJoCo's in random states.

usage: sensors_peers.py [--table] PROBE EXPORT STATES MODEL...

PROBE is the program test_sense_model_readings, EXPORT "build/mayfly info --mjcf". A model that has few sensors of its own is copied with
its folder and gets one of each kind on everything that has a name. Exit code 77 where MuJoCo is
absent.
"""
import os
import shlex
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
CHUNK = 100  # [1] states of one run of the probe
KINDS = mujoco.mjtSensor
# Forces of contacts and limits are answers of the solver, which is another one.
SKIPPED = (KINDS.mjSENS_TOUCH, KINDS.mjSENS_JOINTLIMITFRC, KINDS.mjSENS_TENDONLIMITFRC,
           KINDS.mjSENS_USER)
TURNS = (KINDS.mjSENS_BALLQUAT, KINDS.mjSENS_FRAMEQUAT)
GROUPS = ("imu", "force", "joint", "actuator", "limit", "frame", "subtree", "energy", "range")
WORDS = {"ACCELEROMETER": "imu", "VELOCIMETER": "imu", "GYRO": "imu", "MAGNETOMETER": "imu",
         "FORCE": "force", "TORQUE": "force", "CLOCK": "imu", "RANGEFINDER": "range"}
ROUNDED = 1e-12  # beyond that the exported model is compared, see compare()


def group_of(kind):
    name = kind.name[len("mjSENS_"):]
    return WORDS.get(name) or ("energy" if name.startswith("E_") else
                               "limit" if "LIMIT" in name else
                               "actuator" if "ACTUATOR" in name or name.endswith("ACTFRC") else
                               "subtree" if name.startswith("SUBTREE") else
                               "frame" if name.startswith("FRAME") else "joint")


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


def ask(probe, path, states):
    run = subprocess.run([probe, path], input="\n".join(states), capture_output=True, text=True,
                         check=False)
    lines = run.stdout.splitlines()
    if run.returncode != 0 or len(lines) != len(states):
        return None, f"{run.returncode} {run.stdout[-300:]}{run.stderr[-300:]}"
    return np.array([np.fromstring(line, sep=" ") for line in lines]), ""


def worst_of(probe, path, count):
    """Largest deviation per group of sensors, or None and why there is none."""
    model = mujoco.MjModel.from_xml_path(path)
    for name in ("CONTACT", "EQUALITY"):
        model.opt.disableflags |= int(getattr(mujoco.mjtDisableBit, "mjDSBL_" + name))
    model.opt.density = model.opt.viscosity = 0
    data = mujoco.MjData(model)
    rng = np.random.default_rng(1)
    # Of spatial tendons: their pull is an outer force to MuJoCo's force sensors only (docs/reference/sensors.md).
    paths = [int(model.wrap_type[model.tendon_adr[t]]) != 1 for t in range(model.ntendon)]
    pulled = any(paths[model.actuator_trnid[a, 0]] for a in range(model.nu)
                 if model.actuator_trntype[a] == mujoco.mjtTrn.mjTRN_TENDON)
    floor = model.ngeom > 0 and model.geom_type[0] == 0 and model.geom_bodyid[0] == 0
    worst = dict.fromkeys(GROUPS, 0.0)
    for first in range(0, count, CHUNK):
        states, truth = [], []
        for _ in range(min(CHUNK, count - first)):
            mujoco.mj_resetData(model, data)
            random_state(model, data, rng)
            mujoco.mj_forward(model, data)
            states.append(" ".join(repr(float(x)) for x in [
                *data.qpos, *data.qvel, *data.qacc, *data.actuator_force]))
            truth.append(data.sensordata.copy())
        got, why = ask(probe, path, states)
        if got is None:
            return None, why
        truth = np.array(truth)
        for s in range(model.nsensor):
            kind = KINDS(int(model.sensor_type[s]))
            # MuJoCo adds torques of several trees in the world about a point of each tree's own.
            world = kind == KINDS.mjSENS_TORQUE and model.site_bodyid[model.sensor_objid[s]] == 0
            if pulled and kind in (KINDS.mjSENS_FORCE, KINDS.mjSENS_TORQUE,
                                   KINDS.mjSENS_JOINTACTFRC):
                continue
            if kind in SKIPPED or world or (kind == KINDS.mjSENS_RANGEFINDER and not floor):
                continue
            part = slice(model.sensor_adr[s], model.sensor_adr[s] + model.sensor_dim[s])
            ours, theirs = got[:, part], truth[:, part]
            if kind in TURNS:
                ours = ours * np.sign(np.sum(ours * theirs, axis=1, keepdims=True))
            error = np.abs(ours - theirs).max(axis=1) / np.fmax(1.0, np.abs(theirs).max(axis=1))
            group = group_of(kind)
            worst[group] = np.fmax(worst[group], np.where(np.isfinite(error), error, np.inf).max())
    return worst, model.nsensor


def show(name, worst, size, table):
    if table:
        print(f"| {name} | {size} | " + " | ".join(f"{worst[g]:.0e}" for g in GROUPS) + " |",
              flush=True)
    else:
        print(f"{name}: {size} sensors, " + " ".join(f"{g} {worst[g]:.1e}" for g in GROUPS),
              flush=True)


def compare(probe, export, path, count, table, folder):
    """MuJoCo turns inertias into their principal axes, moves meshes into them, and stops when little
    is left off the diagonal: with nearly equal moments these axes are known to 1e-4. So a model that
    differs is compared once more as Mayfly exports it, with the axes in the file. Corners of meshes
    remain floats in MuJoCo, turned and moved: rays that end at meshes are known to 1e-6."""
    copy = with_sensors(path, folder)
    name = os.path.basename(path) if table else path
    meshes = mujoco.MjModel.from_xml_path(copy).nmesh > 0
    worst, size = worst_of(probe, copy, count)
    if worst is not None and max(v for g, v in worst.items() if g != "range") > ROUNDED:
        show(name, worst, size, table)
        name += ", exported"
        plain = os.path.join(folder, "exported.xml")
        subprocess.run([*shlex.split(export), plain, copy], check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
        worst, size = worst_of(probe, plain, count)
    if worst is None:
        print(f"{name}: {size}")
        return False
    show(name, worst, size, table)
    wrong = [g for g in GROUPS if worst[g] > (1e-6 if meshes and g == "range" else TOLERANCE)]
    if wrong:
        print(f"{name}: too far: {' '.join(wrong)}")
    return not wrong


def main():
    arguments = sys.argv[1:]
    table = arguments[0] == "--table"
    probe, export, states, *models = arguments[table:]
    if table:
        print("| model | sensors | " + " | ".join(GROUPS) + " |\n" + "|---" * (len(GROUPS) + 2) + "|")
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)  # MuJoCo writes its log where it runs
        results = [compare(probe, export, path, int(states), table, work) for path in models]
    return 0 if all(results) else 1


sys.exit(main())
