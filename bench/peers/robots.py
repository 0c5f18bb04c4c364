#!/usr/bin/env python3
"""Public robots in Mayfly and in MuJoCo: import, equality of the models, whether they stand or fall,
and the cost of a step.

usage: robots.py [options] NAME=FOLDER[:PATTERN,...]...
(run_robots.sh prepares the environment and calls this)

Each NAME=FOLDER is a collection; every file in it that matches a pattern (default: scene*.xml in
any folder) and has moving parts is tested, in a separate process.
Columns:

  loads         by `mayfly.Model.from_file` as it comes; "lenient": what cannot be honored is
                dropped with a note; otherwise the error
  mass          difference of the total masses, relative
  acceleration  largest difference of the accelerations without constraints in random states, over
                the largest of the state (tests/motion/articulated_peers.py, column "smooth")
  1 s, 5 s      from the first keyframe (else the reference), its controls held, steps of the file,
                double precision: largest difference of a free body's height [mm], of its tilt
                [rad], of a joint [rad, m]
  double, float what the two robots do in 5 s, in both precisions of Mayfly; float is the default
  reason        why they differ, measured (causes.py) or from reasons.tsv beside this file, and how
                many notes Mayfly gave
  speed         steps per second of one core over MuJoCo's: --robots robots, float, controls drawn
                anew every 10 steps about the keyframe; both take turns, median of three turns

Where a file has no floor, on which Mayfly puts level ground at 0, the ground is far below.
"""
import argparse
import contextlib
import fnmatch
import io
import json
import os
import statistics
import subprocess
import sys
import time

import causes
import mujoco
import numpy as np
from mujoco import rollout

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
AWAY = (0.01, 0.05, 0.05)  # [m], [rad], [rad or m] within which two poses are considered equal
FALLEN = 0.5  # [rad] of tilt, or share of the height at the start, beyond which a robot has fallen
DEEP = 0.3  # [m] difference in height of two fallen robots beyond which they differ
EPISODE = 200  # [1] steps between resets when speed is measured
HOLD = 10  # [1] steps a control is held
CONTROL_NOISE = 0.1  # [1] of a control's range
TIMES = (1.0, 5.0)  # [s] after which poses are compared
PRECISIONS = {"stand": "double", "float": "float"}  # keys of a row


def settle_start(model, data):
    """The first keyframe, else the reference. Returns the controls."""
    if model.nkey:
        mujoco.mj_resetDataKeyframe(model, data, 0)
    else:
        mujoco.mj_resetData(model, data)
    return data.ctrl.copy()


# ---- the same robot -----------------------------------------------------------------------------


def same_accelerations(path, probe, states):
    module = causes.module_of("tests/motion/articulated_peers.py")
    with contextlib.redirect_stdout(io.StringIO()):
        worst, why = module.worst_of(probe, path, states)
    if worst is None:
        return {"error": str(why)}
    return {name: float(value) for name, value in zip(module.NAMES, worst)}


# ---- standing and falling -----------------------------------------------------------------------


def tilt(a, b):
    """Angle between two attitudes [rad]."""
    return 2.0 * float(np.arccos(np.clip(abs(np.dot(a, b)), 0.0, 1.0)))


def lean(q):
    """Angle between a body's z axis and the vertical [rad]."""
    return float(np.arccos(np.clip(1.0 - 2.0 * (q[1] ** 2 + q[2] ** 2), -1.0, 1.0)))


class Measure:
    """The compared part of a state: free bodies, of which the base is the first, and joints."""

    def __init__(self, model):
        at = {kind: model.jnt_qposadr[model.jnt_type == kind] for kind in range(4)}
        self.bodies = at[mujoco.mjtJoint.mjJNT_FREE]
        self.balls = at[mujoco.mjtJoint.mjJNT_BALL]
        self.angles = np.concatenate((at[mujoco.mjtJoint.mjJNT_SLIDE],
                                      at[mujoco.mjtJoint.mjJNT_HINGE]))
        self.free = model.njnt > 0 and model.jnt_type[0] == mujoco.mjtJoint.mjJNT_FREE

    def differ(self, ours, theirs):
        height = max((abs(ours[i + 2] - theirs[i + 2]) for i in self.bodies), default=0.0)
        turns = (tilt(ours[i + 3:i + 7], theirs[i + 3:i + 7]) for i in self.bodies)
        turned = max(turns, default=0.0)
        joints = max([np.abs(ours[self.angles] - theirs[self.angles]).max(initial=0.0),
                      *(tilt(ours[i:i + 4], theirs[i:i + 4]) for i in self.balls)])
        return [float(height), float(turned), float(joints)]

    def fallen(self, start, now):
        if not self.free:
            return False
        return bool(lean(now[3:7]) - lean(start[3:7]) > FALLEN or now[2] < FALLEN * start[2])


