"""Every command of README.md, CONTRIBUTING.md, docs/ and the help texts: its words and options exist,
and those that are whole commands run in a fresh clone, with less to do.

usage: commands.py SOURCE_FOLDER BUILD_FOLDER FOLDER

Commands stand in fenced blocks, one a line, and in `code` within a sentence. FOLDER becomes the
clone: links to models/ and scenes/, a copy of dev, build/mayfly, and the user's own files that the
texts speak of (FILES). Words in capitals are what a reader replaces (WORDS). Anything else has to
exist as it is written. What would take long gets a smaller budget (reduce).
"""

import itertools
import os
import pathlib
import re
import shlex
import shutil
import struct
import subprocess
import sys
import zlib

source, build, clone = (pathlib.Path(word).resolve() for word in sys.argv[1:4])
PROGRAM = build / "mayfly"

# Files of the reader, and what stands in for them.
FILES = {
    "robot.xml": "models/figure.xml",
    "robot.urdf": "models/hexapod.urdf",
    "sway.so": "plugins/plugin_sway.so",
    "hover.so": "plugins/plugin_hover.so",
    "control.so": "plugins/plugin_sway.so",
}
IMAGES = ("elevation.png", "hills.png")
RUNS = ("runs/hexapod", "runs/hexapod-1", "RUN")
# Recordings of a reader, and what they are of.
RECORDINGS = {"match.mcap": "scenes/soccer.yaml", "walk.h5": "models/hexapod.urdf"}
# Runs of machines, of two generations after the ancestor of a page.
MACHINES = ("runs/golem-1", "runs/crawler", "runs/verified", "runs/mine")
ANCESTOR = ("docs/how_to/evolve_a_body.md", "ancestor.truss.yaml")
# What stands in capitals, by the option before it, else by itself.
WORDS = {
    "FILE.yaml": "scenes/hexapod.yaml",
    "--truss FILE": "out.truss.yaml",
    "FILE": "models/humanoid.urdf",
    "ROBOT": "models/humanoid.urdf",
    "--gait NAME": "walk",
    "--motion NAME": "rigid",
    "--motion LEVEL": "rigid",
    "COMMAND": "run",
    "FACTOR": "1000",
    "FOLDER": "elsewhere",
    "N": "2",
    "ID": "1",
}
SETTINGS = {"K": "2"}

# ---- reading ------------------------------------------------------------------------------------

START = re.compile(r"^(?:\$ )?(?:[A-Z_]+=\S+ )*(?:perf \S+ (?:-\S+ (?:[a-z]+,\S+ )?)*)?"
                   r"(?=(?:build/)?mayfly(?: |$)|\./dev(?: |$))")


def cut(text):
    """The command at the start of a line or of `code`; None when there is none."""
    found = START.match(text)
    if found is None:
        return None
    text = text[found.end():].split(" && ")[0].split(" | ")[0]
    return re.split(r"\s{2,}|\s#", text)[0].strip().rstrip(";").removesuffix(" &")


def texts():
    """(where, text of a command) of every page and of the help of every subcommand."""
    pages = [source / "README.md", source / "CONTRIBUTING.md", *sorted((source / "docs").rglob("*.md"))]
    for page in pages:
        name = str(page.relative_to(source))
        rest = []
        block = None
        begun = ""  # of a command that goes on in the next line
        for line in page.read_text().split("\n"):
            if line.lstrip().startswith("```"):
                block = line.strip("` ") if block is None else None
                rest.append("")
            elif block is None:
                rest.append(line)
            elif block in ("", "sh", "bash", "console"):
                begun += line.strip()
                if begun.endswith("\\"):
                    begun = begun[:-1]
                    continue
                yield name, begun, True
                begun = ""
        for code in re.findall(r"`([^`]+)`", "\n".join(rest)):
            yield name, " ".join(code.split()), False
    overview = subprocess.run([PROGRAM, "--help"], capture_output=True, text=True, check=True).stdout
    for word in re.findall(r"^  ([a-z]+) ", overview.split("examples:")[0], re.M):
        if word != "help":
            text = subprocess.run([PROGRAM, word, "--help"], capture_output=True, text=True, check=True).stdout
            for line in text.split("examples:\n")[1].split("\n"):
                yield f"mayfly {word} --help", line.strip(), True
    for line in overview.split("examples:\n")[1].split("\n\n")[0].split("\n"):
        yield "mayfly --help", line.strip(), True


