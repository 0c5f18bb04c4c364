#!/bin/sh
# Boxes, meshes and capsules on boxes accelerate as in MuJoCo (face_peers.py). MAYFLY_PYTHON names a
# Python that has mujoco, numpy and this project's package.
set -eu
source=$1
python=${MAYFLY_PYTHON:-python3}
command -v "$python" > /dev/null || { echo "skipped: no $python"; exit 77; }
exec "$python" "$source/tests/contact/face_peers.py" "${MAYFLY_PEER_STATES:-20}" box/box box/mesh \
    mesh/mesh
