#!/bin/sh
# Chains of docked modules here, in MuJoCo and in PyBullet, and particles here, in Taichi and in Warp
# (modules.py), as the tables of docs/studies/performance.md.
#
#     bench/peers/run_modules.sh [--write] [options of modules.py]
#
# --write puts the tables into the docs, between their markers. Needs Python 3.10 or newer with venv, and the
# network on its first run, which installs the peers into build/peers-modules and nowhere else. A peer
# without a package for this Python is left out, and the table says so.
. "$(dirname "$0")/common.sh"
page=
if [ "${1-}" = --write ]; then
    page=$root/docs/studies/performance.md
    shift
fi
needs "$build/mayfly" "./dev test python"
needs "$build/python/wheels" "./dev test python"
optional="pybullet taichi warp-lang"
install_peers peers-modules 1 mujoco numpy
install_mayfly "$venv/bin/pip"
out=$build/modules_peers.txt
"$venv/bin/python" "$here/modules.py" --mayfly "$build/mayfly" "$@" >"$out"
cat "$out"
[ -z "$page" ] || "$venv/bin/python" "$here/robots_page.py" "$page" "$out" modules.py
