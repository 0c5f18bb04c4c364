#!/bin/sh
# Sensor values of a model with everything, of the shared models and of those that gymnasium ships
# equal MuJoCo's. MAYFLY_PYTHON names a Python that has mujoco and numpy (and gymnasium),
# MAYFLY_PEER_STATES how many random states (20; docs/instruments.md has 1000), MAYFLY_PEER_TABLE=1
# makes the table of the docs.
set -eu
source=$(cd "$1" && pwd)
build=$(cd "$2" && pwd)
python=${MAYFLY_PYTHON:-python3}
shared=${MAYFLY_SHARED:-$source/../shared}
probe=$build/test_sense_instruments
command -v "$python" > /dev/null || { echo "skipped: no $python"; exit 77; }
[ -x "$probe" ] && [ -x "$build/mayfly" ] || { echo "skipped: $probe is not built"; exit 77; }
models="$source/tests/sense/instruments.xml $source/tests/motion/actuators.xml"
for model in mujoco_models/humanoid.xml mujoco_models/car.xml booster_t1/t1.xml \
    bitcraze_crazyflie_2/cf2.xml skydio_x2/x2.xml wonik_allegro/left_hand.xml \
    wonik_allegro/right_hand.xml robot_soccer_kit/robot_soccer_kit.xml; do
    [ ! -f "$shared/models/$model" ] || models="$models $shared/models/$model"
done
gym=$("$python" -c 'import os, importlib.util as u
s = u.find_spec("gymnasium")
print(os.path.join(os.path.dirname(s.origin), "envs", "mujoco", "assets") if s else "")' 2> /dev/null || :)
[ -z "$gym" ] || models="$models $(echo "$gym"/*.xml)"
table=
[ -z "${MAYFLY_PEER_TABLE:-}" ] || table=--table
# shellcheck disable=SC2086
exec "$python" "$source/tests/sense/instruments_peers.py" $table "$probe" \
    "$build/mayfly info --mjcf" "${MAYFLY_PEER_STATES:-20}" $models
