"""Writes the results of precision.py: the tables between the markers of docs/studies/precision.md
and of precision.md beside this file, and the plot. The rest of these pages is written by hand."""
import math
import os
import re

import precision_plot

# scene, error [m] of the table of equal errors
GOALS = [("figure", 1e-2), ("figure", 2e-3), ("box", 2e-3), ("ball", 2e-4), ("stack", 2e-3),
         ("trot", 1e-2), ("trot", 2e-3), ("tumbler", 2e-3), ("tumbler", 1e-7)]
PEERS = ["MuJoCo Euler", "MuJoCo implicitfast", "MuJoCo RK4"]


def small(value):
    """1.2e-03 in decimal notation."""
    mantissa, exponent = f"{value:.1e}".split("e")
    return f"{mantissa}e{int(exponent)}"


def time(cost):
    """Microseconds to three digits."""
    return f"{1e6 * cost:,.0f}" if cost >= 1e-4 else f"{1e6 * cost:.3g}"


def error(cell):
    return small(cell["error"]) if cell["good"] else "fails"


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def scene_table(scene):
    """Errors [m], then costs [us per simulated second]."""
    ours = scene["variants"]
    head = ["step, ms"] + [f"{name}" for name in ours] + [f"{ours[0]}, float"] + PEERS
    rows = []
    for step, cells in scene["steps"].items():
        names = list(ours) + [f"{ours[0]}, float batch"] + PEERS
        rows.append([f"{int(step) * 1e-6:g}"] + [error(cells[name]) for name in names])
    costs = ["step, ms"] + [name for first in ours[:2] for name in (
        first, f"{first}, 1,024 double", f"{first}, 1,024 float")] + ["MuJoCo Euler", "MuJoCo RK4"]
    cost_rows = []
    for step, cells in scene["steps"].items():
        names = [name for first in ours[:2]
                 for name in (first, f"{first}, double batch", f"{first}, float batch")]
        names += ["MuJoCo Euler", "MuJoCo RK4"]
        cost_rows.append([f"{int(step) * 1e-6:g}"] + [time(cells[name]["cost"])
                                                      for name in names])
    return (f"## {scene['title'].capitalize()}\n\nError [m]:\n\n{table(head, rows)}\n\n"
            f"Cost [µs of processor time per simulated second and robot]:\n\n"
            f"{table(costs, cost_rows)}\n")


def cost_at(scene, name, goal):
    """Cost at which the curve first reaches `goal`, by linear interpolation of logarithms; None
    if it does not."""
    before = None
    for cells in reversed(scene["steps"].values()):
        cell = cells[name]
        if cell["good"] and cell["error"] <= goal:
            if before is None:
                return cell["cost"]
            part = math.log(before["error"] / goal) / math.log(before["error"] / cell["error"])
            return before["cost"] * (cell["cost"] / before["cost"]) ** part
        before = cell if cell["good"] else None
    return None


def cheapest(scene, names, goal):
    found = [(cost, name) for name in names
             if (cost := cost_at(scene, name, goal)) is not None]
    return min(found) if found else None


def equal_errors(numbers):
    rows = []
    for key, goal in GOALS:
        scene = numbers["scenes"][key]
        alone = cheapest(scene, scene["variants"], goal)
        batch = cheapest(scene, [f"{name}, {kind} batch" for name in scene["variants"][:2]
                                 for kind in ("double", "float")], goal)
        peer = cheapest(scene, PEERS, goal)
        row = [scene["title"], small(goal)]
        for found in (alone, batch, peer):
            row.append("not reached" if found is None else
                       f"{time(found[0])} ({found[1].replace(' batch', '').replace('MuJoCo ', '')})")
        for found in (alone, batch):
            row.append("" if found is None or peer is None else f"{float(f'{peer[0] / found[0]:.2g}'):g}")
        rows.append(row)
    return table(["scene", "error, m", "Mayfly, one robot, µs", "in a batch, µs", "MuJoCo, µs",
                  "MuJoCo over one robot", "over batch"], rows)


def scenes(numbers):
    return "\n".join(scene_table(scene) for scene in numbers["scenes"].values())


def exact(numbers):
    parts = []
    for name in ("box", "ball"):
        scene = numbers["scenes"][name]
        columns = ["compliant", "hard", "MuJoCo Euler", "MuJoCo RK4"]
        rows = [[f"{scene['title']}, {int(step) * 1e-6:g} ms"] +
                [small(cells[column]["exact"]) for column in columns]
                for step, cells in scene["steps"].items()]
        rows.append([f"{scene['title']}, 0.005 ms"] +
                    [small(scene["limit"][key]) for key in ("compliant", "hard")] +
                    ["", small(scene["limit"]["MuJoCo"])])
        parts += rows
    return table(["distance to the exact path, m"] + columns, parts)


def apart(numbers):
    rows = []
    for scene in numbers["scenes"].values():
        first, second = scene["variants"][:2]
        rows.append([scene["title"], f"{first}, {second}", small(scene["apart"]["each other"]),
                     small(scene["apart"][first]), small(scene["apart"][second])])
    return table(["runs at 5 µs", "Mayfly's two", "from each other, m", "first from MuJoCo, m",
                  "second from MuJoCo, m"], rows)


def by_case(numbers, key, head, form):
    cases = numbers[key]
    columns = list(next(iter(cases.values())))
    return table([head] + columns,
                 [[name] + [form(row[column]) for column in columns]
                  for name, row in cases.items()])


def directions(numbers):
    return table(["36 directions", "shortest distance", "longest distance", "largest angle, degrees"],
                 [[name, f"{row['least']:.5f}", f"{row['most']:.5f}", small(row["angle"])]
                  for name, row in numbers["directions"].items()])


def blocks(numbers):
    return {
        "equal": equal_errors(numbers),
        "scenes": scenes(numbers),
        "exact": exact(numbers),
        "apart": apart(numbers),
        "depths": by_case(numbers, "depths", "depth at rest, mm", lambda a: f"{1e3 * a:.3g}"),
        "creep": by_case(numbers, "creep", "creep, mm/s", lambda a: f"{1e3 * a:.3g}"),
        "energy": by_case(numbers, "energy", "energy, largest change", small),
        "directions": directions(numbers),
    }


def replace_blocks(page, found):
    """Writes each block of `found` between its markers of a page."""
    with open(page, encoding="utf-8") as file:
        text = file.read()
    for name, block in found.items():
        pattern = rf"(<!-- {name}: [^\n]*-->\n).*?(<!-- end -->)"
        text, count = re.subn(pattern, lambda match, block=block: f"{match[1]}\n{block}\n\n"
                              f"{match[2]}", text, flags=re.DOTALL)
        if count != 1:
            raise SystemExit(f"{page}: expected one pair of markers of '{name}', found {count}")
    with open(page, "w", encoding="utf-8") as file:
        file.write(text)


def write(root, numbers):
    found = blocks(numbers)
    replace_blocks(os.path.join(root, "bench", "peers", "precision.md"),
                   {"scenes": found.pop("scenes")})
    replace_blocks(os.path.join(root, "docs", "studies", "precision.md"), found)
    picture = os.path.join(root, "docs", "images", "precision.svg")
    with open(picture, "w", encoding="utf-8") as file:
        file.write(precision_plot.draw(numbers))
