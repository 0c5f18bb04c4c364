#!/bin/sh
# The work-precision study beside MuJoCo: measures for some minutes, then writes the tables of
# docs/studies/precision.md and bench/peers/precision.md, and docs/images/precision.svg.
#
#     bench/peers/run_precision.sh [--page]       --page: from the numbers of the last run
#
# Needs Python 3.10 or newer with venv, and the network on its first run, as run_mujoco.sh.
. "$(dirname "$0")/common.sh"
program=$build/bench_precision
numbers=$build/precision.json
needs "$program" "./dev build"
find_mujoco
[ "${1-}" = --page ] || rm -f "$numbers"
cd "$build" # MuJoCo writes its log where it runs
exec "$python" "$here/precision.py" "$program" "$numbers"
