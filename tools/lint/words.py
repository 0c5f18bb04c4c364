#!/usr/bin/env python3
"""One word for one thing: names use the terms of docs/reference/glossary.md.

Fails on a file, or an identifier in code, with a part that is in WORDS. What is standard use of such
a word stands in ALLOWED with its reason; names of test cases are sentences and may use the word as
English. Comments and messages are not read: a word may be a verb there.

usage: words.py SOURCE_FOLDER [BUILD_FOLDER]
"""

import fnmatch
import pathlib
import re
import sys

FOLDERS = "src include apps python bridges unisim tests".split()
WORDS = {
    "room": "size, capacity or space",
    "rooms": "sizes",
    "mind": "policy",
    "minds": "policies",
    "sight": "render scene",
    "sights": "render scenes",
    "recall": "memory",
    "bundle": "package",
    "coach": "tactics",
    "craft": "vehicle",
    "crowd": "swarm, batch",
    "crowds": "swarms, batches",
    "poor": "inaccurate",
    "company": "other lanes",
    "spot": "point",
    "spots": "points",
    "wanted": "target, requested or expected",
    "meet": "touch, collide, intersect or mate",
    "meets": "touches, collides, intersects or mates",
    "meeting": "contact",
    "met": "touched, found",
    "told": "commanded, reported",
    "held": "fixed, constrained or sampled",
    "way": "direction, distance, path or method",
    "ways": "directions, methods",
    "turn": "rotation or angle",
    "turns": "rotations, revolutions",
    "turned": "rotated",
    "word": "name or text",
    "words": "names or text",
    "place": "position, index or slot",
    "places": "positions, slots",
}  # private word: terms of the field
ALLOWED = [  # (files, names, reason)
    ("*", r"\w*place_\w+|place", "a verb with its object: place_robot(), mf_scene_place_groups()"),
    (
        "*",
        r"_?(\w+_)?words?(_\w+)?|\w*Words|\w*WORDS?(_\w+)?",
        "32 or 64 bits: fault.word, random numbers, messages",
    ),
    ("*", r"line_of_sight", "the field's term of range sensors"),
    ("src/serve/*", r"\w*turns?(_\w+)?|\w*TURN|mf_Turn\w+", "of a client in lock-step: its term"),
    ("src/client/*", r"\w*turns?(_\w+)?|\w*TURN|mf_Turn\w+", "likewise"),
    ("include/mayfly/*", r"turns|Turn|(MF_ANSWER_)?TURN", "likewise"),
    ("apps/mayfly/serve*", r"turns", "likewise"),
    ("tests/serve/*", r"\w*turns?(_\w+)?|\w*TURN", "likewise"),
    (
        "python/*",
        r"\w*[Tt]urns?|(ANSWER_)?TURN|_?(in|await)_turn",
        "likewise, and of a thread that owns a native world",
    ),
    ("bridges/*", r"turns?|_turn", "likewise, and of a flight controller's lock-step"),
    ("bridges/tests/*", r"penalty_spot_distance", "the mark of a soccer field"),
    ("python/tests/*", r"test_\w+|TURNS", "sentences; times that something is done"),
    ("bridges/tests/*", r"test_\w+", "sentences"),
    ("*", r"(MF_EVENT_)?HELD", "an event of the protocol: a session is held"),
    ("tests/*", r"\w+", "of tests in C only the names of files are checked: locals may be English"),
]
TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
PYTHON = re.compile(r'"""(?:.*?)"""|#[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)


def parts(name):
    return [p.lower() for p in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name)]


def allowed(path, name):
    return any(
        fnmatch.fnmatch(path, files) and re.fullmatch(names, name) for files, names, _ in ALLOWED
    )


def identifiers(path, text):
    """Names in code, with the line of their first use."""
    blank = (PYTHON if path.endswith(".py") else TOKEN).sub(
        lambda m: "\n" * m.group(0).count("\n"), text
    )
    first = {}
    for number, line in enumerate(blank.split("\n"), 1):
        if path.endswith((".c", ".h")) and line.startswith("#include"):
            continue
        for name in re.findall(r"[A-Za-z_]\w*", line):
            first.setdefault(name, number)
    return first


def check(root, path):
    inside = str(path.relative_to(root))
    for part in parts(path.stem):
        if part in WORDS and not allowed(inside, path.stem):
            yield f"{path}: file name: {part!r} is private; say {WORDS[part]}"
    if path.suffix not in (".c", ".h", ".py"):
        return
    for name, number in identifiers(inside, path.read_text(encoding="utf-8")).items():
        for part in parts(name):
            if part in WORDS and not allowed(inside, name):
                yield f"{path}:{number}: {name}: {part!r} is private; say {WORDS[part]}"


def main():
    root = pathlib.Path(sys.argv[1])
    complaints = []
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.is_file() and not {"corpus", "data", "node_modules", "__pycache__"} & set(
                path.parts
            ):
                complaints += check(root, path)
    print("\n".join(complaints), end="\n" if complaints else "")
    sys.exit(1 if complaints else 0)


if __name__ == "__main__":
    main()
