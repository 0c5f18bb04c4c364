"""The tutorials, done as a reader does them: files are saved, commands are run.

A file is the block behind "Save ... as `name`"; commands are the lines of shell blocks that begin with
mayfly, python3 walker.py or a change that the text asks for. Evolution gets fewer generations; what
needs Python packages is left out (python/tests/test_docs.py has the Python part of the docs).

usage: tutorials.py SOURCE_FOLDER BUILD_FOLDER WORK_FOLDER
"""

import os
import pathlib
import re
import subprocess
import sys

source, build, work = (pathlib.Path(word).resolve() for word in sys.argv[1:4])
SAVED = re.compile(r"[Ss]ave\s+(?:it\s+)?as\s+`([\w.]+)`[^`]*```\w+\n(.*?)^```", re.M | re.S)
SHELL = re.compile(r"^```shell\n(.*?)^```", re.M | re.S)
# What the text asks the reader to change, behind the command that shows why.
CHANGES = {"trot.yaml": ("period: 0.5", "period: 0.3")}
EXPECTED = {
    "first_robot.md": ["it fell", "it did not fall", "1000 robots", "articulated "],
    "first_swarm.md": ["quadrotors             100       100", "cars                    12        12"],
    "evolve_a_gait.md": ["the same bits", "at articulated"],
}


def run(command, folder):
    done = subprocess.run(command, shell=True, cwd=folder, capture_output=True, text=True, env=env)
    if done.returncode != 0:
        sys.exit(f"FAILED: {command}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


def commands(text):
    for block in SHELL.findall(text):
        for line in block.replace("\\\n", " ").split("\n"):
            command = line.split("  #")[0].strip()
            if re.match(r"mayfly |python3 walker\.py", command):
                yield command


env = {**os.environ, "PATH": f"{build}:{os.environ['PATH']}"}
for name in ("models", "scenes"):
    (work / name).symlink_to(source / name)
folder = work / "tutorial"
folder.mkdir()
for page, expected in EXPECTED.items():
    text = (source / "docs" / "tutorials" / page).read_text()
    for name, content in SAVED.findall(text):
        (folder / name).write_text(content)
    said, count = "", 0
    for command in commands(text):
        if command.startswith("mayfly evolve"):
            command += " --generations 4"
        if "count=10000" in command:
            command += " --duration 1"
        said += run(command, folder)
        count += 1
        for name, (old, new) in CHANGES.items():
            if name in command and old in (folder / name).read_text():
                said += run(f"sed -i 's/{old}/{new}/' {name} && {command}", folder)
    missing = [words for words in expected if words not in said]
    if missing or count < 3:
        sys.exit(f"FAILED: {page}: {count} commands; nothing printed {missing}\n{said}")
    print(f"{page}: {count} commands")
