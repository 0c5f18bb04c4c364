#!/bin/sh
# Articulated robots of Mayfly and of MuJoCo, timed side by side on this machine.
#
#     bench/peers/run_mujoco.sh
#
# Needs Python 3.10 or newer with venv, and the network on its first run: MuJoCo comes from the
# package index into build/peers-mujoco and touches nothing else. Files of the shared folder
# ($MAYFLY_SHARED or ../shared) are timed where they are.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
venv=$root/build/peers-mujoco
if [ ! -x "$root/build/mayfly" ]; then
    echo "run_mujoco.sh: build/mayfly is missing: run ./dev build first" >&2
    exit 1
fi
if [ ! -f "$venv/ready" ]; then
    echo "run_mujoco.sh: installing MuJoCo into $venv" >&2
    python3 -m venv "$venv"
    "$venv/bin/pip" install --quiet mujoco numpy
    touch "$venv/ready"
fi
cd "$venv" # MuJoCo writes its log where it runs
exec "$venv/bin/python" "$here/mujoco_bench.py" "$root/build/mayfly" \
    "${MAYFLY_SHARED:-$root/../shared}"
