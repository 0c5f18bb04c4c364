"""Installs the release into new systems and tries its first commands there.

usage: python tools/release/fresh.py [SYSTEM...]   (as root; ./dev release x86_64 comes first)

SYSTEM: a name in SYSTEMS. Each is made by debootstrap once, in build/release/fresh, with nothing in
it but Python. The wheel goes into an environment with one NumPy, from packages fetched outside; the
Debian package into the system. Both walk, evolve, show and check, and must give the hashes of the
release. Prints a line for each, with the times of the first import and of the first world.
"""

from __future__ import annotations

import json
import os
import pathlib
import shutil
import subprocess
import sys

import libraries
import release

# Suite: version of its Python (None: older than the wheel needs) and NumPy.
SYSTEMS = {"bullseye": (None, None), "bookworm": ("3.11", "1.26.*"), "trixie": ("3.13", "2.*")}
# Of `mayfly check`: all of them, minutes for each system, with MAYFLY_FULL=1.
CASES = "" if os.environ.get("MAYFLY_FULL") == "1" else "C1 C3 E1 E2"
FOLDER = release.FOLDER / "fresh"
PLATFORMS = [f"--platform=manylinux{tag}_x86_64" for tag in ("2014", "_2_17", "_2_28", "_2_27")]

TRIAL = """\
set -eu
try() {{ # what a new user types, in an empty folder
    rm -rf /root/new && mkdir /root/new && cd /root/new
    mayfly run models/hexapod.urdf --gait tripod --plot walk.html >out 2>note
    [ "$(wc -l <note)" = 1 ] && grep -q 'models/hexapod.urdf is not in this folder; using /' note
    grep -q '<html' walk.html
    mayfly evolve scenes/hexapod.yaml --generations 1 --population 10 --set search.survivors=5 --set search.verify.best=4 --out first \\
        >out 2>&1 || {{ cat out; false; }}
    [ -s first/report.html ]
    mayfly --licenses | grep -q 'HDF5'
    {{ mayfly view first >address 2>&1 & }}
    viewer=$!
    for second in 1 2 3 4 5 6 7 8 9 10; do
        sleep 1
        address=$(grep -o 'http://[0-9.:]*' address | head -n 1) && break
    done
    python3 -c 'import sys, urllib.request; assert b"<html" in urllib.request.urlopen(sys.argv[1]).read()' \\
        "$address/"
    kill $viewer
    mayfly check {cases} >out 2>&1 || {{ tail -n 20 out; false; }}
    for name in {motions}; do
        mayfly run $name --duration 0.2 --json 2>/dev/null |
            sed -n "s#.*\\"hash\\": *\\"\\([0-9a-f]*\\)\\".*#\\1  $name#p" | tail -n 1
    done >hashes.txt
    diff hashes.txt /release/hashes.txt
}}
dpkg -i /release/*_{debian}.deb >/dev/null
try
dpkg -r {name} >/dev/null
! command -v mayfly >/dev/null
echo '"deb": true' >>/result
if [ -n "{numpy}" ]; then
    rm -rf /opt/try && python3 -m venv /opt/try
    /opt/try/bin/pip -q --disable-pip-version-check install --no-index --find-links /packages \\
        /release/*_{machine}.whl 'numpy=={numpy}'
    PATH=/opt/try/bin:$PATH
    try
    python /first.py >>/result
fi
"""

FIRST = """\
import time
begin = time.perf_counter()
import mayfly
imported = time.perf_counter()
model = mayfly.Model.from_file("hexapod.urdf")
with mayfly.World.for_model(model) as world:
    world.add_group(model, 1)
    world.step(1)
    ready = time.perf_counter()
import numpy
print(f'"numpy": "{numpy.__version__}"\\n"import": {imported - begin:.3f}\\n"world": {ready - imported:.4f}')
"""


def system(suite: str) -> pathlib.Path:
    root = FOLDER / suite
    if not (root / "root").is_dir():
        part = FOLDER / f"{suite}.part"
        shutil.rmtree(part, ignore_errors=True)
        part.parent.mkdir(parents=True, exist_ok=True)
        libraries.run("debootstrap", "--variant=minbase", "--include=python3,python3-venv", suite, part)
        part.rename(root)
    return root


def try_in(suite: str) -> dict[str, object]:
    python, numpy = SYSTEMS[suite]
    root, machine = system(suite), os.uname().machine
    for name in ("release", "packages"):
        shutil.rmtree(root / name, ignore_errors=True)
    shutil.copytree(release.FOLDER / release.version(), root / "release")
    if python is not None:
        libraries.run(sys.executable, "-m", "pip", "download", "-q", "--only-binary=:all:",
                      f"--python-version={python}", *PLATFORMS, "-d", root / "packages",
                      f"numpy=={numpy}", "cffi>=1.15")
    (root / "result").unlink(missing_ok=True)
    (root / "first.py").write_text(FIRST)
    (root / "trial.sh").write_text(TRIAL.format(
        motions=" ".join(release.MOTIONS), numpy=numpy or "", cases=CASES, machine=machine, name=release.NAME,
        debian=release.ARCHITECTURES[machine],
    ))
    libraries.run("unshare", "--mount", "--pid", "--fork", f"--mount-proc={root}/proc", "chroot", root,
                  "/usr/bin/env", "-i", "HOME=/root", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "sh",
                  "/trial.sh")
    found = json.loads("{" + ",".join((root / "result").read_text().splitlines()) + "}")
    return {"system": suite, "glibc": libc(root), "python": python, **found}


def libc(root: pathlib.Path) -> str:
    shown = subprocess.run(["chroot", root, "ldd", "--version"], capture_output=True, text=True, check=True)
    return shown.stdout.splitlines()[0].split()[-1]


def main() -> None:
    suites = sys.argv[1:] or list(SYSTEMS)
    if os.getuid() != 0 or not set(suites) <= set(SYSTEMS):
        raise SystemExit(__doc__)
    if not (release.FOLDER / release.version() / "SHA256SUMS").exists():
        raise SystemExit("fresh: there is no release to try; ./dev release makes it")
    for suite in suites:
        print(json.dumps(try_in(suite)), flush=True)


if __name__ == "__main__":
    main()
