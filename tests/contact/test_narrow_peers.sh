#!/bin/sh
# Depths of random pairs of solids equal MuJoCo's. MAYFLY_PYTHON names a Python that has mujoco and
# numpy.
set -eu
source=$1
build=$2
python=${MAYFLY_PYTHON:-python3}
probe=$build/test_contact_narrow
command -v "$python" > /dev/null || { echo "skipped: no $python"; exit 77; }
[ -x "$probe" ] || { echo "skipped: $probe is not built"; exit 77; }
exec "$python" "$source/tests/contact/narrow_peers.py" "$probe" "${MAYFLY_PEER_STATES:-100}"