def theirs_of(model, beside=0.0, moved=0.0):
    """MuJoCo's start, its positions after each of TIMES, and its last velocities; `beside`: of a
    start with other velocities; `moved`: with other positions."""
    data, way = mujoco.MjData(model), np.sin(1.0 + np.arange(model.nv))
    control = settle_start(model, data)
    data.qvel[:] += beside * way
    mujoco.mj_integratePos(model, data.qpos, way, moved)
    out, done = {"start": data.qpos.copy(), "rates": data.qvel.copy(), "control": control}, 0
    for seconds in TIMES:
        steps = round(seconds / model.opt.timestep) - done
        done += steps
        for _ in range(steps):
            mujoco.mj_step(model, data)
        out[seconds] = data.qpos.copy()
    out["rest"] = float(np.abs(data.qvel).max(initial=0.0))
    out["unstable"] = bool(data.warning[mujoco.mjtWarning.mjWARN_BADQACC].number)
    return out


def stand(model, theirs, robot, mayfly, precision):
    world = causes.world_of(mayfly, robot, model)
    group = world.add_group(robot, 1, motion="articulated", precision=precision)
    group.set_state(theirs["start"][None], theirs["rates"][None])
    if model.nu:
        group["actuator.control"] = theirs["control"]
    measure, out, done = Measure(model), {}, 0
    for seconds in TIMES:
        steps = round(seconds / model.opt.timestep) - done
        done += steps
        world.step(steps)
        ours = group.state()[0][0]
        out[f"{seconds:g}s"] = measure.differ(ours, theirs[seconds])
    start = theirs["start"]
    out["start_height"] = float(start[2]) if measure.free else 0.0
    out["fallen"] = [measure.fallen(start, q) for q in (ours, theirs[TIMES[-1]])]
    out["rest"] = theirs["rest"]
    out["faults"] = [str(f) for f in group.fault_names(0)]
    out["warnings"] = [str(w) for w in group.warning_names(0)]
    out["notes"] = list(group.notes)
    return out


def stand_in_both(row, peer, theirs, robot, mayfly):
    for key, precision in PRECISIONS.items():
        guarded(row, key, stand, peer, theirs, robot, mayfly, precision)
    row["unstable"] = theirs["unstable"]


def stand_moved(peer, robot, mayfly):
    """From another start, and how far MuJoCo is from itself after a start beside that one."""
    row, theirs = {}, theirs_of(peer, moved=causes.MOVED)
    stand_in_both(row, peer, theirs, robot, mayfly)
    row["self"] = strays(peer, theirs, causes.MOVED)
    return row


def strays(peer, theirs, moved):
    twin = theirs_of(peer, causes.BESIDE, moved)
    return Measure(peer).differ(twin[TIMES[-1]], theirs[TIMES[-1]])


def explain(row, path, peer, theirs, robot, mayfly):
    """What a difference may come from (causes.py)."""
    row["self"] = strays(peer, theirs, 0.0)
    row["moved"] = stand_moved(peer, robot, mayfly)
    with causes.without_faces(path, TIMES[-1], settle_start) as (other, dropped):
        row["dropped"] = dropped
        if other is not None:
            row["without"] = stand_moved(causes.read(other), load(other, mayfly)[0], mayfly)


# ---- speed --------------------------------------------------------------------------------------


