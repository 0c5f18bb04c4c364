#!/usr/bin/env python3
"""A room calls only rooms below it, and includes only their headers.

The floors are those of docs/explanation/concepts.md. Includes are read from the text; calls, and
uses of another room's data, from the symbols of the objects of a build, so a function that is
declared elsewhere does not hide where it is. Public headers (<mayfly/...>) may be included
everywhere. Images, importers and exporters belong to the tools library: nothing of the core may
include them.

usage: floors.py SOURCE_FOLDER [BUILD_FOLDER]
"""
import pathlib
import re
import subprocess
import sys

# Bottom first; on one floor a room may use those that stand before it.
FLOORS = [
    ["base", "math"],
    ["image", "terrain", "model", "import", "export"],
    ["world"],
    ["multibody", "contact", "motion"],
    ["solve"],
    ["visual", "camera", "sense", "control", "agent"],
    ["io", "body", "search", "scene", "record"],
    ["view"],
    ["environment", "evaluate", "client", "engine", "serve"],
    ["apps"],
]
TOOLS = ["image", "import", "export"]  # of the tools library, though they stand so low
ORDER = {room: number for number, room in enumerate(sum(FLOORS, []))}
FLOOR = {room: number for number, rooms in enumerate(FLOORS) for room in rooms}
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"')


def complaint_about(room, header):
    """What is wrong with a file of `room` including "header", or None."""
    parts = pathlib.PurePosixPath(header).parts
    if ".." in parts:
        return "leave the folder by its name from src/, not by .."
    if len(parts) == 1:
        return None
    other = parts[0]
    if other not in ORDER:
        return "is no room of the house (tools/lint/floors.py)"
    if other != room and ORDER[other] > ORDER[room]:
        return f"is on floor {FLOOR[other]}, {room} on {FLOOR[room]}"
    if other in TOOLS and room not in TOOLS and FLOOR[room] < FLOOR["scene"]:
        return "belongs to the tools library, this file to the core"
    return None


def wrong_includes(root):
    for folder in ("src", "apps"):
        for path in sorted((root / folder).rglob("*.[ch]")):
            room = "apps" if folder == "apps" else path.relative_to(root / folder).parts[0]
            if room not in ORDER:
                yield f"{path}:1: {room} is no room of the house"
                continue
            for number, line in enumerate(path.read_text(errors="replace").split("\n"), 1):
                match = INCLUDE.match(line)
                text = complaint_about(room, match[1]) if match else None
                if text:
                    yield f'{path}:{number}: "{match[1]}" {text}'


def symbols(objects, option):
    """Pairs of an object and the name of a global symbol that it defines or lacks."""
    for start in range(0, len(objects), 500):
        command = ["nm", "-A", "-g", option, *map(str, objects[start : start + 500])]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        for line in done.stdout.splitlines():
            path, rest = line.split(":", 1)
            yield path, rest.split()[-1]


def wrong_calls(root, build):
    """Uses of symbols of higher rooms, by the objects of the libraries and of the command."""
    rooms, objects = {}, []
    for path in sorted(build.glob("CMakeFiles/*.dir/**/*.o")):
        parts = path.relative_to(build / "CMakeFiles").parts
        if parts[0].startswith(("test_", "fuzz_", "bench_")) or parts[1] not in ("src", "apps"):
            continue
        room = "apps" if parts[1] == "apps" else parts[2]
        source = "/".join(parts[1:])[: -len(".o")]
        if room in ORDER and (root / source).exists():  # else it is of an earlier build
            rooms[str(path)] = room, source
            objects.append(path)
    homes = {name: rooms[path] for path, name in symbols(objects, "--defined-only")}
    for path, name in symbols(objects, "--undefined-only"):
        room, source = rooms[path]
        home, where = homes.get(name, (room, ""))
        if ORDER[home] > ORDER[room]:
            yield f"{source}: calls {name} of {where}, floor {FLOOR[home]}; {room} is on {FLOOR[room]}"


def main():
    root = pathlib.Path(sys.argv[1])
    complaints = list(wrong_includes(root))
    build = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else "build")
    complaints += sorted(set(wrong_calls(root, build)))
    print("\n".join(complaints), end="\n" if complaints else "")
    sys.exit(1 if complaints else 0)


if __name__ == "__main__":
    main()
