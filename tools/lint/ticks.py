#!/usr/bin/env python3
"""What a step leaves behind in memory outside of fields may not depend on when it was.

A restore sets the fields and the time of a world back; a cache that knows its step by number then
takes another history's for its own. So no member that outlives a step is compared with the number
or the time of a step: it is a flag that the step itself clears, or a count of steps left.

usage: ticks.py [ROOT]
"""
import pathlib
import re
import sys

STEP = r"(?:run|world|gap)->(?:tick|time)\b"
COMPARED = re.compile(rf"->\w+(?:\[[^\]]*\])?\s*(?:==|!=|<=|>=|<|>)\s*\(?{STEP}|{STEP}\)?(?:\s*\+\s*1)?\s*(?:==|!=|<=|>=|<|>)\s*\w+(?:->|\.)\w+")
NUMBER = re.compile(rf"\b(\w+)\s*=\s*[^;]*{STEP}[^;]*;")
CLOCK = ("src/world/",)  # keeps the time itself; its schedule is set anew by a restore


def faults(path, text):
    names = {match[1] for match in NUMBER.finditer(text)} - {"run"}
    local = "|".join(re.escape(name) for name in names)
    for number, line in enumerate(text.splitlines(), 1):
        if COMPARED.search(line) or (
            local and re.search(rf"(?<![-+] )\b\w+->\w+(?:\[[^\]]*\])?\s*(?:==|!=|<=|>=)\s*(?:{local})\b(?!->)", line)
        ):
            yield f"{path}:{number}: compares a member with the number of a step: {line.strip()}"


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    found = []
    for path in sorted((root / "src").rglob("*.[ch]")):
        name = path.relative_to(root).as_posix()
        if not name.startswith(CLOCK):
            found += faults(name, path.read_text())
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
