#!/usr/bin/env python3
"""Text is clean, links lead somewhere, and the changelog knows the version.

No tab, no blank at the end of a line, no carriage return, one newline at the end of a file, no
unfinished mark; relative links of Markdown files exist, and their fences are closed; what `pip install` is asked to
install exists: a path of this project, or a package of PYPI; the README has at most 120 lines;
CHANGELOG.md has a heading for the version in CMakeLists.txt. Seeds of the fuzzers and test data are
left alone.

usage: text.py SOURCE_FOLDER [BUILD_FOLDER]
"""
import pathlib
import re
import sys

SUFFIXES = set(".c .h .py .sh .cmake .md .yaml .yml .urdf .json .txt".split())
NAMES = {"dev", "run", "LICENSE", ".clang-format", ".gitignore"}
SKIPPED = {".git", "build", "runs", "corpus", "data", "__pycache__"}
CACHES = (".cache", "_cache")  # of tools
UNFINISHED = re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X)\b")
LINK = re.compile(r"\]\(([^)#\s]+)[^)]*\)")
README_LIMIT = 120  # lines
FENCE = re.compile(r"\s*(```+|~~~+)\s*(.*)$")
PIP = re.compile(r"\bpip3?(?: -q)? install ([^\n`)#;|&]*)")
# Packages on PyPI that readers are asked to install; Mayfly's own are not there.
PYPI = set("""cloudpickle cma dm_control dynamixel-sdk evosax evotorch gymnasium gymnasium-robotics h5py jax cffi
    mcap
    mkdocs-material mujoco nevergrad numpy nvidia-srl-usd-to-urdf pettingzoo pin ray rcsssmj ribs scipy
    sdformat-mjcf stable-baselines3 unilab xacro""".split())


def files(folder):
    for path in sorted(folder.iterdir()):
        if path.is_dir() and not path.is_symlink():
            if path.name not in SKIPPED and not path.name.endswith(CACHES) and not path.name.startswith("build-"):
                yield from files(path)
        elif path.suffix in SUFFIXES or path.name in NAMES:
            yield path


def check_text(path, text):
    for number, line in enumerate(text.split("\n"), 1):
        if "\t" in line:
            yield f"{path}:{number}: tab"
        if "\r" in line:
            yield f"{path}:{number}: carriage return"
        elif line != line.rstrip():
            yield f"{path}:{number}: blank at the end of the line"
        if UNFINISHED.search(line):
            yield f"{path}:{number}: unfinished: {line.strip()}"
    if text and (not text.endswith("\n") or text.endswith("\n\n")):
        yield f"{path}: needs exactly one newline at its end"


def check_links(path, text):
    for target in LINK.findall(text):
        if not re.match(r"[a-z]+:", target) and not (path.parent / target).exists():
            yield f"{path}: link to {target}, which does not exist"


def check_fences(path, text):
    opened = None  # line and mark of the fence that is open
    for number, line in enumerate(text.split("\n"), 1):
        fence = FENCE.match(line)
        if not fence or (opened and not fence[1].startswith(opened[1])):
            continue
        if opened and fence[2]:
            yield f"{path}:{number}: a fence opens inside that of line {opened[0]}, which is not closed"
        opened = None if opened else (number, fence[1])
    if opened:
        yield f"{path}:{opened[0]}: this fence is not closed"


def check_pip(root, path, text):
    for found in PIP.finditer(text):
        number = text.count("\n", 0, found.start()) + 1
        for word in re.findall(r"[^\s\"',\\]+", found[1]):
            name = re.split(r"[\[<>=]", word)[0]
            if name in ("in", "into", "and", "to"):
                break  # the sentence goes on
            if word.startswith(("-", "$", "{")) or name == "":
                continue
            if "/" in name or name == ".":
                here = path.parent if name == "." else root
                exists = (here / name).exists() or "*" in name or "$" in name
            elif re.fullmatch(r"[a-z][\w.-]*", name):
                exists = name in PYPI
            else:
                break  # the sentence goes on
            if not exists:
                yield f"{path}:{number}: pip install {word}: neither a path nor a package of PYPI"
                break


def check_changelog(root):
    cmake = (root / "CMakeLists.txt").read_text()
    version = re.search(r"project\([^)]*VERSION (\d+\.\d+\.\d+)", cmake)
    changelog = root / "CHANGELOG.md"
    if not version:
        yield f"{root / 'CMakeLists.txt'}: project() has no VERSION major.minor.patch"
    elif not changelog.exists():
        yield f"{changelog}: missing"
    elif not re.search(rf"^## \[{re.escape(version[1])}\]", changelog.read_text(), re.M):
        yield f"{changelog}: no heading `## [{version[1]}]` for the version in CMakeLists.txt"


def main():
    root = pathlib.Path(sys.argv[1])
    complaints = list(check_changelog(root))
    for path in files(root):
        try:
            text = path.read_bytes().decode("utf-8")
        except UnicodeDecodeError as error:
            complaints.append(f"{path}: not UTF-8: {error}")
            continue
        complaints += check_text(path, text)
        if path.suffix == ".md":
            complaints += check_links(path, text)
            complaints += check_fences(path, text)
        if path.name != "text.py":
            complaints += check_pip(root, path, text)
        if path == root / "README.md" and text.count("\n") > README_LIMIT:
            complaints.append(f"{path}: {text.count(chr(10))} lines, the limit is {README_LIMIT}")
    print("\n".join(complaints), end="\n" if complaints else "")
    sys.exit(1 if complaints else 0)


if __name__ == "__main__":
    main()
