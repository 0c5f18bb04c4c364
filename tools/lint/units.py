#!/usr/bin/env python3
"""Every numeric field of a public struct names its unit in brackets, such as `// [m/s] speed`.

Reads include/mayfly/*.h. A field is numeric when its type is an integer or floating type of C or
one of this library's (mf_Time, mf_BodyId, mf_JointId), also as an array or behind a pointer;
`const char *` is text, function pointers and other types need no unit. The unit stands in the
comment behind the field or in the comment lines straight above it.

usage: units.py SOURCE_FOLDER [BUILD_FOLDER]
"""
import pathlib
import re
import sys

NUMERIC = re.compile(
    r"\b(u?int(8|16|32|64)_t|size_t|ptrdiff_t|float|double|int|unsigned|long|short"
    r"|mf_Time|mf_BodyId|mf_JointId)\b"
)
BASE = (
    "1 m cm mm s ms us ns kg g N J W Pa K V A rad degree Hz byte % turn pixel".split()
)
UNIT = re.compile(r"\[([^\]]+)\]")


def is_unit(text):
    """kg m^2/s and the like: base units with whole powers, joined by blanks and slashes."""
    parts = re.split(r"[ /]", text)
    return all(re.sub(r"\^-?\d+$", "", part) in BASE for part in parts)


def has_unit(comment):
    return any(is_unit(text) for text in UNIT.findall(comment))


def structs(text):
    """Yields (name, line number of the body, lines of the body) of every struct with a body."""
    for match in re.finditer(r"^typedef struct (\w+) \{[^\n]*\n(.*?)^\} *\w+;", text, re.M | re.S):
        line = text.count("\n", 0, match.start(2)) + 1
        yield match.group(1), line, match.group(2).split("\n")


def check(path):
    complaints = []
    text = path.read_text()
    found = list(structs(text))
    if len(found) != len(re.findall(r"^[^/\n]*\bstruct\b[^;\n]*\{", text, re.M)):
        complaints.append(f"{path}:1: write every struct as `typedef struct mf_Name {{`, one level")
    for name, first_line, body in found:
        above, code, comment, code_line = "", "", "", 0
        for offset, line in enumerate(body):
            before, _, after = line.partition("//")
            if not before.strip():
                above = above + " " + after if after and not code else above
                continue
            code_line = code_line or first_line + offset
            code += " " + before.strip()
            comment += " " + after
            if ";" not in before:
                continue
            numeric = NUMERIC.search(code) and "(*" not in code
            if numeric and not has_unit(comment) and not has_unit(above):
                field = re.sub(r"\s+", " ", code).strip()
                complaints.append(f"{path}:{code_line}: {name}: no unit in brackets: {field}")
            above, code, comment, code_line = "", "", "", 0
    return complaints


def main():
    folder = pathlib.Path(sys.argv[1]) / "include" / "mayfly"
    headers = sorted(folder.glob("*.h"))
    if not headers:
        sys.exit(f"{folder}: no headers")
    complaints = [line for path in headers for line in check(path)]
    print("\n".join(complaints), end="\n" if complaints else "")
    sys.exit(1 if complaints else 0)


if __name__ == "__main__":
    main()
