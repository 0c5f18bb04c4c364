#!/usr/bin/env python3
"""MuJoCo's own files here and in MuJoCo: what loads, and what moves the same.

usage: mujoco_files.py [options] FOLDER...

FOLDER: model/ and test/ of a clone of MuJoCo, or any folder with MJCF files. Every file that MuJoCo
loads is loaded by Mayfly with its defaults, each in a separate process, and both simulate it from the
reference without controls, in double and in float. A file is

  same      after 1 s and 5 s both are in the same place
  chaotic   so far apart as MuJoCo is from itself after a start 1e-7 beside it
  tie       elsewhere, and the start is an edge case, for example a foot that touches the ground at a
            depth of 0: from a start moved by about 1e-3 rad and 1 mm the file is same or chaotic
  faces     elsewhere, and boxes, cylinders or meshes touched each other or capsules: both have other
            contact points where a face touches a face or an edge
  momentum  elsewhere, but same, chaotic or tie by Runge-Kutta's method in both: free bodies keep
            their momentum here, which MuJoCo's other methods do not
  noted     elsewhere, and a note says what is dropped or simulated in another way; every file with
            vertices of a flex, which are left out, with a note
  differs   elsewhere, without a note
  still     nothing in it moves
  limited   it loads, and a limit of the motion refuses to simulate it
  refused   it does not load

Where a file has no floor, on which Mayfly puts level ground at 0, the ground is far below. Exit status
1: fewer than 90 % load, or one differs without a note. The differences are those of base and joint
positions [m, rad].
"""
import argparse
import contextlib
import json
import os
import subprocess
import sys
import tempfile

import mujoco
import numpy as np

NEAR = {1.0: 2e-3, 5.0: 1e-2}  # [m] or [rad] after these times [s] two states are the same
BESIDE = 1e-7  # of each velocity, for a second start
MOVED = 1e-3  # [rad, m] of each joint, for a start that is no edge case
SELF = {"double": 30.0, "float": 3000.0}  # so many times MuJoCo's own difference is chance
NOTED = ("changes the motion", "implicitfast", "explicit", "warning: contacts", "warning: depth",
         "couples branches")
FACES = (mujoco.mjtGeom.mjGEOM_BOX, mujoco.mjtGeom.mjGEOM_MESH, mujoco.mjtGeom.mjGEOM_CYLINDER)
FREE, BALL = int(mujoco.mjtJoint.mjJNT_FREE), int(mujoco.mjtJoint.mjJNT_BALL)
CAPSULE = mujoco.mjtGeom.mjGEOM_CAPSULE
FLOORS = (mujoco.mjtGeom.mjGEOM_PLANE, mujoco.mjtGeom.mjGEOM_HFIELD)


def own_joints(model):
    """The joints that a file states: not those of the vertices of a flex, whose bodies MuJoCo adds."""
    added = set(model.flex_vertbodyid) | set(model.flex_nodebodyid)
    names = tuple(f"{mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_FLEX, i)}_" for i in range(model.nflex))
    return [j for j in range(model.njnt) if not (
        model.jnt_bodyid[j] in added and model.body(model.jnt_bodyid[j]).name.startswith(names))]


def own_positions(model, positions):
    sizes = {FREE: 7, BALL: 4}
    parts = [positions[model.jnt_qposadr[j]:][:sizes.get(int(model.jnt_type[j]), 1)]
             for j in own_joints(model)]
    return np.concatenate(parts) if parts else np.zeros(0)


def distance(model, a, b):
    """The largest difference of two positions of the file's own joints, rotations as angles."""
    out, at = 0.0, 0
    for j in own_joints(model):
        kind = int(model.jnt_type[j])
        if kind == FREE:
            out = max(out, float(np.abs(a[at:at + 3] - b[at:at + 3]).max()))
            at += 3
        if kind in (FREE, BALL):
            p, q = a[at:at + 4], b[at:at + 4]
            out = max(out, 2.0 * float(np.arccos(np.clip(abs(np.dot(p, q)), 0.0, 1.0))))
            at += 4
        else:
            out = max(out, float(abs(a[at] - b[at])))
            at += 1
    return out if np.isfinite(out) else 1e9


