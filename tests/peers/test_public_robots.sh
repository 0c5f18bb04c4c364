#!/bin/sh
# Public robots load as they are, stand or fall as in MuJoCo, and step alike from random states without
# contacts. Only with MAYFLY_FULL=1: the files
# come from the package index (dm_control, gymnasium-robotics), and it takes minutes. MAYFLY_MENAGERIE
# names a clone of MuJoCo Menagerie, which is tried too, with MuJoCo Playground's scenes on top.
#
#     test_public_robots.sh SOURCE_DIR BUILD_DIR
set -eu
source=$(cd "$1" && pwd)
build=$(cd "$2" && pwd)
[ "${MAYFLY_FULL-}" = 1 ] || { echo "skipped: needs MAYFLY_FULL=1"; exit 77; }
[ -d "$build/python/wheels" ] || { echo "skipped: needs ./dev wheel"; exit 77; }
probe=$build/test_motion_articulated_models
robots=$build/peers-robots
python=${MAYFLY_PYTHON:-$("$source/bench/peers/peers_mujoco.sh")}
"$python" -m pip -q install --upgrade --no-deps --target "$robots" dm_control gymnasium-robotics \
    playground
"$python" -m pip -q install --force-reinstall --no-deps "$build"/python/wheels/mayfly-*.whl
"$python" -m pip -q install cffi
gymnasium=$robots/gymnasium_robotics/envs/assets
set -- "dm_control=$robots/dm_control:suite/*.xml" \
    "gymnasium_robotics=$gymnasium:hand/*.xml,fetch/*.xml,adroit_hand/adroit_*.xml"
if [ -n "${MAYFLY_MENAGERIE-}" ]; then
    "$python" "$source/bench/peers/playground.py" "$robots" "$MAYFLY_MENAGERIE" "$robots/scenes"
    set -- "$@" "menagerie=$MAYFLY_MENAGERIE" \
        "playground=$robots/scenes:*scene*.xml,*hand_over*,*single_*,*cabinet.xml"
fi
cd "$build"
"$python" "$source/bench/peers/robots.py" --require --robots 0 --probe "$probe" "$@"
exec "$python" "$source/bench/peers/one_step.py" --require "$@"
