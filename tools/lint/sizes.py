#!/usr/bin/env python3
"""No function over 150 lines and no file over 800; files over 400 are named, without failing.

Leans on clang-format: a function starts at a line whose first character is not blank and ends at the
next `}` in the first column. Lines count from the first line of the signature to that `}`.

usage: sizes.py SOURCE_FOLDER [BUILD_FOLDER]
"""
import pathlib
import re
import sys

FUNCTION_LIMIT = 150  # lines
FILE_LIMIT = 800  # lines
FILE_WARNING = 400  # lines
FOLDERS = "include src apps bench examples python tests tools cmake".split()
SUFFIXES = {".c", ".h", ".py", ".sh", ".cmake"}
NOT_FUNCTION = re.compile(r"^(typedef|struct|enum|union|extern \"C\")\b|=")


def functions(lines):
    """Yields (number of the first line, count of lines, signature) of every function body."""
    start, signature, is_open = 0, "", False
    for number, line in enumerate(lines, 1):
        if is_open:
            if line.startswith("}"):
                yield start, number - start + 1, signature
                signature, is_open = "", False
            continue
        if not line or line[0] in "}#/":
            signature = ""
            continue
        if not signature:
            start = number
        signature = (signature + " " + line.strip()).strip()
        if line.endswith("{"):
            is_open = "(" in signature and not NOT_FUNCTION.search(signature)
            signature = signature if is_open else ""
        elif line.endswith((";", "}")):
            signature = ""


def check(path, complaints, warnings):
    lines = path.read_text(errors="replace").split("\n")
    if len(lines) - 1 > FILE_LIMIT:
        complaints.append(f"{path}: {len(lines) - 1} lines, the limit is {FILE_LIMIT}")
    elif len(lines) - 1 > FILE_WARNING:
        warnings.append(f"{path}: {len(lines) - 1} lines; aim at {FILE_WARNING}")
    if path.suffix not in (".c", ".h"):
        return
    for start, count, signature in functions(lines):
        if count > FUNCTION_LIMIT:
            name = re.search(r"(\w+)\(", signature)
            complaints.append(
                f"{path}:{start}: {name.group(1) if name else signature}: {count} lines, "
                f"the limit is {FUNCTION_LIMIT}"
            )


def main():
    root = pathlib.Path(sys.argv[1])
    paths = [path for folder in FOLDERS for path in sorted((root / folder).rglob("*"))]
    complaints, warnings = [], []
    for path in paths:
        if path.suffix in SUFFIXES and path.is_file():
            check(path, complaints, warnings)
    for line in warnings:
        print(f"warning: {line}")
    print("\n".join(complaints), end="\n" if complaints else "")
    sys.exit(1 if complaints else 0)


if __name__ == "__main__":
    main()
