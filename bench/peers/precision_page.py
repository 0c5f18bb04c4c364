"""Writes what precision.py measured: the tables between the markers of docs/precision.md, and the
plot beside it. Everything else on that page is written by hand."""
import os
import re

import precision_plot

# columns of a scene's table: name of the cell, heading
COLUMNS = {
    "compliant": [("compliant", "compliant"), ("hard", "hard")],
    "implicit": [("implicit", "implicit"), ("RK4", "RK4")],
}


def small(value):
    """1.2e-03 as people write it."""
    mantissa, exponent = f"{value:.1e}".split("e")
    return f"{mantissa}e{int(exponent)}"


def error(cell):
    return small(cell["error"]) if cell["good"] else "fails"


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def scene_table(scene):
    """Errors [m], then costs [us per simulated second]."""
    ours = scene["variants"]
    peers = ["MuJoCo Euler", "MuJoCo implicitfast", "MuJoCo RK4"]
    head = ["step, ms"] + [f"{name}" for name in ours] + [f"{ours[0]}, float"] + peers
    rows = []
    for step, cells in scene["steps"].items():
        names = list(ours) + [f"{ours[0]}, float batch"] + peers
        rows.append([f"{int(step) * 1e-6:g}"] + [error(cells[name]) for name in names])
    costs = ["step, ms"] + [name for first in ours for name in (
        first, f"{first}, 1,024 double", f"{first}, 1,024 float")] + ["MuJoCo Euler", "MuJoCo RK4"]
    cost_rows = []
    for step, cells in scene["steps"].items():
        names = [name for first in ours
                 for name in (first, f"{first}, double batch", f"{first}, float batch")]
        names += ["MuJoCo Euler", "MuJoCo RK4"]
        cost_rows.append([f"{int(step) * 1e-6:g}"] +
                         [f"{1e6 * cells[name]['cost']:,.3g}".replace("e+03", "e3")
                          if cells[name]["cost"] < 1e-3 else f"{1e6 * cells[name]['cost']:,.0f}"
                          for name in names])
    return (f"### {scene['title'].capitalize()}\n\nError [m]:\n\n{table(head, rows)}\n\n"
            f"Cost [µs of processor time per simulated second and robot]:\n\n"
            f"{table(costs, cost_rows)}\n")


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
        first, second = scene["variants"]
        rows.append([scene["title"], f"{first}, {second}", small(scene["apart"]["each other"]),
                     small(scene["apart"][first]), small(scene["apart"][second])])
    return table(["runs at 5 µs", "here", "from each other, m", "first from MuJoCo, m",
                  "second from MuJoCo, m"], rows)


def by_case(numbers, key, head, form):
    cases = numbers[key]
    columns = list(next(iter(cases.values())))
    return table([head] + columns,
                 [[name] + [form(row[column]) for column in columns]
                  for name, row in cases.items()])


def directions(numbers):
    return table(["36 directions", "shortest way", "longest way", "largest angle, degrees"],
                 [[name, f"{row['least']:.5f}", f"{row['most']:.5f}", small(row["angle"])]
                  for name, row in numbers["directions"].items()])


def blocks(numbers):
    return {
        "scenes": scenes(numbers),
        "exact": exact(numbers),
        "apart": apart(numbers),
        "depths": by_case(numbers, "depths", "depth at rest, mm", lambda a: f"{1e3 * a:.3g}"),
        "creep": by_case(numbers, "creep", "creep, mm/s", lambda a: f"{1e3 * a:.3g}"),
        "energy": by_case(numbers, "energy", "energy, largest change", small),
        "directions": directions(numbers),
    }


def write(root, numbers):
    page = os.path.join(root, "docs", "precision.md")
    with open(page, encoding="utf-8") as file:
        words = file.read()
    for name, block in blocks(numbers).items():
        pattern = rf"(<!-- {name}: [^\n]*-->\n).*?(<!-- end -->)"
        words, count = re.subn(pattern, lambda found, block=block: f"{found[1]}\n{block}\n\n"
                               f"{found[2]}", words, flags=re.DOTALL)
        if count != 1:
            raise SystemExit(f"{page}: expected one place for '{name}', found {count}")
    picture = os.path.join(root, "docs", "images", "precision.svg")
    with open(picture, "w", encoding="utf-8") as file:
        file.write(precision_plot.draw(numbers))
    with open(page, "w", encoding="utf-8") as file:
        file.write(words)
