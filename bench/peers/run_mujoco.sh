#!/bin/sh
# Articulated robots of Mayfly and of MuJoCo, timed side by side on this machine.
#
#     bench/peers/run_mujoco.sh
#
# Needs Python 3.10 or newer with venv, and the network on its first run (peers_mujoco.sh). Files of
# the shared folder ($MAYFLY_SHARED or ../shared) and of gymnasium are timed where they are.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
build=${MAYFLY_BUILD:-$root/build}
if [ ! -x "$build/mayfly" ]; then
    echo "run_mujoco.sh: $build/mayfly is missing: run ./dev build first" >&2
    exit 1
fi
python=${MAYFLY_PYTHON:-$("$here/peers_mujoco.sh")}
cd "$build" # MuJoCo writes its log where it runs
exec "$python" "$here/mujoco_bench.py" "$build/mayfly" "${MAYFLY_SHARED:-$root/../shared}"
