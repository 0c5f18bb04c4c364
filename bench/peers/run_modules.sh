#!/bin/sh
# Chains of docked modules here, in MuJoCo and in PyBullet, and particles here, in Taichi and in Warp
# (modules.py), as the tables of docs/studies/performance.md.
#
#     bench/peers/run_modules.sh [--write] [options of modules.py]
#
# --write puts the tables into the docs, between their markers. Needs Python 3.10 or newer with venv, and the
# network on its first run, which installs the peers into build/peers-modules and nowhere else. A peer
# without a package for this Python is left out, and the table says so.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
build=${MAYFLY_BUILD:-$root/build}
page=
if [ "${1-}" = --write ]; then
    page=$root/docs/studies/performance.md
    shift
fi
for needed in "$build/mayfly" "$build/python/wheels"; do
    if [ ! -e "$needed" ]; then
        echo "run_modules.sh: $needed is missing: run ./dev test python first" >&2
        exit 1
    fi
done
venv=$root/build/peers-modules
if [ ! -f "$venv/ready" ]; then
    echo "run_modules.sh: installing the peers into $venv" >&2
    python3 -m venv "$venv"
    "$venv/bin/pip" install --quiet mujoco numpy
    for package in pybullet taichi warp-lang; do
        "$venv/bin/pip" install --quiet --only-binary :all: "$package" ||
            echo "run_modules.sh: no package of $package for this Python" >&2
    done
    touch "$venv/ready"
fi
"$venv/bin/pip" -q install --force-reinstall --no-deps "$build"/python/wheels/mayfly-*.whl cffi pycparser >&2
out=$build/modules_peers.txt
"$venv/bin/python" "$here/modules.py" --mayfly "$build/mayfly" "$@" >"$out"
cat "$out"
[ -z "$page" ] || "$venv/bin/python" "$here/robots_page.py" "$page" "$out" modules.py
