"""Writes MuJoCo's schema of MJCF, as its package of the package index has it: one line for each element, its path and
then its attributes. `*` after a name: the element may be inside itself.

usage: mjcf_schema.py > mjcf_schema.txt
"""

import re

import mujoco


def main():
    print(f"# MJCF as MuJoCo {mujoco.__version__} reads it. Written by mjcf_schema.py.")
    path, names = [], []
    for line in mujoco.mj_printSchema(False, False).splitlines() + [None]:
        element = line and re.match(r"( *)(\S+) \((.)\) *(.*)", line)
        if (element or line is None) and path:
            print("/".join(path) + ":" + "".join(f" {name}" for name in names))
        if element:
            depth = len(element[1]) // 3
            name = element[2].replace("(world)body", "worldbody")
            if name == "worldbody":
                path = path[:depth] + ["worldbody", "body*"]
            else:
                above = path[: depth + (1 if path[1:2] == ["worldbody"] and depth > 1 else 0)]
                path = above + [name + ("*" if element[3] == "R" else "")]
            names = element[4].split()
        elif line:
            names += line.split()


if __name__ == "__main__":
    main()
