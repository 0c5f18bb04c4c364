#!/bin/sh
# Vector environments of Mayfly and of Gymnasium with MuJoCo, timed side by side on this machine.
#
#     bench/peers/run_gymnasium.sh [--compare] [TASK...]
#
# With --compare: how far observations are from Gymnasium's after one and ten steps. Needs Python
# 3.10 or newer with venv, and the network; or a Python that has all of it in MAYFLY_PYTHON.
. "$(dirname "$0")/common.sh"
build=$(cd "$build" && pwd)
if [ -z "${MAYFLY_PYTHON:-}" ]; then
    install_peers peers-gymnasium 1 "gymnasium[mujoco]" mujoco numpy
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