# ---- options ------------------------------------------------------------------------------------


class Usage:
    """The options of a subcommand, as its --help lists them."""

    def __init__(self, word):
        done = subprocess.run([PROGRAM, word, "--help"], capture_output=True, text=True)
        self.known = done.returncode == 0
        self.options = {}  # name -> takes a value
        for line in done.stdout.split("\n"):
            found = re.match(r"  (--[a-z0-9-]+) (\S+)?", line)
            if found:
                self.options[found[1]] = found[2] is not None and not line[len(found[1]) + 2:].startswith("  ")
        self.needs = re.search(r"^usage: mayfly \S+ [A-Z]", done.stdout, re.M) is not None


usages = {}


def usage(word):
    return usages.setdefault(word, Usage(word))


class Mistake(Exception):
    """What a page says and the command does not know."""


def replace(word, before):
    """The word that a reader would type."""
    bare = word[1:-1] if re.fullmatch(r"\[[A-Z.]+\]", word) else word
    key = f"{before} {bare}"
    if key in WORDS:
        return WORDS[key]
    if bare in WORDS:
        return WORDS[bare]
    if before == "--set" and "=" in bare:
        path, value = bare.split("=", 1)
        return f"{path}={SETTINGS.get(value, value)}"
    return bare.replace("$isa", "scalar")


def parse(words):
    """(subcommand, arguments, [(option, value)], whole) of what follows "mayfly"."""
    word, rest = words[0], words[1:]
    known = usage(word)
    if not known.known:
        raise Mistake(f"there is no command '{word}'")
    arguments, options, whole = [], [], True
    while rest:
        item = rest.pop(0)
        name, equals, value = item.partition("=")
        if item == ">":
            rest = rest[1:]
        elif not name.startswith("--"):
            if "..." not in item:
                arguments.append(replace(item, ""))
        elif name not in known.options and name != "--help":
            raise Mistake(f"mayfly {word} has no option {name}")
        elif not known.options.get(name, False):
            options.append((name, None))
        elif equals or (rest and not rest[0].startswith("--")):
            options.append((name, replace(value if equals else rest.pop(0), name)))
        else:
            whole = False  # a mention of the option
    return word, arguments, options, whole and (bool(arguments) or not known.needs)


# ---- less to do ---------------------------------------------------------------------------------

BUDGET = {
    "evolve": {"--generations": 2, "--population": 32, "--survivors": 16, "--duration": 0.5},
    "run": {"--duration": 0.05, "--robots": 16},
    "compare": {"--duration": 0.1, "--robots": 16},
    "fit": {"--generations": 1, "--population": 4},
    "bench": {"--steps": 8, "--instances": 16, "--repeats": 1, "--generations": 2},
    "replay": {"--generation": 2},
    "view": {"--duration": 0.05},
    "serve": {"--duration": 0.05},
}
fresh_numbers = itertools.count()
# In place of all cases and benches: tests/app/test_cli.sh runs every case.
LONG = {"check": ["B1"], "bench": ["points-single"]}


def look_up_cases(names):
    """Raises Mistake where a check case does not exist: completion lists those that do."""
    text = subprocess.run([PROGRAM, "completion", "bash"], capture_output=True, text=True, check=True).stdout
    known = re.search(r"^ *check\) .*arguments='([^']*)'", text, re.M)[1].split()
    for name in names:
        if not any(case == name or case.startswith(name + "-") for case in known):
            raise Mistake(f"there is no check case '{name}'")


