#!/bin/sh
# Articulated robots of Mayfly and of MuJoCo, timed side by side on this machine.
#
#     bench/peers/run_mujoco.sh
#
# Needs Python 3.10 or newer with venv, and the network on its first run (peers_mujoco.sh). Files of
# the shared folder ($MAYFLY_SHARED or ../shared) and of gymnasium are timed where they are.
. "$(dirname "$0")/common.sh"
needs "$build/mayfly" "./dev build"
find_mujoco
cd "$build" # MuJoCo writes its log where it runs
exec "$python" "$here/mujoco_bench.py" "$build/mayfly" "${MAYFLY_SHARED:-$root/../shared}"
