#!/bin/sh
# Sensor values of a model with everything, of the shared models and of those that gymnasium ships
# equal MuJoCo's. tests/peers/models.sh names the settings.
#
#     test_sensors_peers.sh SOURCE_DIR BUILD_DIR
set -eu
probe=test_sense_model_readings
# shellcheck source=tests/peers/models.sh
. "$1/tests/peers/models.sh"
# shellcheck disable=SC2086
exec "$python" "$source/tests/sense/sensors_peers.py" $table "$probe" \
    "$build/mayfly info --mjcf" "$states" "$source/tests/sense/sensors.xml" $models
