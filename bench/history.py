#!/usr/bin/env python3
"""Speeds of commits, measured in turns on one core: `./dev bench compare` and `./dev bench record`.

COMMITS is A..B, or A for A and the working tree, whose command is build/mayfly. Other commits are
checked out and built in build/bench/, and kept there. Each bench runs with every instruction set of
the processor; in each round every commit has one turn, in alternating order, and the fastest turn
counts. `record` appends these to bench/history.csv: of COMMITS, or of the working tree if it has no
changes.

usage: history.py compare COMMITS [NAME...] [--rounds N] [--isa SET] [--core N]
       history.py record [NAME...] [--commits COMMITS] [--rounds N] [--isa SET] [--core N]
"""
import argparse
import csv
import datetime
import json
import os
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
HISTORY = ROOT / "bench" / "history.csv"
COLUMNS = ["commit", "date", "processor", "load", "isa", "gflops", "bench", "instances", "threads",
           "steps_per_second", "hash"]
# Every level of physics, and what is built on them.
USUAL = ["points-hexapod", "points-quadruped", "points-single", "humanoid-kinematic",
         "humanoid-rigid", "humanoid-prescribed", "articulated-free", "articulated-humanoid",
         "articulated-ant", "articulated-single", "quadrotor-1000", "mixed-1000", "truss-shared",
         "modules-1000", "modules-snake-1000", "cloth", "fluid-100k", "grains-100k", "soccer-2",
         "soccer-10-car", "soccer-10-car-articulated", "environment-hexapod",
         "environment-quadrotor", "cameras-84", "lua-1000"]
TREE = "working tree"


def git(*arguments):
    return subprocess.run(["git", "-C", str(ROOT), *arguments], check=True, capture_output=True,
                          text=True).stdout.strip()


def commit_of(name):
    try:
        return git("rev-parse", "--short=8", "--verify", "--quiet", name + "^{commit}")
    except subprocess.CalledProcessError:
        sys.exit(f"history: there is no commit '{name}'")


def run_build(folder, *arguments):
    environment = dict(os.environ, CCACHE_BASEDIR=str(folder), CCACHE_NOHASHDIR="1")
    subprocess.run(["cmake", *arguments], cwd=folder, env=environment, check=True,
                   stdout=sys.stderr)


def build(commit):
    """The command of a commit, built with kernels for all instruction sets."""
    folder = ROOT / "build" / "bench" / commit
    if not (folder / ".git").exists():
        git("worktree", "prune")
        git("worktree", "add", "--detach", str(folder), commit)
    if not (folder / "build" / "CMakeCache.txt").exists():
        launcher = ["-DCMAKE_C_COMPILER_LAUNCHER=ccache"] if shutil.which("ccache") else []
        run_build(folder, "--preset", "release", "-B", "build", "-DMAYFLY_TESTS=OFF",
                  "-DMAYFLY_EXAMPLES=OFF", *launcher)
    run_build(folder, "--build", "build", "--target", "mayfly_app")
    return folder / "build" / "mayfly"


def read_processor():
    """Its name and the instruction sets to measure."""
    facts = {}
    for line in pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        key, _, value = line.partition(":")
        facts.setdefault(key.strip(), value.strip())
    flags = set(facts.get("flags", "").split())
    sets = ["avx2"] if {"avx2", "fma"} <= flags else []
    sets += ["avx512"] if {"avx512f", "avx512bw", "avx512dq", "avx512vl"} <= flags else []
    return facts.get("model name", os.uname().machine), sets or ["scalar"]


