#!/usr/bin/env python3
"""The work-precision study of docs/studies/precision.md: measurements, tables and plot.

Each scene runs at steps of 0.5 to 16 ms in Mayfly and in MuJoCo, from the same MJCF file. The
costs of a step are measured alternately; positions of bodies are compared with a run of the same
simulator at 5 us, 1/100 of the smallest step. MuJoCo's reference uses its Runge-Kutta method, to
which all of its integrators converge; Mayfly's has the same settings as the run.

usage: precision.py BENCH_PRECISION [NUMBERS.json]
       run_precision.sh prepares the environment and calls this. If NUMBERS.json exists, its numbers
       are written into the page without new measurements.
"""
import json
import os
import sys

import mujoco
import numpy as np

import precision_page
from precision_run import Scene, distance, mayfly, mujoco_run

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
STEPS = [500_000, 1_000_000, 2_000_000, 4_000_000, 8_000_000, 16_000_000]  # [ns]
FINE = 5_000     # [ns] step of the references
BATCH = 1024     # [1] robots of a batch
REPEATS = 10     # [1] of a single robot
GRAVITY = 9.81   # [m/s^2]

# A trot: hip and knee of each leg swing at 4 Hz, diagonal legs together, the knee a quarter of a
# turn before the hip. Legs: front left, front right, hind left, hind right.
TROT = tuple(wave for turn in (0.0, 0.5, 0.5, 0.0)
             for wave in ((0.9, 0.15, turn), (-1.8, 0.2, turn + 0.25)))


def model(name):
    return os.path.join(ROOT, "models", name)


SCENES = [
    # Until the trunk lands at 0.65 s, which multiplies every error by ten.
    Scene("figure", "falling figure", model("falling_figure.xml"), frames=10),
    Scene("box", "sliding box", model("sliding_box.xml"), friction=0.3),
    Scene("ball", "rolling ball", model("rolling_ball.xml"), friction=0.2),
    Scene("stack", "stack of four boxes", model("stack.xml")),
    Scene("trot", "trotting quadruped", model("trotter.xml"), friction=0.8, frequency=4.0,
          waves=TROT),
    Scene("tumbler", "tumbling tree", model("tumbler.xml")),
]
TOUCHING = {"compliant": {}, "hard": {"hard": 1}}
STACKED = TOUCHING | {"fixed": {"contact_time": 0.01}}  # softness of 10 ms at every step
TUMBLING = {"implicit": {}, "RK4": {"integrator": "rk4"}}
PEERS = ("Euler", "implicitfast", "RK4")


# ---- exact answers -----------------------------------------------------------------------------

def box_path(times):
    """Decelerates by mu g from 2 m/s until it stops."""
    until = np.minimum(times, 2.0 / (0.3 * GRAVITY))
    return 2.0 * until - 0.5 * 0.3 * GRAVITY * until ** 2


def ball_path(times):
    """Decelerates by mu g from 1 m/s until it rolls with 5/7 of that."""
    rolls = 2.0 / (7.0 * 0.2 * GRAVITY)
    until = np.minimum(times, rolls)
    return until - 0.5 * 0.2 * GRAVITY * until ** 2 + 5.0 / 7.0 * (times - until)


EXACT = {"box": box_path, "ball": ball_path}


def exact_error(scene, run):
    """Like distance(), along the path only [m]."""
    times = np.arange(1, scene.frames + 1) * scene.every * 1e-9
    return float(np.sqrt(((run.places[1:, 0, 0] - EXACT[scene.name](times)) ** 2).mean()))


# ---- work and precision ------------------------------------------------------------------------

def row(scene, run, reference):
    return {"error": distance(run.places, reference.places), "cost": run.cost, "good": bool(run.good),
            "exact": exact_error(scene, run) if scene.name in EXACT else None}


def study_step(program, scene, step, variants, references, peer_reference):
    cells = {}
    for name, options in variants.items():
        run = mayfly(program, scene, step, REPEATS, **options)
        cells[name] = row(scene, run, references[name])
        if name == "fixed":
            continue
        for precision in ("double", "float"):
            batch = mayfly(program, scene, step, 1, robots=BATCH, precision=precision, **options)
            if precision == "double" and not np.array_equal(batch.places, run.places):
                raise SystemExit(f"{scene.name}, {name}: company changed the first robot")
            cells[f"{name}, {precision} batch"] = row(scene, batch, references[name])
    for name in PEERS:
        run = mujoco_run(scene, step, name, REPEATS)
        cells[f"MuJoCo {name}"] = row(scene, run, peer_reference)
    return cells


def study(program, scene):
    variants = {"tumbler": TUMBLING, "stack": STACKED}.get(scene.name, TOUCHING)
    references = {name: mayfly(program, scene, FINE, **options)
                  for name, options in variants.items()}
    peer_reference = mujoco_run(scene, FINE, "RK4")
    first = list(variants)[0]
    result = {"title": scene.title, "variants": list(variants), "steps": {}}
    result["apart"] = {name: distance(run.places, peer_reference.places)
                       for name, run in references.items()}
    result["apart"]["each other"] = distance(*(references[name].places
                                               for name in list(variants)[:2]))
    if scene.name in EXACT:
        result["limit"] = {name: exact_error(scene, run) for name, run in references.items()}
        result["limit"]["MuJoCo"] = exact_error(scene, peer_reference)
    for step in STEPS:
        result["steps"][step] = study_step(program, scene, step, variants, references,
                                           peer_reference)
        cell = result["steps"][step]
        print(f"{scene.name:8} {step * 1e-6:5.1f} ms  " + "  ".join(
            f"{name} {cell[name]['error']:.1e} m {cell[name]['cost']:.1e} s/s"
            for name in (first, "MuJoCo Euler")), file=sys.stderr, flush=True)
    return result


