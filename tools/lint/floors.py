#!/usr/bin/env python3
"""A room includes only its own headers and those of rooms on lower floors.

The floors are those of docs/explanation/concepts.md. Public headers (<mayfly/...>) may be included everywhere.
Systems (motion, sensors, controllers) are written against the group, so they may include
world/attach.h although the world stands above them; docs/explanation/decisions.md says so. Importers belong to
the tools library: nothing of the core may include them.

usage: floors.py SOURCE_FOLDER [BUILD_FOLDER]
"""
import pathlib
import re
import sys

FLOORS = {
    "base": 0,
    "math": 1,
    "model": 2,
    "tree": 2,
    "terrain": 3,
    "contact": 3,
    "sense": 4,
    "control": 4,
    "motion": 4,
    "world": 5,
    "interaction": 7,
    "camera": 7,
    "message": 7,
    "dynamics": 6,
    "io": 6,
    "search": 6,
    "scene": 7,
    "environment": 8,
    "evaluate": 8,
    "print": 8,
    "record": 8,
    "script": 8,
    "view": 8,
    "link": 8,
    "client": 7,
    "apps": 9,
}
TOOLS_FLOOR = 6
EXCEPTIONS = {(room, "world/attach.h") for room in ("motion", "sense", "control")}
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"')


def complaint_about(room, is_importer, header):
    """What is wrong with a file of `room` including "header", or None."""
    parts = pathlib.PurePosixPath(header).parts
    if ".." in parts:
        return "leave the folder by its name from src/, not by .."
    if len(parts) == 1 or (room, header) in EXCEPTIONS:
        return None
    if parts[0] not in FLOORS:
        return "is no room of the house (tools/lint/floors.py)"
    if "import" in parts and not is_importer and FLOORS[room] < TOOLS_FLOOR:
        return "belongs to the tools library, this file to the core"
    if parts[0] != room and FLOORS[parts[0]] >= FLOORS[room]:
        return f"is on floor {FLOORS[parts[0]]}, {room} on {FLOORS[room]}"
    return None


def check(root):
    complaints = []
    for folder in ("src", "apps"):
        for path in sorted((root / folder).rglob("*.[ch]")):
            inner = path.relative_to(root / folder).parts
            room = "apps" if folder == "apps" else inner[0]
            if room not in FLOORS:
                complaints.append(f"{path}:1: {room} is no room of the house")
                continue
            for number, line in enumerate(path.read_text(errors="replace").split("\n"), 1):
                match = INCLUDE.match(line)
                text = complaint_about(room, "import" in inner, match[1]) if match else None
                if text:
                    complaints.append(f'{path}:{number}: "{match[1]}" {text}')
    return complaints


def main():
    complaints = check(pathlib.Path(sys.argv[1]))
    print("\n".join(complaints), end="\n" if complaints else "")
    sys.exit(1 if complaints else 0)


if __name__ == "__main__":
    main()
