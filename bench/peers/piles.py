#!/usr/bin/env python3
"""Boxes that fall into a bin: Mayfly and MuJoCo on the same file, one thread each, in turns.

usage: piles.py [--groups] [--seconds S] [--repeats N] [--mayfly COMMAND] [--keep FOLDER] [COUNT...]

COUNT boxes (27 125 343 1000) with random attitudes fall into a bin and settle, steps of 2 ms. Both
run from the start for S seconds (1), N times (3) by turns; the least time counts. The last columns
say where the pile is at the end: the height of its center of mass.

--groups: the boxes have one attitude and regular places, and are a group of robots in a scene of
Mayfly's instead of one file.
"""

import argparse
import json
import os
import random
import subprocess
import tempfile
import time

import mujoco

STEP = 0.002
SIDE, GAP, RISE = 0.08, 0.125, 0.12  # [m] of a box, between columns and layers


HALF = 0.04  # [m] half of a box's edge
TILT = (0.8, 0.36, -0.48, 0.0)  # attitude of the boxes of groups
BOX = '<geom type="box" size=".04 .04 .04" mass=".2"/>'


def across_of(count):
    return round(count ** (1 / 3) + 0.499)


def walls_of(count):
    across = across_of(count)
    inner, height = GAP * across / 2 + 0.06, RISE * across + 0.3
    for sign in (-1, 1):
        at, wide, half = sign * (inner + 0.02), inner + 0.04, height / 2
        yield f'<geom type="box" pos="{at} 0 {half}" size=".02 {wide} {half}"/>'
        yield f'<geom type="box" pos="0 {at} {half}" size="{wide} .02 {half}"/>'


def write_file(path, count, bodies):
    head = f'<mujoco model="pile of {count}"><option timestep="{STEP}"/><worldbody>'
    with open(path, "w") as file:
        file.write("\n".join([head, *walls_of(count), *bodies, "</worldbody></mujoco>\n"]))


def write_pile(path, count, regular=False):
    across = across_of(count)
    rng = random.Random(count)
    lines = ['<geom type="plane" size="5 5 .1"/>']
    for i in range(count):
        x, y, z = i % across, i // across % across, i // across**2
        shift = [0, 0] if regular else [rng.uniform(-0.01, 0.01) for _ in range(2)]
        x = (x - (across - 1) / 2) * GAP + shift[0]
        y = (y - (across - 1) / 2) * GAP + shift[1]
        euler = " ".join(f"{rng.uniform(0, 90):.3f}" for _ in range(3))
        attitude = f'quat="{" ".join(map(str, TILT))}"' if regular else f'euler="{euler}"'
        lines.append(
            f'<body pos="{x:.4f} {y:.4f} {SIDE + RISE * z:.4f}" {attitude}><freejoint/>{BOX}</body>'
        )
    write_file(path, count, lines)


def write_groups(folder, count):
    """The same of regular places as a scene; returns its path."""
    across = across_of(count)
    write_file(os.path.join(folder, "bin.xml"), count, [])
    box = os.path.join(folder, "box.xml")
    with open(box, "w") as file:
        file.write(
            f'<mujoco model="box"><option timestep="{STEP}"/><worldbody><body><freejoint/>{BOX}'
            "</body></worldbody></mujoco>\n"
        )
    path = os.path.join(folder, "pile.yaml")
    with open(path, "w") as file:
        file.write(f"""\
name: Pile
world: {{step: {STEP}}}
ground: {{shape: flat}}
groups:
  - name: bin
    model: bin.xml
    contact: {{others: true}}
  - name: boxes
    model: box.xml
    count: {count}
    contact: {{others: true}}
    placement:
      grid:
        center: [0, 0, {SIDE - HALF}] # the lowest point of an upright box
        spacing: [{GAP}, {GAP}, {RISE}]
        columns: {across}
        layers: {across}
    initial: [{{property: base.orientation, values: {list(TILT)}}}]
""")
    return path


def run_mujoco(path, steps):
    model = mujoco.MjModel.from_xml_path(path)
    data = mujoco.MjData(model)
    begin = time.perf_counter()
    for _ in range(steps):
        mujoco.mj_step(model, data)
    wall = time.perf_counter() - begin
    return wall, {"center": data.subtree_com[0][2], "contacts": data.ncon}


def run_mayfly(command, path, steps):
    done = subprocess.run(
        [command, "run", path, "--duration", str(steps * STEP), "--threads", "1", "--json"],
        check=True,
        capture_output=True,
        text=True,
    )
    found = json.loads(done.stdout)
    boxes = found["groups"][-1]
    return found["wall_seconds"], {"center": boxes["center_height"], "warnings": boxes["warnings"]}


def main():
    root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1].removeprefix("usage: "))
    parser.add_argument("counts", nargs="*", type=int, default=[27, 125, 343, 1000])
    parser.add_argument("--groups", action="store_true")
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--mayfly", default=os.path.join(root, "build", "mayfly"))
    parser.add_argument("--keep")
    options = parser.parse_args()
    steps = round(options.seconds / STEP)
    print(
        "| boxes | contacts | MuJoCo | Mayfly | ratio | center, MuJoCo | center, Mayfly | warnings |"
    )
    print("|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as work:
        for count in options.counts:
            path = os.path.join(options.keep or work, f"pile_{count}.xml")
            write_pile(path, count, options.groups)
            scene = write_groups(options.keep or work, count) if options.groups else path
            theirs, ours = [], []
            for _ in range(options.repeats):
                theirs.append(run_mujoco(path, steps))
                ours.append(run_mayfly(options.mayfly, scene, steps))
            slow, quick = min(t[0] for t in theirs) / steps, min(t[0] for t in ours) / steps
            names = ", ".join(ours[0][1]["warnings"]) or "none"
            print(
                f"| {count} | {theirs[0][1]['contacts']} | {slow * 1e3:.3g} ms | {quick * 1e3:.3g} ms "
                f"| {slow / quick:.2f} | {theirs[0][1]['center']:.4f} m "
                f"| {ours[0][1]['center']:.4f} m | {names} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
