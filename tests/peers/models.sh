# Common code of the comparisons with MuJoCo; they read it with `.` after setting `probe`, the
# program that answers, with SOURCE_DIR BUILD_DIR as their own arguments. Sets source, build, python,
# table, states, and models: the shared ones and gymnasium's. MAYFLY_PYTHON names a Python that has
# mujoco and numpy (and gymnasium), MAYFLY_PEER_STATES how many random states (20; the docs have
# 1000), MAYFLY_PEER_TABLE=1 makes the table of the docs.
source=$(cd "$1" && pwd)
build=$(cd "$2" && pwd)
python=${MAYFLY_PYTHON:-python3}
shared=${MAYFLY_SHARED:-$source/../shared}
probe=$build/$probe
command -v "$python" > /dev/null || { echo "skipped: no $python"; exit 77; }
[ -x "$probe" ] && [ -x "$build/mayfly" ] || { echo "skipped: $probe is not built"; exit 77; }
models="$source/tests/motion/actuators.xml $source/tests/motion/tendons.xml
    $source/tests/motion/fluids.xml"
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
states=${MAYFLY_PEER_STATES:-20}
