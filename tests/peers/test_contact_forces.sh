#!/bin/sh
# Forces of constraints and contacts of the shared robots after one step equal MuJoCo's in random
# states near the ground, robots that fall onto each other overlap no more than there, and those that
# rest creep no more, with hard contacts not at all.
# MAYFLY_PYTHON names a Python that has mujoco, numpy and this project's package, MAYFLY_PEER_STATES
# how many states of each file (5).
#
#     test_contact_forces.sh SOURCE_DIR BUILD_DIR
set -eu
source=$(cd "$1" && pwd)
build=$(cd "$2" && pwd)
python=${MAYFLY_PYTHON:-python3}
models=${MAYFLY_SHARED:-$source/../shared}/models
"$python" -c 'import mayfly, mujoco, numpy' 2> /dev/null || { echo "skipped: no peers"; exit 77; }
[ -d "$models/unitree_go2" ] || { echo "skipped: no $models"; exit 77; }
cd "$build" # MuJoCo writes its log where it runs
"$python" "$source/tests/peers/falling_robots.py" "$models/unitree_go2" 2
"$python" "$source/tests/peers/resting_robots.py" --hard t1 --hard g1 \
    "$models/unitree_go2/scene.xml" "$models/booster_t1/scene.xml" "$models/unitree_g1/scene_mjx.xml" \
    "$models/anybotics_anymal_c/scene.xml"
exec "$python" "$source/bench/peers/one_step.py" --near --require \
    --states "${MAYFLY_PEER_STATES:-5}" \
    "shared=$models:*scene.xml,*scene_left.xml,*scene_with_hands.xml,*humanoid.xml,*2f85.xml"
