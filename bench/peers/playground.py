#!/usr/bin/env python3
"""MuJoCo Playground's scenes as folders that a simulator can read.

usage: playground.py PLAYGROUND MENAGERIE OUT

Playground hands its files to MuJoCo as one table of base names, its own and those of a robot of
Menagerie. This script writes each of its robots to a folder OUT/kind/robot that contains all its
files, with corrected paths.
"""
import pathlib
import re
import shutil
import sys

SOURCES = {  # robot of Playground: folders of Menagerie whose files its base.py reads
    "aero_hand": ["tetheria_aero_hand_open"],
    "aloha": ["aloha"],
    "apollo": ["apptronik_apollo"],
    "berkeley_humanoid": ["berkeley_humanoid"],
    "franka_emika_panda": ["franka_emika_panda"],
    "franka_emika_panda_robotiq": ["franka_emika_panda", "robotiq_2f85_v4"],
    "g1": ["unitree_g1"],
    "go1": ["unitree_go1"],
    "h1": ["unitree_h1"],
    "leap_hand": ["leap_hand"],
    "op3": ["robotis_op3"],
    "spot": ["boston_dynamics_spot"],
    "t1": ["booster_t1"],
}


def flat(text):
    """The text of a model with all its files in its folder."""
    text = re.sub(r'\b(meshdir|texturedir|assetdir)="[^"]*"', r'\1="."', text)
    return re.sub(r'\b(file\w*)="[^"]*?([^"/]+)"', r'\1="\2"', text)


def copy_all(source, out):
    for path in sorted(source.rglob("*")):
        if path.suffix == ".xml":
            (out / path.name).write_text(flat(path.read_text(encoding="utf-8")), encoding="utf-8")
        elif path.is_file():
            shutil.copy(path, out / path.name)


def main():
    if len(sys.argv) != 4:
        print(__doc__.split("\n\n")[1], file=sys.stderr)
        return 2
    playground, menagerie, target = map(pathlib.Path, sys.argv[1:])
    for xmls in sorted(playground.glob("mujoco_playground/_src/*/*/xmls")):
        robot = xmls.parent
        out = target / robot.parent.name / robot.name
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir(parents=True)
        for name in SOURCES.get(robot.name, []):
            copy_all(menagerie / name, out)
            for scene in out.glob("*.xml"):  # its own scenes are those of Menagerie
                if scene.name.startswith("scene"):
                    scene.unlink()
        copy_all(xmls, out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
