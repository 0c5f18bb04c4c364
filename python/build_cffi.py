"""Makes the C source of the Python module from the public headers.

The preprocessor takes comments, includes and attributes out of the headers; what remains is what
cffi reads. Constants that are macros are found by asking the preprocessor for all of them. At
compile time cffi checks every type and function against the headers once more.
"""

from __future__ import annotations

import argparse
import pathlib
import re
import subprocess
import tempfile

import cffi

# What a plugin defines and no library does.
FOREIGN = re.compile(r"^extern const mf_PluginEntry mf_plugin_entry;", re.M)
# Known to cffi, so that the real files of the C library are not wanted.
STANDARD_HEADERS = ("stdbool.h", "stddef.h", "stdint.h")


def preprocess(compiler: str, source: str, folders: list[pathlib.Path], *options: str) -> str:
    with tempfile.TemporaryDirectory() as folder:
        for name in STANDARD_HEADERS:
            (pathlib.Path(folder) / name).touch()
        # Without __GNUC__ the headers leave out visibility and format attributes.
        command = [compiler, "-E", "-P", "-nostdinc", "-U__GNUC__", "-I", folder, *options]
        for include in folders:
            command += ["-I", str(include)]
        done = subprocess.run(
            [*command, "-x", "c", "-"], input=source, capture_output=True, text=True, check=False
        )
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)}:\n{done.stderr}")
    return done.stdout


def without_functions(declarations: str) -> str:
    """Takes out the functions that a header defines."""
    kept, place = "", 0
    for begin in re.finditer(r"^static inline [^;{]*\{", declarations, re.M):
        depth, end = 1, begin.end()
        while depth:
            depth += {"{": 1, "}": -1}.get(declarations[end], 0)
            end += 1
        kept += declarations[place : begin.start()]
        place = end
    return kept + declarations[place:]


def constants(macros: str) -> str:
    """`#define NAME ...` for every macro that is a whole number."""
    names = re.findall(r"^#define (MF_\w+) (?=[\w(])(?!MF_)", macros, re.M)
    return "".join(f"#define {name} ...\n" for name in sorted(set(names)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--include", required=True, type=pathlib.Path)
    parser.add_argument("--source", required=True, type=pathlib.Path)
    parser.add_argument("--glue", required=True, type=pathlib.Path)
    parser.add_argument("--out", required=True, type=pathlib.Path)
    arguments = parser.parse_args()

    headers = "#include <mayfly/mayfly.h>\n"
    for header in sorted((arguments.include / "mayfly").glob("*.h")):
        headers += f"#include <mayfly/{header.name}>\n"
    source = headers + f'#include "{arguments.glue.name}"\n'
    folders = [arguments.include, arguments.source, arguments.glue.parent]
    declarations = without_functions(preprocess(arguments.compiler, source, folders))
    macros = preprocess(arguments.compiler, source, folders, "-dM")

    ffi = cffi.FFI()
    ffi.cdef(constants(macros) + FOREIGN.sub("", declarations))
    ffi.set_source("mayfly._binding", source)
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    ffi.emit_c_code(str(arguments.out))


if __name__ == "__main__":
    main()
