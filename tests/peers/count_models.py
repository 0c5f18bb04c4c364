"""Counts how many robot files of a folder load, and how many of them equal MuJoCo's own compiler.

usage: count_models.py BUILD/mayfly FOLDER...

Prints one line per folder and one per file that is refused or differs. MJCF files are compared by
mujoco_model.py; of URDF files only whether they load and run a tenth of a second is printed.
"""
import os
import subprocess
import sys
import tempfile

import mujoco

import mujoco_model


def root_of(path):
    with open(path, "rb") as file:
        text = file.read()
    if b"<mujoco" in text and b"<robot" not in text[:text.index(b"<mujoco")]:
        return "mjcf"
    return "urdf" if b"<robot" in text else "other"


def judge_mjcf(command, path):
    try:
        mujoco.MjModel.from_xml_path(path)
    except ValueError as error:
        return "not MuJoCo's", str(error).splitlines()[0]
    differences, refused = mujoco_model.compare([command, "info", "--json"], path)
    if differences is None:
        if "has no <body>" in refused:
            return "no robot", ""
        return "refused", refused
    return ("differs", differences.lines[0]) if differences.lines else ("same", "")


def judge_urdf(command, path):
    done = subprocess.run([command, "run", "--duration", "0.1", "--json", path],
                          capture_output=True, text=True, check=False)
    return ("runs", "") if done.returncode == 0 else ("refused", done.stderr.strip())


def main():
    command = os.path.abspath(sys.argv[1])
    os.chdir(tempfile.mkdtemp())  # MuJoCo writes its log where it runs
    for folder in sys.argv[2:]:
        counts = {}
        for base, _, names in sorted(os.walk(folder)):
            for name in sorted(names):
                path = os.path.join(base, name)
                if not name.endswith((".xml", ".urdf")) or name == "package.xml":
                    continue
                kind = root_of(path)
                if kind == "other":
                    continue
                judge = judge_mjcf if kind == "mjcf" else judge_urdf
                verdict, reason = judge(command, path)
                counts[f"{kind} {verdict}"] = counts.get(f"{kind} {verdict}", 0) + 1
                if verdict in ("refused", "differs"):
                    print(f"  {verdict} {path}: {reason}")
        print(folder, ", ".join(f"{k}: {v}" for k, v in sorted(counts.items())), flush=True)


main()
