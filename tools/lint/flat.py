#!/usr/bin/env python3
"""A flat image (src/base/flat.h) holds no pointer, however deep.

An image is copied to other memory, stored, or handed to a device as it is, so a pointer in it would
be wrong there. clang says what is in the structures that mf_flat_pack gets, and in those of ALSO: members,
members of members, and the elements of arrays, which are what the image's reader prefix_name
returns for the member name_at. Where there is no clang, this is said and nothing is checked.

usage: flat.py [ROOT] [BUILD_FOLDER]
"""
import json
import pathlib
import re
import shutil
import subprocess
import sys

# Images that are packed by hand: where they are known.
ALSO = {"mf_Tree": "src/multibody/tree.c", "mf_TerrainImage": "src/terrain/terrain.c"}
PLAIN = re.compile(
    r"^(_Bool|bool|char|signed char|unsigned char|short|unsigned short|int|unsigned int|long|"
    r"unsigned long|long long|unsigned long long|float|double|u?int(8|16|32|64)_t|size_t|"
    r"void)$"  # of arrays in the kernel's precision
)


def walk(node):
    """All nodes below one, itself too."""
    stack = [node]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(reversed(node.get("inner", [])))


def type_of(node):
    kind = node["type"]
    return kind.get("desugaredQualType", kind["qualType"])


def bare(name):
    """A type without const, and how many levels of pointers it had; arrays are their elements."""
    name = re.sub(r"\[[^]]*\]", "", name)
    name = re.sub(r"\b(const|volatile|struct|union|enum)\b", "", name)
    return name.replace("*", "").strip(), name.count("*") + name.count("(")


class Unit:
    """What clang says about one source file."""

    def __init__(self, tree):
        self.records, self.enums, self.readers, self.packed = {}, set(), {}, {}
        self.aliases = {}
        for node in walk(tree):
            self.take(node)

    def take(self, node):
        kind, name = node.get("kind"), node.get("name", "")
        if kind == "RecordDecl" and node.get("completeDefinition"):
            self.records[name or node["id"]] = node
        elif kind == "EnumDecl":
            self.enums.add(name)
        elif kind == "TypedefDecl":
            self.aliases[name] = type_of(node)
        elif kind == "FunctionDecl":
            given = [part for part in node.get("inner", []) if part["kind"] == "ParmVarDecl"]
            out = node["type"]["qualType"].split("(")[0].strip()
            if len(given) == 1 and out.endswith("*"):
                self.readers.setdefault(bare(type_of(given[0]))[0], {})[name] = out[:-1].strip()
        elif kind == "CallExpr":
            self.take_call(node)

    def take_call(self, node):
        callee, *arguments = node["inner"]
        names = {part.get("referencedDecl", {}).get("name") for part in walk(callee)}
        if "mf_flat_pack" not in names:
            return
        given = arguments[1]
        while given.get("kind") in ("ImplicitCastExpr", "ParenExpr"):
            given = given["inner"][0]
        self.packed[bare(type_of(given))[0]] = True

    def elements(self, image, array):
        """The type of an array's elements: what the image's reader of that name returns."""
        readers = self.readers.get(image, {})
        names = [name for name in readers if name.endswith("_" + array)]
        return readers[min(names, key=len)] if names else None  # the least prefix


def check_type(unit, name, where, seen, complaints):
    short, pointers = bare(name)
    if pointers > 0:
        complaints.append(f"{where} is a pointer ({name})")
        return
    if PLAIN.match(short) or short in unit.enums:
        return
    if short in unit.records:
        check_record(unit, short, where, seen, complaints)
    elif short in unit.aliases and unit.aliases[short] != name:
        check_type(unit, unit.aliases[short], where, seen, complaints)
    else:
        complaints.append(f"{where}: nothing is known of its type ({name})")


def check_record(unit, name, where, seen, complaints):
    if name in seen:
        return
    seen.add(name)
    for field in unit.records[name].get("inner", []):
        if field["kind"] in ("RecordDecl", "IndirectFieldDecl") or field["kind"] != "FieldDecl":
            continue
        member = field.get("name", "")
        check_type(unit, type_of(field), f"{where}.{member}", seen, complaints)
        if not member.endswith("_at"):
            continue
        elements = unit.elements(name, member[:-3])
        if elements is not None:
            check_type(unit, elements, f"{where}.{member[:-3]}[]", seen, complaints)
        elif name in unit.packed or name in ALSO:
            complaints.append(f"{where}.{member}: no reader says what the elements are")


def units(root, build, clang):
    """A source file that packs an image, and what clang says about it."""
    for source in sorted(root.glob("src/**/*.c")):
        short = str(source.relative_to(root))
        if short == "src/base/flat.c":
            continue
        if "mf_flat_pack(" not in source.read_text() and short not in ALSO.values():
            continue
        command = [clang, "-std=gnu17", "-fsyntax-only", "-Wno-everything", "-Xclang",
                   "-ast-dump=json", "-I", str(root / "src"), "-I", str(root / "include"), "-I",
                   str(build / "made"), str(source)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            print(f"{short}: {clang} does not compile it: {done.stderr.strip()[:200]}")
            continue
        yield short, Unit(json.loads(done.stdout))


def check(root, build, clang):
    complaints, images = set(), set()
    for source, unit in units(root, build, clang):
        names = set(unit.packed) | {name for name, home in ALSO.items() if home == source}
        if not names:
            complaints.add(f"{source}: the structure that mf_flat_pack gets was not found")
        for name in sorted(names):
            images.add(name)
            own = []
            if name not in unit.records:
                own.append(f"{name}: nothing is known of it")
            else:
                check_record(unit, name, name, set(), own)
            complaints.update(f"{source}: {line}" for line in own)
    if not images >= set(ALSO):
        complaints.add(f"flat.py: {', '.join(set(ALSO) - images)} not found")
    return sorted(complaints)


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    build = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else root / "build").resolve()
    clang = next((name for name in ("clang-14", "clang") if shutil.which(name)), None)
    if clang is None:
        print("warning: flat.py: no clang here: flat images are not checked")
        return 0
    complaints = check(root, build, clang)
    print("\n".join(complaints), end="\n" if complaints else "")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