def touching_faces(model, data, kinds_of_faces=FACES):
    """The pairs of shapes that touch, of which one has faces and none is a ball or the ground."""
    pairs = data.contact.geom[:data.ncon].reshape(-1, 2)
    kinds = model.geom_type[pairs]
    faces = np.isin(kinds, kinds_of_faces)
    return pairs[faces.any(axis=1) & (faces | (kinds == CAPSULE)).all(axis=1)]


def theirs(model, beside, moved):
    data, way = mujoco.MjData(model), np.sin(1.0 + np.arange(model.nv))
    data.qvel[:] += beside * way
    mujoco.mj_integratePos(model, data.qpos, way, moved)
    out, done = {"faces": False, "start": own_positions(model, data.qpos)}, 0
    for seconds in NEAR:
        steps = round(seconds / model.opt.timestep) - done
        for _ in range(steps):
            mujoco.mj_step(model, data)
            out["faces"] = out["faces"] or len(touching_faces(model, data)) > 0
            if data.warning[mujoco.mjtWarning.mjWARN_BADQACC].number:
                return out  # MuJoCo starts again
        done += steps
        out[seconds] = own_positions(model, data.qpos)
    return out


def world_of(mayfly, robot, model, **more):
    """The world of a file; where the file has no floor, the ground is far below."""
    fixed = model.body_weldid[model.geom_bodyid] == 0
    touches = (model.geom_contype | model.geom_conaffinity) != 0
    if not (np.isin(model.geom_type, FLOORS) & fixed & touches).any():
        more["terrain"] = mayfly.Terrain.from_array(np.full((4, 4), -1e3), cell=1e3)
    return mayfly.World.for_model(robot, **more)


def ours(mayfly, robot, model, precision, start):
    out, done = {}, 0
    world = world_of(mayfly, robot, model)
    group = world.add_group(robot, 1, motion="articulated", precision=precision)
    group.set_state(start[None], np.zeros_like(group.state()[1]))
    for seconds in NEAR:
        steps = round(seconds / model.opt.timestep) - done
        world.step(steps)
        done += steps
        out[seconds] = np.array(group.state()[0][0])
    notes = [str(n) for n in group.notes] + [f"warning: {name}" for name in group.warning_names(0)]
    return out, [str(f) for f in group.fault_names(0)], notes


def compare(mayfly, robot, model, row, moved=0.0):
    first, second = theirs(model, 0.0, moved), theirs(model, BESIDE, moved)
    row["faces"], start = first.pop("faces"), first.pop("start")
    row["self"] = {str(s): distance(model, first[s], second[s]) for s in first if s in second}
    for precision in ("double", "float"):
        found, faults, notes = ours(mayfly, robot, model, precision, start)
        row[precision] = {str(s): distance(model, first[s], found[s]) for s in first}
        row[precision + "_faults"] = faults
        row["group_notes"] = row.get("group_notes", []) + notes


