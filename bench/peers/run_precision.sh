#!/bin/sh
# The work-precision study beside MuJoCo: measures for some minutes, then writes the tables of
# docs/studies/precision.md and bench/peers/precision.md, and docs/images/precision.svg.
#
#     bench/peers/run_precision.sh [--page]       --page: from the numbers of the last run
#
# Needs Python 3.10 or newer with venv, and the network on its first run, as run_mujoco.sh.
# $MAYFLY_BUILD is the folder of the build, else build; $MAYFLY_PYTHON a Python that has MuJoCo.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
build=${MAYFLY_BUILD:-$root/build}
program=$build/bench_precision
numbers=$build/precision.json
if [ ! -x "$program" ]; then
    echo "run_precision.sh: $program is missing: run ./dev build first" >&2
    exit 1
fi
python=${MAYFLY_PYTHON:-$("$here/peers_mujoco.sh")}
[ "${1-}" = --page ] || rm -f "$numbers"
cd "$build" # MuJoCo writes its log where it runs
exec "$python" "$here/precision.py" "$program" "$numbers"
