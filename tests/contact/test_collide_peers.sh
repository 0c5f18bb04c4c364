#!/bin/sh
# The shared models and those that gymnasium ships have the pairs of shapes that MuJoCo lets touch.
# MAYFLY_PYTHON names a Python that has mujoco (and gymnasium).
set -eu
source=$1
build=$2
python=${MAYFLY_PYTHON:-python3}
shared=${MAYFLY_SHARED:-$source/../shared}
probe=$build/test_contact_collide
command -v "$python" > /dev/null || { echo "skipped: no $python"; exit 77; }
[ -x "$probe" ] || { echo "skipped: $probe is not built"; exit 77; }
models=
for model in mujoco_models/humanoid.xml mujoco_models/car.xml booster_t1/t1.xml \
    bitcraze_crazyflie_2/cf2.xml skydio_x2/x2.xml wonik_allegro/left_hand.xml \
    wonik_allegro/right_hand.xml; do
    [ ! -f "$shared/models/$model" ] || models="$models $shared/models/$model"
done
gym=$("$python" -c 'import os, importlib.util as u
s = u.find_spec("gymnasium")
print(os.path.join(os.path.dirname(s.origin), "envs", "mujoco", "assets") if s else "")' 2> /dev/null || :)
[ -z "$gym" ] || models="$models $(echo "$gym"/*.xml)"
[ -n "$models" ] || { echo "skipped: no models"; exit 77; }
# shellcheck disable=SC2086
exec "$python" "$source/tests/contact/collide_peers.py" "$probe" $models
