#!/usr/bin/env python3
"""A public function has a caller outside of the library: an example, Python, an application, a bench
or a bridge. What nobody calls is internal, or has no example that shows it.

usage: callers.py SOURCE_FOLDER [BUILD_FOLDER]
"""
import pathlib
import re
import sys

CALLERS = ("apps", "bench", "bridges", "examples", "python")
MOST = 500  # [1] public functions
DECLARATION = re.compile(r"MF_API[^;{]*?\b(mf_\w+)\(")
NAME = re.compile(r"\bmf_\w+")


def main():
    root = pathlib.Path(sys.argv[1])
    public = {}
    for path in sorted((root / "include").rglob("*.h")):
        text = path.read_text(errors="replace")
        for match in DECLARATION.finditer(text):
            public[match[1]] = f"{path}:{text.count(chr(10), 0, match.start(1)) + 1}"
    called = set()
    for folder in CALLERS:
        for path in (root / folder).rglob("*"):
            if path.suffix in (".c", ".h", ".py") and "tests" not in path.relative_to(root).parts:
                called.update(NAME.findall(path.read_text(errors="replace")))
    complaints = [
        f"{place}: {name} has no caller in {', '.join(CALLERS)}"
        for name, place in public.items()
        if name not in called
    ]
    if len(public) > MOST:
        complaints.append(f"{root / 'include'}: {len(public)} public functions, at most {MOST}")
    print("\n".join(complaints), end="\n" if complaints else "")
    sys.exit(1 if complaints else 0)


if __name__ == "__main__":
    main()