def controls(model, base, episodes, rng):
    low = np.where(model.actuator_ctrllimited, model.actuator_ctrlrange[:, 0], base - 1.0)
    high = np.where(model.actuator_ctrllimited, model.actuator_ctrlrange[:, 1], base + 1.0)
    draws = rng.uniform(-1, 1, (episodes, EPISODE // HOLD, model.nu))
    return np.clip(base + CONTROL_NOISE * 0.5 * (high - low) * draws, low, high)


class Theirs:
    def __init__(self, path, seconds):
        self.model = causes.read(path)
        self.data = mujoco.MjData(self.model)
        self.base = settle_start(self.model, self.data)
        spec = mujoco.mjtState.mjSTATE_FULLPHYSICS
        mujoco.mj_forward(self.model, self.data)
        self.start = np.empty(mujoco.mj_stateSize(self.model, spec))
        mujoco.mj_getState(self.model, self.data, self.start, spec)
        self.episodes = 1
        took = EPISODE / self.turn(np.random.default_rng(0))
        self.episodes = max(1, int(seconds / took))

    def turn(self, rng):
        drawn = np.repeat(controls(self.model, self.base, self.episodes, rng), HOLD, axis=1)
        starts = np.tile(self.start, (self.episodes, 1))
        began = time.perf_counter()
        rollout.rollout(self.model, self.data, starts, drawn)
        return self.episodes * EPISODE / (time.perf_counter() - began)


class Ours:
    def __init__(self, robot, mayfly, theirs, count):
        self.world = causes.world_of(mayfly, robot, theirs.model, threads=1)
        self.group = self.world.add_group(robot, count, motion="articulated")
        self.model, self.base, self.count = theirs.model, theirs.base, count
        fresh = mujoco.MjData(self.model)
        settle_start(self.model, fresh)
        self.start = (np.tile(fresh.qpos, (count, 1)), np.tile(fresh.qvel, (count, 1)))

    def turn(self, rng):
        drawn = controls(self.model, self.base, self.count, rng)
        self.group.reset()
        self.group.set_state(*self.start)
        seconds = 0.0
        for hold in range(EPISODE // HOLD):
            if self.model.nu:
                self.group["actuator.control"] = drawn[:, hold]
            began = time.perf_counter()
            self.world.step(HOLD)
            seconds += time.perf_counter() - began
        self.faulted = int(np.count_nonzero(self.group.faults))
        return self.count * EPISODE / seconds


def speed(path, robot, mayfly, count, seconds):
    theirs = Theirs(path, seconds)
    ours = Ours(robot, mayfly, theirs, count)
    rng, ratios, rates = np.random.default_rng(1), [], []
    for _ in range(3):
        rate = ours.turn(rng)
        ratios.append(rate / theirs.turn(rng))
        rates.append(rate)
    return {"ratio": statistics.median(ratios), "steps_per_second": statistics.median(rates),
            "faulted": ours.faulted}


# ---- one robot ----------------------------------------------------------------------------------


def load(path, mayfly):
    try:
        return mayfly.Model.from_file(path), "yes"
    except mayfly.MayflyError as failure:
        first = str(failure)
    return mayfly.Model.from_file(path, lenient=True), "lenient: " + first


def guarded(row, key, function, *arguments):
    """A failure of one part is recorded; the others continue."""
    try:
        row[key] = function(*arguments)
    except Exception as failure:  # pylint: disable=broad-except
        row[key] = {"error": f"{type(failure).__name__}: {failure}"[:300]}


def one(options):
    import mayfly

    path, row = options.one, {}
    try:
        peer = causes.read(path)
        row["mujoco"] = "yes"
        row["n"] = int(peer.nv)
    except ValueError as failure:
        row["mujoco"] = str(failure)[:200]
        return row
    if peer.nv == 0:
        return row
    began = time.perf_counter()
    try:
        robot, row["loads"] = load(path, mayfly)
    except Exception as failure:  # pylint: disable=broad-except
        row["loads"] = f"no: {failure}"
        return row
    row["load_seconds"] = time.perf_counter() - began
    total = float(peer.body_mass.sum())
    row["mass"] = abs(robot.mass - total) / total if total > 0 else 0.0
    if options.probe:
        guarded(row, "same", same_accelerations, path, options.probe, options.states)
    theirs = theirs_of(peer)
    stand_in_both(row, peer, theirs, robot, mayfly)
    if not all(settled(row, key) for key in PRECISIONS):
        guarded(row, "why", explain, row, path, peer, theirs, robot, mayfly)
    if options.robots:
        guarded(row, "speed", speed, path, robot, mayfly, options.robots, options.seconds)
    return row


# ---- all of them --------------------------------------------------------------------------------


def files_of(collection):
    """Its name, and the relative and absolute path of each of its files."""
    name, folder = collection.split("=", 1)
    folder, _, patterns = folder.partition(":")
    patterns = (patterns or "*scene*.xml").split(",")
    found = []
    for place, folders, names in os.walk(folder):
        folders.sort()
        found += [os.path.join(place, n) for n in sorted(names)]
    paths = [(name, os.path.relpath(f, folder), f) for f in found]
    return [p for p in paths if any(fnmatch.fnmatch(p[1], pattern) for pattern in patterns)]


def ask(options, path):
    command = [sys.executable, os.path.abspath(__file__), "--one", path, "--states",
               str(options.states), "--robots", str(options.robots), "--seconds",
               str(options.seconds)]
    if options.probe:
        command += ["--probe", options.probe]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=options.timeout,
                              check=False)
    except subprocess.TimeoutExpired:
        return {"loads": f"no: not done after {options.timeout} s"}
    lines = done.stdout.strip().splitlines()
    if done.returncode != 0 or not lines:
        return {"loads": f"no: exit code {done.returncode}: {done.stderr.strip()[-200:]}"}
    return json.loads(lines[-1])


def reasons():
    """Why robots differ: name, reason."""
    with open(os.path.join(HERE, "reasons.tsv"), encoding="utf-8") as file:
        return dict(line.rstrip("\n").split("\t", 1) for line in file if "\t" in line)


def agrees(row, when, key="stand"):
    differences = row.get(key, {}).get(when)
    return differences is not None and all(d < a for d, a in zip(differences, AWAY))


def verdict(row, key="stand"):
    """'same place', 'same fate' (both stand, or both have fallen) or 'differs'."""
    stands = row.get(key, {})
    if "fallen" not in stands:
        return "**not simulated**" if "error" in stands else ""
    if stands["faults"]:
        return f"**fault: {', '.join(stands['faults'])}**"
    if agrees(row, "5s", key):
        return "same place"
    ours, theirs = stands["fallen"]
    words = ("stands", "falls")
    if stands["5s"][0] > DEEP:
        return f"**{1000 * stands['5s'][0]:.0f} mm lower or higher**"
    if ours == theirs:
        return f"both {words[ours][:-1]}" if stands["start_height"] else "moves differently"
    return f"**{words[ours]}, there it {words[theirs]}**"


def settled(row, key):
    """In MuJoCo's place after 5 s, or both have fallen."""
    return agrees(row, "5s", key) or verdict(row, key) == "both fall"


def equal_but_for_chance(row):
    """In the same place or fallen in both precisions, or as far as chance takes MuJoCo too."""
    last = f"{TIMES[-1]:g}s"
    return all(settled(row, key) or "self" in row and causes.chance(
        row.get(key, {}).get(last), row["self"], AWAY, precision)
        for key, precision in PRECISIONS.items())


def reason(name, row):
    """Why one is elsewhere after 5 s; empty where that is not known, or where none is."""
    if all(settled(row, key) for key in PRECISIONS):
        return ""
    if name in REASONS:
        return REASONS[name]
    if row.get("stand", {}).get("error", "").startswith("LimitError: "):
        return row["stand"]["error"].split(": ", 2)[2]
    if row.get("unstable"):
        return "unstable in MuJoCo"
    if equal_but_for_chance(row):
        return "chance"
    for cause, key in (("tie", "moved"), ("faces", "without")):
        if equal_but_for_chance(row.get(key, {})):
            return cause
    return ""


REASONS = reasons()


def excused(name, row):
    """Ends as in MuJoCo, or is known why not."""
    return all(settled(row, key) for key in PRECISIONS) or reason(name, row) != ""


def short(value, form="{:.0e}"):
    return form.format(value) if isinstance(value, (int, float)) else ""


def cells(name, row):
    same, stands, fast = row.get("same", {}), row.get("stand", {}), row.get("speed", {})
    found = [reason(name, row)]
    if stands.get("notes"):
        found.append(f"{len(stands['notes'])} notes")
    out = [name, str(row.get("n", "")), row["loads"].split(":")[0], short(row.get("mass")),
           short(same.get("smooth"))]
    for when in ("1s", "5s"):
        d = stands.get(when)
        out.append("" if d is None else f"{1000 * d[0]:.1f} / {d[1]:.2g} / {d[2]:.2g}")
    return out + [*(verdict(row, key) for key in PRECISIONS), "; ".join(filter(None, found)),
                  short(fast.get("ratio"), "{:.3g}")]


def table(rows):
    head = ["robot", "n", "loads", "mass", "acceleration", "after 1 s", "after 5 s", "double",
            "float", "reason", "speed"]
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    lines += ["| " + " | ".join(cells(name, row)) + " |" for name, row in rows]
    return "\n".join(lines)


COUNTED = ("files", "load whole", "comparable", "double", "float", "with a reason", "unexplained")


def counts(rows):
    """Per collection: files that MuJoCo loads, those that load whole, those of them that MuJoCo
    keeps stable; how many of these end as there in each precision; why the others do not."""
    out = {}
    for name, row in rows:
        loaded, stable = row["loads"] == "yes", "fallen" in row.get("stand", {})
        stable = loaded and stable and not row.get("unstable")
        placed = [stable and settled(row, key) for key in PRECISIONS]
        known = stable and not all(placed) and reason(name, row) != ""
        of = out.setdefault(name.split("/", 1)[0], [0] * len(COUNTED))
        one = [True, loaded, stable, *placed, known, stable and not all(placed) and not known]
        of[:] = [n + bool(i) for n, i in zip(of, one)]
    if len(out) > 1:
        out["all"] = [sum(column) for column in zip(*out.values())]
    lines = ["| collection | " + " | ".join(COUNTED) + " |", "|---" * (len(COUNTED) + 1) + "|"]
    return "\n".join(lines + [f"| {k} | " + " | ".join(map(str, v)) + " |" for k, v in out.items()])


def summary(rows):
    known = [r for _, r in rows if r.get("mujoco") == "yes"]
    lenient = [r for r in known if r["loads"].startswith("lenient")]
    smooth = [r for r in known if r.get("same", {}).get("smooth", 1) < 1e-8]
    ratios = [r["speed"]["ratio"] for r in known if "ratio" in r.get("speed", {})]
    return (f"{len(known)} files that MuJoCo loads, {len(lenient)} of them here with something "
            f"dropped; accelerations within 1e-8 in {len(smooth)}." + (speeds(ratios) if ratios else ""))


def speeds(ratios):
    import mayfly

    with open("/proc/cpuinfo", encoding="utf-8") as file:
        names = [line.split(":", 1)[1].strip() for line in file if line.startswith("model name")]
    return (f" Speed of {len(ratios)} of them on one core of {names[0] if names else 'an unnamed processor'} with "
            f"{mayfly.World().isa}: {min(ratios):.2g} to {max(ratios):.3g} times MuJoCo's, half of "
            f"them at least {statistics.median(ratios):.3g}.")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("collections", nargs="*", metavar="NAME=FOLDER[:PATTERN,...]")
    parser.add_argument("--only", default="", help="only paths that contain this")
    parser.add_argument("--probe", default="", help="program test_motion_articulated_models")
    parser.add_argument("--states", type=int, default=20, help="random states for accelerations")
    parser.add_argument("--robots", type=int, default=256, help="for speed; 0: not measured")
    parser.add_argument("--seconds", type=float, default=1.0, help="MuJoCo's turn, for speed")
    parser.add_argument("--timeout", type=float, default=300.0, help="[s] for each file")
    parser.add_argument("--require", action="store_true",
                        help="exit with 1 where a file does not load whole or nobody knows why it "
                             "differs")
    parser.add_argument("--json", default="", help="file for the rows, one object per line")
    parser.add_argument("--table", default="",
                        help="file for the table of single robots, which is not printed then")
    parser.add_argument("--rows", action="append", default=[], metavar="JSON",
                        help="rows of an earlier run, first in the table")
    parser.add_argument("--one", default="", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(one(options)))
        return 0
    rows = []
    for path in options.rows:
        with open(path, encoding="utf-8") as file:
            rows += [(row.pop("robot"), row) for row in map(json.loads, file)]
    with contextlib.ExitStack() as stack:
        kept = None
        if options.json:
            kept = stack.enter_context(open(options.json, "w", encoding="utf-8"))
        for collection in options.collections:
            for name, place, path in files_of(collection):
                if options.only not in path:
                    continue
                row = ask(options, path)
                if row.get("n") == 0 or row.get("mujoco", "yes") != "yes":
                    continue  # a part of other files
                rows.append((f"{name}/{place}", row))
                print("| " + " | ".join(cells(*rows[-1])) + " |", file=sys.stderr, flush=True)
                if kept:
                    kept.write(json.dumps({"robot": rows[-1][0], **row}) + "\n")
                    kept.flush()
    if options.table:
        with open(options.table, "w", encoding="utf-8") as file:
            file.write(table(rows) + "\n")
        print(counts(rows), summary(rows), sep="\n\n")
    else:
        print(counts(rows), table(rows), summary(rows), sep="\n\n")
    wrong = [name for name, row in rows if row["loads"] != "yes" or not excused(name, row)]
    if options.require:
        print("\n".join(f"falls short: {name}" for name in wrong))
    return 1 if options.require and (wrong or not rows) else 0


if __name__ == "__main__":
    sys.exit(main())