def reduce(word, arguments, options):
    """The same command with a budget: numbers are lowered, and named where they are not."""
    given = dict(options)
    budget = dict(BUDGET.get(word, {}))
    if word == "run" and "--robots" not in given:
        del budget["--robots"]
    if word in ("view", "serve"):  # nothing opens without a display, and nobody resumes it
        options = [pair for pair in options if pair[0] not in ("--paused", "--port")]
    if word == "run":  # no package mayfly here: python/tests/test_script.py runs these
        options = [pair for pair in options if pair[0] not in ("--python", "--patience")]
    if word == "serve" and "--unix" not in given:
        options.append(("--port", "0"))
    if word == "replay" and "--generation" not in given:
        budget = {}
    if word == "compare" and "--robots" not in given:  # only there costs are measured
        del budget["--robots"]
        options = [pair for pair in options if pair[0] != "--no-cost"] + [("--no-cost", None)]
    if word == "bench":
        if not arguments and options:  # all of them run once, without options
            arguments = LONG[word]
        if arguments and "evolve-paper" not in arguments:
            del budget["--generations"]
        for option in ("--steps", "--instances"):
            if any(name.startswith(("lua", "model")[option == "--steps":]) for name in arguments):
                del budget[option]
    for name, most in budget.items():
        value = given.get(name)
        if value is None or float(value) > most:
            options = [pair for pair in options if pair[0] != name] + [(name, str(most))]
    if word == "check":
        look_up_cases(arguments)
        arguments = LONG[word]
        options = [pair for pair in options if pair[0] != "--full"]
    if word == "replay" and arguments == ["RUN"] and ("--stl" in given or "--truss" in given):
        arguments = [MACHINES[0]]
    if any(pair[1] is not None and pair[1].startswith("search.survivors=") for pair in options):
        options = [pair for pair in options if pair[0] != "--survivors"]
    if word == "worker":  # there is no search: tests/app/test_engines.sh has one
        return [word, "--help"]
    if word == "evolve" and given.get("--engine") in ("listen", "mpi", "ray"):  # nor other workers
        options = [pair for pair in options if pair[0] not in ("--engine", "--address", "--workers")]
        options += [("--engine", "processes"), ("--workers", "2")]
    if word == "sweep":
        arguments = ["examples/sweep.yaml"]
        options = [pair for pair in options if pair[0] not in ("--task", "--of", "--out")]
        options += [("--out", "runs/sweep")]
        options += [("--set", "search.generations=1"), ("--set", "run.duration=0.2")]
    if word == "evolve":
        fresh = f"runs/try-{next(fresh_numbers)}"
        options = [pair for pair in options if pair[0] != "--out"] + [("--out", fresh)]
    return [word, *arguments, *(part for pair in options for part in pair if part is not None)]


# ---- the clone ----------------------------------------------------------------------------------


def gray_png(path):
    """64 x 64 cells of hills."""
    rows = b"".join(b"\0" + bytes((x * y) % 64 for x in range(64)) for y in range(64))

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 64, 64, 8, 0, 0, 0, 0)) +
                     chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def script(path, text):
    path.write_text("#!/bin/sh\n" + text)
    path.chmod(0o755)


def make_clone():
    for name in ("models", "scenes", "examples", "docs"):
        (clone / name).symlink_to(source / name)
    shutil.copy(source / "dev", clone)
    for name in ("build", "runs", "bin"):
        (clone / name).mkdir()
    (clone / "build/mayfly").symlink_to(PROGRAM)
    for name, stand_in in FILES.items():
        made = source / stand_in if stand_in.startswith("models") else build / stand_in
        if made.exists():
            shutil.copy(made, clone / name)
    robot = clone / "robot.xml"
    robot.write_text(robot.read_text().replace(
        "</mujoco>", '<keyframe><key name="stand"/></keyframe></mujoco>'))
    for name in IMAGES:
        gray_png(clone / name)
    page, name = ANCESTOR
    if (source / page).exists():
        block = re.search(r"^```yaml\n(truss:\n.*?)^```", (source / page).read_text(), re.M | re.S)
        (clone / name).write_text(block[1])
    # ./dev is real; what it would build with is there already.
    for name in ("cmake", "ctest"):
        script(clone / "bin" / name, "exit 0\n")
    script(clone / "bin/ffmpeg", 'for last; do :; done\nexec cat >"$last"\n')
    script(clone / "bin/dpkg-query", 'for name; do echo "$name installed"; done\n')


