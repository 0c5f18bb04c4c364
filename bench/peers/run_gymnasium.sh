#!/bin/sh
# Vector environments of Mayfly and of Gymnasium with MuJoCo, timed side by side on this machine.
#
#     bench/peers/run_gymnasium.sh [--compare] [TASK...]
#
# With --compare: how far observations are from Gymnasium's after one and ten steps. Needs Python
# 3.10 or newer with venv, and the network; or a Python that has all of it in MAYFLY_PYTHON.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
build=$(cd "${MAYFLY_BUILD:-$root/build}" && pwd)
venv=$root/build/peers-gymnasium
if [ -z "${MAYFLY_PYTHON:-}" ]; then
    if [ ! -f "$venv/ready-1" ]; then
        echo "run_gymnasium.sh: installing Gymnasium and MuJoCo into $venv" >&2
        python3 -m venv "$venv"
        "$venv/bin/pip" install --quiet "gymnasium[mujoco]" mujoco numpy
        touch "$venv/ready-1"
    fi
    # Every time: it links what is in the build folder now.
    "$venv/bin/pip" install --quiet --force-reinstall --no-deps \
        -C "cmake.define.MAYFLY_PREBUILT=$build" "$root/python"
    "$venv/bin/pip" install --quiet cffi
fi
python=${MAYFLY_PYTHON:-$venv/bin/python}
script=gymnasium_bench.py
if [ "${1:-}" = --compare ]; then
    shift
    script=gymnasium_compare.py
fi
export MUJOCO_GL=disable
exec "$python" "$here/$script" "$@"
