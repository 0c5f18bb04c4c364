#!/usr/bin/env python3
"""What different bodies in one batch cost: as many scaled hexapods as robots of one hexapod.

Each is a hexapod whose lengths and masses are scaled, walks by an oscillator of its own, and lives
for some seconds; set-up counts. Prints one JSON object per line: the least times of one body and of
different ones by the clock and of all threads together, and how many times as long the latter take.
`world` adds one group of all models to a World, and `evaluate` is mayfly.evaluate.

usage: bodies.py [--bodies N] [--seconds S ...] [--motions M ...] [--rounds N] [--isa I]
"""

import argparse
import json
import pathlib
import re
import time

import mayfly
import numpy as np

HEXAPOD = pathlib.Path(__file__).resolve().parent.parent / "models" / "hexapod.urdf"
LENGTHS = re.compile(r'\b(xyz|size|length)="([^"]*)"')
MASSES = re.compile(r'\b(value|i[xyz][xyz])="([^"]*)"')


def scaled(text: str, scale: float) -> str:
    """The file of a robot of other size and the same density; radii stay, since spheres above 5 mm
    are more than a point."""

    def by(factor: float):
        return lambda found: '{}="{}"'.format(
            found[1], " ".join(f"{float(value) * factor:.17g}" for value in found[2].split())
        )

    axes: list[str] = []

    def put_axis_away(found: re.Match) -> str:
        axes.append(found[0])
        return f"@{len(axes) - 1}@"

    text = re.sub(r"<axis [^>]*>", put_axis_away, text)
    text = LENGTHS.sub(by(scale), text)
    text = re.sub(r"<mass [^>]*>", lambda found: MASSES.sub(by(scale**3), found[0]), text)
    text = re.sub(r"<inertia [^>]*>", lambda found: MASSES.sub(by(scale**5), found[0]), text)
    return re.sub(r"@(\d+)@", lambda found: axes[int(found[1])], text)


def waves(count: int, seed: int = 1) -> np.ndarray:
    """Oscillators in the unit cube, of small amplitude."""
    unit = np.random.default_rng(seed).uniform(0.4, 0.6, (count, 55))
    unit[:, 1::3] = 0.3
    unit[:, 2::3] = np.random.default_rng(seed + 1).uniform(0, 1, (count, unit[:, 2::3].shape[1]))
    return unit


def in_world(models, unit, seconds, motion, isa):
    """Adds one group of all models, at `points` one for each number of mass points."""
    share, sets = len(unit) // len(models), {}
    for i, model in enumerate(models):
        sets.setdefault(model._use().point_count if motion == "points" else 0, []).append(i)
    with mayfly.World(isa=isa) as world:
        for points, some in sets.items():
            own = [models[i] for i in some for _ in range(share)]
            rows = [i * share + k for i in some for k in range(share)]
            more = {"name": f"of {points}", "motion": motion, "controller": "oscillator"}
            one = len(models) == 1
            group = world.add_group(*((models[0], share) if one else (own,)), **more)
            mayfly.Oscillators.from_unit(unit[rows], models[0] if one else own).start(group)
        world.step(round(seconds / 0.01))
        return np.concatenate([g["base.position"].read() for g in world.groups])


def by_evaluate(models, unit, seconds, motion, isa):
    share = len(unit) // len(models)
    batches = [
        mayfly.Oscillators.from_unit(unit[i * share : (i + 1) * share], model)
        for i, model in enumerate(models)
    ]
    return mayfly.evaluate(models, batches, seconds, motion=motion).fitness


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--bodies", type=int, default=256)
    parser.add_argument("--seconds", type=float, nargs="+", default=[2.0, 10.0])
    parser.add_argument("--motions", nargs="+", default=["points", "articulated"])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--isa", default="auto", help="of `world`; MAYFLY_ISA sets that of both")
    options = parser.parse_args()
    text = HEXAPOD.read_text()
    scales = np.linspace(0.8, 1.2, options.bodies)
    begin = time.perf_counter()
    bodies = [mayfly.Model.from_string(scaled(text, scale)) for scale in scales]
    parsed = time.perf_counter() - begin
    one, unit = mayfly.Model.from_file(str(HEXAPOD)), waves(options.bodies)
    print(json.dumps({"bodies": options.bodies, "parsed_ms": 1e3 * parsed / options.bodies}))
    for motion in options.motions:
        for seconds in options.seconds:
            for name, run in (("world", in_world), ("evaluate", by_evaluate)):
                took: dict[str, list[tuple[float, float]]] = {"one": [], "many": []}
                for _ in range(options.rounds):
                    for kind, models in (("one", [one]), ("many", bodies)):
                        begin = time.perf_counter(), time.process_time()
                        run(models, unit, seconds, motion, options.isa)
                        end = time.perf_counter(), time.process_time()
                        took[kind].append((end[0] - begin[0], end[1] - begin[1]))
                row = {"by": name, "motion": motion, "seconds": seconds}
                for i, clock in enumerate(("wall", "cpu")):
                    least = {kind: 1e3 * min(t[i] for t in took[kind]) for kind in took}
                    row |= {f"{kind}_{clock}_ms": round(least[kind], 2) for kind in least}
                    row[f"times_{clock}"] = round(least["many"] / least["one"], 2)
                print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
