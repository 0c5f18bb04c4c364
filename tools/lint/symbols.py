#!/usr/bin/env python3
"""The libraries hold no mutable global, export only mf_ names, and never exit, print or jump away.

Reads the symbol and section tables of libmayfly.a and libmayfly-tools.a with readelf. Mutable is
every object in a section that stays writable: .data, .bss, .tdata, .tbss and their kin, and COMMON.
Constant tables of addresses lie in .data.rel.ro, which the loader closes after relocation, and are
fine. A longjmp is fine beside its setjmp, in the same object file: libpng reports errors that way. The
core library may also not call the mathematical library, so that its bits are its own. No name is
defined twice: of two members of an archive with the same name the linker takes one and says nothing.

usage: symbols.py SOURCE_FOLDER BUILD_FOLDER
"""
import pathlib
import re
import subprocess
import sys

ENDS = {"exit", "_exit", "_Exit", "quick_exit", "abort"}
JUMPS = {"longjmp", "_longjmp", "siglongjmp", "__longjmp_chk"}
LANDINGS = {"setjmp", "_setjmp", "__sigsetjmp", "sigsetjmp"}
PRINTS = {"printf", "__printf_chk", "vprintf", "puts", "putchar", "perror", "stdout", "stderr"}
SHARED_STATE = {"rand", "srand", "random", "drand48", "strtok", "localtime", "gmtime", "setlocale"}
LIBM = {
    name + suffix
    for suffix in ("", "f", "l")
    for name in """sin cos tan asin acos atan atan2 sincos sinh cosh tanh exp exp2 expm1 log log2
        log10 log1p pow cbrt hypot fmod remainder fma floor ceil round trunc rint nearbyint lround
        ldexp erf tgamma lgamma""".split()
}
SECTION = re.compile(r"^ *\[ *(\d+)\] (\S+) +\S+ +[0-9a-f]+ [0-9a-f]+ ([0-9a-f]+) \w+ +([A-Za-z]*) ")


def members(archive):
    """Yields (object file, {index: (section, size, flags)}, rows of the symbol table)."""
    command = ["readelf", "--wide", "--sections", "--syms", str(archive)]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    for part in re.split(r"^File: ", text, flags=re.M)[1:]:
        lines = part.split("\n")
        sections = {}
        for match in filter(None, map(SECTION.match, lines)):
            sections[match[1]] = (match[2], int(match[3], 16), match[4])
        rows = [line.split() for line in lines if re.match(r"^ *\d+: [0-9a-f]{8}", line)]
        yield lines[0].rsplit("(", 1)[-1].rstrip(")"), sections, rows


def is_mutable(section):
    name, _, flags = section
    return "W" in flags and "A" in flags and not name.startswith(".data.rel.ro")


def check(archive, is_core, owners):
    """Complaints about one library; `owners` maps the global names seen so far to their place."""
    complaints = []

    def complain(member, text):
        complaints.append(f"{archive.name}({member}): {text}")

    count = 0
    for member, sections, rows in members(archive):
        count += 1
        named = set()
        undefined = {row[7] for row in rows if len(row) > 7 and row[6] == "UND"}
        forbidden = ENDS | PRINTS | SHARED_STATE | (LIBM if is_core else set())
        if not undefined & LANDINGS:
            forbidden |= JUMPS
        for name in sorted(undefined & forbidden):
            complain(member, f"calls {name}")
        for _, _, size, kind, binding, _, index, *rest in rows:
            name = rest[0].split("@")[0] if rest else ""
            if index == "UND":
                continue
            if binding in ("GLOBAL", "WEAK"):
                if not name.lower().startswith("mf_"):
                    complain(member, f"global symbol without the prefix mf_: {name}")
                if name in owners:
                    complain(member, f"defined twice: {name}, also in {owners[name]}")
                owners[name] = f"{archive.name}({member})"
            section = sections.get(index)
            is_object = kind in ("OBJECT", "TLS", "COMMON")
            if index == "COM" or (is_object and section and is_mutable(section)):
                named.add(index)
                complain(member, f"mutable global: {name} ({size} bytes)")
        for index, section in sections.items():
            if is_mutable(section) and section[1] > 0 and index not in named:
                complain(member, f"mutable data without a name in {section[0]}")
    if count == 0:
        complaints.append(f"{archive.name}: holds no object files")
    return complaints


def main():
    build = pathlib.Path(sys.argv[2])
    owners = {}
    complaints = check(build / "libmayfly.a", True, owners)
    complaints += check(build / "libmayfly-tools.a", False, owners)
    print("\n".join(complaints), end="\n" if complaints else "")
    sys.exit(1 if complaints else 0)


if __name__ == "__main__":
    main()