def run_bench(command, name, isa, core):
    """Lines of one run on one core and thread, and None or why there are none."""
    line = [str(command), "bench", name, "--isa", isa, "--json", "--repeats", "1"]
    environment = dict(os.environ)
    if (ROOT.parent / "shared").is_dir():
        environment.setdefault("MAYFLY_SHARED", str(ROOT.parent / "shared"))
    for threads in (["--threads", "1"], []):  # some benches have no threads to choose
        done = subprocess.run(line + threads, capture_output=True, text=True, env=environment,
                              preexec_fn=lambda: os.sched_setaffinity(0, {core}))
        if done.returncode == 0:
            return [json.loads(text) for text in done.stdout.splitlines()], None
        if "--threads" not in done.stderr:
            break
    return [], (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[0]


def measure(builds, name, isa, options):
    """Of every build its fastest line of each number of robots; lines that could not be made."""
    best, failures = [{} for _ in builds], {}
    for turn in range(options.rounds):
        for i in range(len(builds))[:: -1 if turn % 2 else 1]:
            label, command = builds[i]
            lines, failure = ([], None) if label in failures else run_bench(command, name, isa,
                                                                            options.core)
            if failure is not None:
                failures[label] = failure
            for line in lines:
                if line["isa"] != isa:
                    sys.exit(f"history: {label} ran {name} with {line['isa']}, not {isa}")
                old = best[i].setdefault(line["instances"], line)
                if old["hash"] != line["hash"]:
                    sys.exit(f"history: {label}: {name} ended with two hashes")
                if line["steps_per_second"] > old["steps_per_second"]:
                    best[i][line["instances"]] = line
    for label, failure in failures.items():
        print(f"history: {name}, {label}: {failure}", file=sys.stderr)
    return best


def speed(line):
    return "-" if line is None else f"{1e-6 * line['steps_per_second']:.4g} M/s"


def rate(line, digits):
    """Benches of old commits do not print it."""
    return f"{line['gflops']:.{digits}f}" if "gflops" in line else ""


def print_rows(best):
    for count in sorted(set().union(*best)):
        lines = [side.get(count) for side in best]
        known = [line for line in lines if line is not None]
        ratio, same = "-", "-"
        if len(known) == 2:
            ratio = f"{known[1]['steps_per_second'] / known[0]['steps_per_second']:.3f}"
            same = "equal" if known[0]["hash"] == known[1]["hash"] else "differ"
        print(f"{known[0]['bench']:26} {count:8} {known[0]['isa']:7}"
              + "".join(f"{speed(line):>14}" for line in lines)
              + (f" {ratio:>7}  {same:7}" if len(lines) == 2 else " ")
              + " / ".join(rate(line, 0) or "-" for line in known), flush=True)


def append(rows):
    new = not HISTORY.exists()
    with HISTORY.open("a", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        if new:
            writer.writerow(COLUMNS)
        writer.writerows(rows)


def row_of(commit, processor, line):
    return [commit, datetime.date.today().isoformat(), processor, f"{os.getloadavg()[0]:.1f}",
            line["isa"], rate(line, 1), line["bench"], line["instances"], line["threads"],
            f"{line['steps_per_second']:.4g}", line["hash"]]


def choose(options):
    """Labels and commands of what is measured."""
    first, both, second = options.commits.partition("..")
    labels = [commit_of(first)] if first else []
    labels += [commit_of(second)] if both else [TREE] if options.word == "compare" else []
    if not labels:
        if git("status", "--porcelain", "--untracked-files=no", "--", ".", ":!bench/history.csv"):
            sys.exit("history: the working tree has changes; commit them before `record`")
        return [(commit_of("HEAD"), ROOT / "build" / "mayfly")]
    return [(label, ROOT / "build" / "mayfly" if label == TREE else build(label))
            for label in labels]


def main():
    processor, sets = read_processor()
    parser = argparse.ArgumentParser(prog="./dev bench", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    words = parser.add_subparsers(dest="word", required=True)
    for word in ("compare", "record"):
        sub = words.add_parser(word)
        if word == "compare":
            sub.add_argument("commits", metavar="COMMITS", help="A..B, or A for the working tree")
        else:
            sub.add_argument("--commits", default="", help="A..B or A (default: the working tree)")
        sub.add_argument("names", metavar="NAME", nargs="*", help="benches (default: %d)" %
                         len(USUAL))
        sub.add_argument("--rounds", type=int, default=5, help="turns of each (default: 5)")
        sub.add_argument("--isa", action="append", help="instruction set (default: %s)" %
                         " and ".join(sets))
        sub.add_argument("--core", type=int, default=max(os.sched_getaffinity(0)))
    options = parser.parse_args()
    builds = choose(options)
    print(f"{processor}, core {options.core}, load {os.getloadavg()[0]:.1f}, best of "
          f"{options.rounds}; rate: multiply-adds of the fastest turn, GFLOP/s")
    print(f"{'bench':26} {'robots':>8} {'isa':7}" + "".join(f"{label:>14}" for label, _ in builds)
          + (f" {'ratio':>7}  {'hash':7}" if len(builds) == 2 else " ") + "rate", flush=True)
    empty = 0
    for name in options.names or USUAL:
        for isa in options.isa or sets:
            best = measure(builds, name, isa, options)
            empty += not any(best)
            if any(best):
                print_rows(best)
            if options.word == "record":
                append([row_of(label, processor, side[count])
                        for (label, _), side in zip(builds, best) for count in sorted(side)])
    return 1 if empty else 0


if __name__ == "__main__":
    sys.exit(main())