# ---- rest, energy, directions ------------------------------------------------------------------

def depths(program):
    """Penetration of bodies at rest on the floor [m]."""
    cases = {"box": (Scene("box", "", model("resting_box.xml"), friction=0.3), 0.05),
             "ball": (SCENES[2], 0.1), "lowest box of the stack": (SCENES[3], 0.05)}
    result = {}
    for name, (scene, height) in cases.items():
        for step in (1_000_000, 4_000_000, 16_000_000):
            runs = {"compliant": mayfly(program, scene, step),
                    "hard": mayfly(program, scene, step, hard=1),
                    "MuJoCo": mujoco_run(scene, step, "Euler")}
            result[f"{name}, {step // 1_000_000} ms"] = {
                key: height - float(run.places[-1, 0, 2]) for key, run in runs.items()}
    return result


def creep(program):
    """Speed of a block at rest on a slope of 20 degrees, mu 0.5, in the second second [m/s]."""
    slopes = {"level ground, gravity tilted": "incline_ground.xml",
              "slope, a box of the world": "incline.xml"}
    result = {}
    for name, file in slopes.items():
        scene = Scene("incline", "", model(file), friction=0.5, frames=32)
        for step in (1_000_000, 4_000_000, 16_000_000):
            runs = {"compliant": mayfly(program, scene, step),
                    "hard": mayfly(program, scene, step, hard=1),
                    "MuJoCo": mujoco_run(scene, step, "Euler"),
                    "MuJoCo elliptic": mujoco_run(scene, step, "Euler", cone="elliptic")}
            half = scene.frames // 2
            result[f"{name}, {step // 1_000_000} ms"] = {
                key: float(np.linalg.norm(run.places[-1, 0] - run.places[half, 0])) /
                (half * scene.every * 1e-9) for key, run in runs.items()}
    return result


def energy(program):
    """Largest change of the tumbling tree's energy within 10 s, over its energy [1]."""
    scene = Scene("tumbler", "", model("tumbler.xml"), frames=160)
    result = {}
    for step in (1_000_000, 4_000_000):
        runs = {name: mayfly(program, scene, step, integrator=name.lower())
                for name in ("implicit", "Euler", "RK4")}
        runs |= {f"MuJoCo {name}": mujoco_run(scene, step, name)
                 for name in ("Euler", "implicit", "RK4")}
        result[f"{step // 1_000_000} ms"] = {
            key: float(np.abs(run.energy / run.energy[0] - 1.0).max())
            for key, run in runs.items()}
    return result


def directions(program, step=2_000_000):
    """A box of 4 kg under 1.5 times the friction limit, in 36 directions, for half a second:
    distance relative to that of Coulomb's law, and angle to the force."""
    scene = Scene("push", "", model("resting_box.xml"), friction=0.3, frames=1,
                  every=512_000_000)
    push = 1.5 * 0.3 * 4.0 * GRAVITY
    way = 0.5 * (push / 4.0 - 0.3 * GRAVITY) * 0.512 ** 2
    runs = {"compliant": lambda force: mayfly(program, scene, step, force=force),
            "hard": lambda force: mayfly(program, scene, step, force=force, hard=1),
            "MuJoCo": lambda force: mujoco_run(scene, step, "Euler", force=force),
            "MuJoCo elliptic": lambda force: mujoco_run(scene, step, "Euler", force=force,
                                                        cone="elliptic")}
    result = {}
    for name, call in runs.items():
        ways, turns = [], []
        for angle in np.arange(36) * np.pi / 18 + 0.01:
            along = np.array([np.cos(angle), np.sin(angle), 0.0])
            moved = np.diff(call(push * along).places[:, 0], axis=0)[0]
            ways.append(float(np.hypot(moved[0], moved[1])) / way)
            turns.append(float(np.arctan2(along[0] * moved[1] - along[1] * moved[0],
                                          along @ moved)))
        result[name] = {"least": min(ways), "most": max(ways),
                        "angle": float(np.degrees(np.abs(turns).max()))}
    return result


def main():
    program, numbers = sys.argv[1], sys.argv[2]
    if not os.path.exists(numbers):
        result = {"mujoco": mujoco.__version__, "batch": BATCH,
                  "depths": depths(program), "creep": creep(program), "energy": energy(program),
                  "directions": directions(program),
                  "scenes": {scene.name: study(program, scene) for scene in SCENES}}
        with open(numbers, "w", encoding="utf-8") as file:
            json.dump(result, file, indent=1)
    with open(numbers, encoding="utf-8") as file:
        precision_page.write(ROOT, json.load(file))


if __name__ == "__main__":
    main()
