#!/bin/sh
# The equations of motion of the shared models, of those that gymnasium ships and of one with every
# actuator equal MuJoCo's. tests/peers/models.sh names the settings.
#
#     test_articulated_peers.sh SOURCE_DIR BUILD_DIR
set -eu
probe=test_motion_articulated_models
# shellcheck source=tests/peers/models.sh
. "$1/tests/peers/models.sh"
# shellcheck disable=SC2086
exec "$python" "$source/tests/motion/articulated_peers.py" $table "$probe" \
    "$build/mayfly info --mjcf" "$states" $models
