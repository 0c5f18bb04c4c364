#!/bin/sh
# Imported MJCF models against MuJoCo's own compiler: every mass, joint, geom, actuator, sensor and
# pose. usage: test_mujoco.sh SOURCE BUILD. The Python that has mujoco (and, for its models,
# gymnasium) is named by MAYFLY_PYTHON; without one the test is skipped (77).
source=$(cd "$1" && pwd)
build=$(cd "$2" && pwd)
python=${MAYFLY_PYTHON:-python3}
shared=${MAYFLY_SHARED:-$source/../shared}

if ! "$python" -c 'import mujoco' 2> /dev/null; then
    echo "skipped: $python has no module mujoco (set MAYFLY_PYTHON)"
    exit 77
fi
if [ ! -x "$build/mayfly" ]; then
    echo "skipped: no $build/mayfly"
    exit 77
fi
gymnasium=$("$python" -c 'import gymnasium, os
print(os.path.join(os.path.dirname(gymnasium.__file__), "envs", "mujoco", "assets"))' 2> /dev/null)
[ -n "$gymnasium" ] || echo "without gymnasium's models: $python has no module gymnasium"

set -- "$source/tests/model/replicate.xml" "$source/tests/motion/fluids.xml" \
    "$source/tests/sense/contacts.xml"
for folder in "$gymnasium" "$shared/models"; do
    [ -d "$folder" ] || continue
    for file in $(find "$folder" -name '*.xml' ! -name package.xml ! -name keyframes.xml | sort); do
        set -- "$@" "$file"
    done
done
cd "$build" # MuJoCo writes its log where it runs
exec "$python" "$source/tests/peers/mujoco_model.py" "$build/mayfly info --json" "$@"
