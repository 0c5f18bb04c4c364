#!/bin/sh
# Vector environments of Mayfly and of Gymnasium with MuJoCo, timed side by side on this machine.
#
#     bench/peers/run_gymnasium.sh [--compare] [TASK...]
#
# With --compare: how far observations are from Gymnasium's after one and ten steps. Needs Python
# 3.10 or newer with venv, and the network on its first run.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
build=${MAYFLY_BUILD:-$root/build}
venv=$root/build/peers-gymnasium
if [ -z "${MAYFLY_PYTHON:-}" ] && [ ! -f "$venv/ready-1" ]; then
    echo "run_gymnasium.sh: installing Gymnasium, MuJoCo and the bindings into $venv" >&2
    python3 -m venv "$venv"
    "$venv/bin/pip" install --quiet 'gymnasium[mujoco]' mujoco numpy cffi
    touch "$venv/ready-1"
fi
python=${MAYFLY_PYTHON:-$venv/bin/python}
script=gymnasium_bench.py
if [ "${1:-}" = --compare ]; then
    shift
    script=gymnasium_compare.py
fi
export MUJOCO_GL=disable
exec "$python" "$here/$script" "$root" "$build" "$@"
