#!/usr/bin/env python3
"""The table bench/ladder.md of docs/explanation/ladder.md: three robots with their gaits, every level
against articulated.

Runs `mayfly compare` for each and prints Markdown; with --write it puts the table between the marks
of the document. The costs need a quiet machine.

usage: ladder.py MAYFLY [--write bench/ladder.md] [--duration S]
"""
import argparse
import json
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
GAITS = {
    "hexapod.urdf": [("tripod", "0.1,0,0"), ("ripple", "0.05,0,0"), ("wave", "0.03,0,0")],
    "quadruped.urdf": [("trot", "0.15,0,0"), ("crawl", "0.05,0,0"), ("amble", "0.1,0,0")],
    "humanoid.urdf": [
        ("walk", "0.1,0,0"),
        ("walk", "0,0,0.3"),
        ("walk_slow", "0.05,0,0"),
        ("march", "0,0,0"),
        ("kick_left", "0,0,0"),
        ("fall_front", "0,0,0"),
    ],
}
BEGIN, END = "<!-- ladder: begin -->\n", "<!-- ladder: end -->"
HEAD = """| gait | level | forward m | yaw rad | position m | heading rad | height mm | tilt rad \
| energy J | deepest mm | slip mm/s | cost ns | result |
|---|---|---|---|---|---|---|---|---|---|---|---|---|
"""


def number(value, scale=1.0, digits=3):
    return "-" if value is None else f"{scale * value:.{digits}f}"


def seen(row):
    if not row["finished"]:
        return f"fault {row['fault']}"
    return "stays up" if row["fell"] is None else f"fell at {row['fell']:.2f} s"


def rows(mayfly, robot, gait, command, duration):
    lines = subprocess.run(
        [mayfly, "compare", str(ROOT / "models" / robot), "--gait", gait, "--command", command,
         "--duration", str(duration), "--step", "0.001", "--threads", "1", "--json"],
        check=True, capture_output=True, text=True).stdout.splitlines()
    title = f"{robot.split('.')[0]} {gait}" + ("" if command == "0,0,0" else f" {command}")
    for line in lines:
        row = json.loads(line)
        if row.get("done"):
            continue
        if not row["possible"]:
            yield f"| {title} | {row['motion']} | {row['reason']} |" + " |" * 10
        else:
            yield "| " + " | ".join([
                title, row["motion"], number(row["forward"]), number(row["turned"]),
                number(row["position_error"]), number(row["heading_error"]),
                number(row["height_error"], 1e3, 1), number(row["tilt_error"]),
                number(row["energy_error"], 1.0, 2), number(row["penetration"], 1e3, 2),
                number(row["slip"], 1e3, 1), number(row["seconds_per_step"], 1e9, 0), seen(row),
            ]) + " |"
        title = ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("mayfly")
    parser.add_argument("--write")
    parser.add_argument("--duration", type=float, default=10.0)
    options = parser.parse_args()
    table = HEAD
    for robot, gaits in GAITS.items():
        for gait, command in gaits:
            for row in rows(options.mayfly, robot, gait, command, options.duration):
                table += row + "\n"
    if not options.write:
        print(table, end="")
        return
    path = pathlib.Path(options.write)
    page = path.read_text(encoding="utf-8")
    start, stop = page.index(BEGIN) + len(BEGIN), page.index(END)
    path.write_text(page[:start] + table + page[stop:], encoding="utf-8")


if __name__ == "__main__":
    main()
