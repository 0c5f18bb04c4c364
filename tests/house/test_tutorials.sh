#!/bin/sh
# The commands of the tutorials run, and print what the tutorials say.
# usage: test_tutorials.sh SOURCE_FOLDER BUILD_FOLDER
set -eu
[ -x "$2/mayfly" ] || { echo 'skipped: this build has no command' && exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 "$1/tests/house/tutorials.py" "$1" "$2" "$work"
echo 'the tutorials do what they say'
