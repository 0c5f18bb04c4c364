#!/bin/sh
# MuJoCo's own files load and move as in MuJoCo, and sensors on fixed things feel what they feel there
# (mujoco_files.py, fixed_things.py). Only with MAYFLY_FULL=1, since it takes minutes. MAYFLY_MUJOCO
# names a clone of MuJoCo, whose folders model/ and test/ are tried; without it the files of the
# package of the package index are.
#
#     test_mujoco_files.sh SOURCE_DIR BUILD_DIR
set -eu
source=$(cd "$1" && pwd)
build=$(cd "$2" && pwd)
[ "${MAYFLY_FULL-}" = 1 ] || { echo "skipped: needs MAYFLY_FULL=1"; exit 77; }
[ -d "$build/python/wheels" ] || { echo "skipped: needs ./dev wheel"; exit 77; }
python=${MAYFLY_PYTHON:-$("$source/bench/peers/peers_mujoco.sh")}
"$python" -m pip -q install --force-reinstall --no-deps "$build"/python/wheels/mayfly_sim-*.whl
"$python" -m pip -q install cffi
cd "$build" # MuJoCo writes its log where it runs
"$python" "$source/tests/peers/fixed_things.py"
if [ -n "${MAYFLY_MUJOCO-}" ]; then
    set -- "$MAYFLY_MUJOCO/model" "$MAYFLY_MUJOCO/test"
else
    set -- "$("$python" -c 'import mujoco, os; print(os.path.dirname(mujoco.__file__))')/testdata"
fi
exec "$python" "$source/tests/peers/mujoco_files.py" "$@"