@contextlib.contextmanager
def by_runge_kutta(path):
    """A copy of a file with another integrator, beside it."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    end = text.rfind("</mujoco>")
    with tempfile.NamedTemporaryFile("w", suffix=".xml", dir=os.path.dirname(path)) as copy:
        copy.write(f'{text[:end]}<option integrator="RK4"/>{text[end:]}')
        copy.flush()
        yield copy.name


def one(path):
    row = {}
    try:
        model = mujoco.MjModel.from_xml_path(path)
        row["mujoco"] = True
    except ValueError as failure:
        return {"mujoco": False, "why": str(failure)[:200]}
    import mayfly

    try:
        robot = mayfly.Model.from_file(path, lenient=True)
    except Exception as failure:  # pylint: disable=broad-except
        row["refused"] = str(failure)[:300]
        return row
    row["notes"] = [str(n) for n in robot.notes]
    row["nv"] = int(model.nv)
    row["left_out"] = model.njnt - len(own_joints(model))
    if model.nv == 0:
        return row
    data = mujoco.MjData(model)
    mujoco.mj_step(model, data)
    try:
        compare(mayfly, robot, model, row)
        if verdict(row) in ("faces", "differs"):
            row["moved"] = {"notes": []}
            compare(mayfly, robot, model, row["moved"], MOVED)
        if verdict(row) == "differs" and model.opt.integrator != mujoco.mjtIntegrator.mjINT_RK4:
            row["exact"] = {"notes": []}
            with by_runge_kutta(path) as copy:
                compare(mayfly, mayfly.Model.from_file(copy, lenient=True),
                        mujoco.MjModel.from_xml_path(copy), row["exact"], MOVED)
    except Exception as failure:  # pylint: disable=broad-except
        row["limit"] = f"{type(failure).__name__}: {failure}"[:300]
    return row


def within(row, seconds, chance):
    """Whether both precisions are near enough, or within what chance makes of it."""
    most = NEAR[float(seconds)]
    own = row["self"].get(seconds, 1e9)
    return all(row[p][seconds] < max(most, SELF[p] * own if chance else 0.0) for p in SELF)


def verdict(row):
    if "refused" in row:
        return "refused"
    if row.get("nv") == 0:
        return "still"
    if "limit" in row or "double" not in row:
        return "limited"
    times = sorted(row["double"], key=float)
    if not times:
        return "chaotic"  # MuJoCo itself is unstable
    notes = row["notes"] + row.get("group_notes", [])
    if row.get("left_out"):
        return "noted" if any("flex" in note for note in notes) else "differs"
    if all(within(row, s, False) for s in times):
        return "same"
    if all(within(row, s, True) for s in times):
        return "chaotic"
    if any(word in note for note in notes for word in NOTED) or any(row[p + "_faults"] for p in SELF):
        return "noted"
    if "moved" in row and verdict(row["moved"]) in ("same", "chaotic"):
        return "tie"
    if "exact" in row and verdict(row["exact"]) in ("same", "chaotic"):
        return "momentum"
    return "faces" if row["faces"] else "differs"


def ask(path, timeout):
    command = [sys.executable, os.path.abspath(__file__), "--one", path]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, check=False)
    except subprocess.TimeoutExpired:
        return {"mujoco": True, "limit": f"not done after {timeout:g} s", "nv": 1, "notes": []}
    lines = done.stdout.strip().splitlines()
    if done.returncode != 0 or not lines:
        return {"mujoco": True, "refused": f"exit code {done.returncode}: {done.stderr.strip()[-200:]}"}
    return json.loads(lines[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("folders", nargs="*")
    parser.add_argument("--only", default="", help="only paths that contain this")
    parser.add_argument("--timeout", type=float, default=60.0, help="[s] for each file")
    parser.add_argument("--json", default="", help="file for the rows, one object per line")
    parser.add_argument("--one", default="", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(one(options.one)))
        return 0
    counts, total = {}, 0
    kept = open(options.json, "w", encoding="utf-8") if options.json else None
    for folder in options.folders:
        for place, folders, names in os.walk(folder):
            folders.sort()
            for path in (os.path.join(place, n) for n in sorted(names) if n.endswith(".xml")):
                row = ask(path, options.timeout) if options.only in path else {"mujoco": False}
                if not row["mujoco"]:
                    continue
                row["file"], row["verdict"] = path, verdict(row)
                total += 1
                counts[row["verdict"]] = counts.get(row["verdict"], 0) + 1
                why = row.get("refused") or row.get("limit") or {
                    p: {s: f"{d:.1e}" for s, d in row.get(p, {}).items()}
                    for p in ("double", "float", "self")}
                if row["verdict"] in ("differs", "refused", "limited", "noted"):
                    print(f"{row['verdict']:9}{path}: {why}", flush=True)
                if kept:
                    kept.write(json.dumps(row) + "\n")
                    kept.flush()
    loaded = total - counts.get("refused", 0)
    print(f"{total} files that MuJoCo loads: {loaded} load ({100.0 * loaded / max(total, 1):.0f} %); "
          + ", ".join(f"{n} {name}" for name, n in sorted(counts.items())))
    return 1 if loaded < 0.9 * total or counts.get("differs") else 0


if __name__ == "__main__":
    sys.exit(main())