def environment():
    """That of somebody who has nothing but the clone."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("MAYFLY_")}
    return kept | {"MAYFLY_SHARED": str(clone / "none"), "PATH": f"{clone}/bin:{clone}/build:{kept['PATH']}"}


def try_command(words):
    """None, or what went wrong."""
    missing = [word for word in words if pathlib.Path(word).name in FILES and not (clone / word).exists()]
    if missing:
        return None  # a plugin, where the examples are not built
    try:
        done = subprocess.run(words, cwd=clone, env=environment(), capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, timeout=300)
    except subprocess.TimeoutExpired:
        return "takes longer than five minutes, also with less to do"
    lines = done.stderr.strip().split("\n")
    return None if done.returncode == 0 else f"exit code {done.returncode}: {lines[-1]}"


def dev_names(words):
    """What to run of "./dev ..."; None when only its word can be looked up."""
    text = (source / "dev").read_text()
    word = words[0] if words else "help"
    if not re.search(rf"^  {word}\b", text.split("END\n")[0], re.M):
        raise Mistake(f"./dev has no word '{word}'")
    if word == "bench" and words[1:2] and re.search(rf"^  bench {words[1]}\b", text, re.M):
        return None  # builds commits
    if word in ("bench", "check"):
        name, arguments, options, whole = parse([word, *words[1:]])
        return ["./dev", *reduce(name, arguments or LONG[name], options)] if whole and "--full" not in words else None
    if word == "run":
        name, arguments, options, _ = parse(["evolve", *words[1:]])
        return ["./dev", "run", *reduce(name, arguments, options)[1:]]
    if word == "test" and len(words) > 1 and not words[1].startswith("-"):
        if not re.search(rf"^    ([a-z |]+\| )?{words[1]}( \|[a-z |]+)?\)", text, re.M):
            raise Mistake(f"./dev test has no kind '{words[1]}'")
    return ["./dev", word] if word in ("setup", "build", "help") else None


def find_names(text):
    """The words to run, and whether they are a whole command."""
    words = shlex.split(text)
    if words[0] == "./dev":
        run = dev_names([word for word in words[1:] if not word.startswith("[")])
        return run or words, run is not None
    if len(words) == 1:
        return words, False
    if words[1] == "help" or words[1].startswith("-"):
        return [words[0], *(replace(word, "") for word in words[1:])], True
    word, arguments, options, whole = parse(words[1:])
    return [words[0], *reduce(word, arguments, options)], whole


def main():
    make_clone()
    for name in RUNS:
        words = ["mayfly", *reduce("evolve", ["scenes/hexapod.yaml"], [])]
        wrong = try_command([*words[:-1], name])
        if wrong:
            sys.exit(f"FAILED: a short evolution: {wrong}")
    for name, scene in RECORDINGS.items():
        wrong = try_command(["mayfly", *reduce("run", [scene], [("--record", name)])])
        if wrong:
            sys.exit(f"FAILED: a short recording: {wrong}")
    for name in MACHINES if (clone / ANCESTOR[1]).exists() else ():
        words = ["mayfly", *reduce("evolve", ["scenes/golem.yaml"], [("--model", ANCESTOR[1])])]
        wrong = try_command([*words[:-1], name])
        if wrong:
            sys.exit(f"FAILED: a short evolution of machines: {wrong}")
    tried, mentions, failed = {}, 0, 0
    for where, text, _ in texts():
        text = cut(text)
        if not text:
            continue
        try:
            words, whole = find_names(text)
        except Mistake as mistake:
            print(f"FAILED: {where}: {text}\n    {mistake}")
            failed += 1
            continue
        if not whole:
            mentions += 1
            continue
        key = tuple(word for word in words if not word.startswith("runs/try-"))
        if key not in tried:
            tried[key] = try_command(words)
        if tried[key]:
            print(f"FAILED: {where}: {text}\n    {' '.join(words)}\n    {tried[key]}")
            failed += 1
    print(f"{len(tried)} commands tried, {mentions} mentions looked up, {failed} wrong")
    if len(tried) < 40:
        sys.exit("FAILED: too few commands were found")
    sys.exit(1 if failed else 0)


main()
