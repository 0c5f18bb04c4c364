#!/bin/sh
# Contact sensors equal MuJoCo's. tests/peers/models.sh names the settings.
#
#     test_contacts_peers.sh SOURCE_DIR BUILD_DIR
set -eu
probe=test_sense_model_readings
# shellcheck source=tests/peers/models.sh
. "$1/tests/peers/models.sh"
exec "$python" "$source/tests/sense/contacts_peers.py" "$probe" "$build/mayfly info --mjcf" \
    "$((states * 10))" "$source/tests/sense/contacts.xml"
