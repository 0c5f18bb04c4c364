#!/bin/sh
# Every public robot here and in MuJoCo (robots.py): the summary of docs/studies/peers.md and the
# rows of bench/peers/robots.md.
#
#     bench/peers/run_robots.sh [--write] [options of robots.py] NAME=FOLDER...
#
# FOLDER: a clone of a public collection, for example mujoco_menagerie. --write puts both tables between
# the markers of these pages. Needs Python 3.10 or newer with venv, and the network on its first run.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
build=${MAYFLY_BUILD:-$root/build}
page=
if [ "${1-}" = --write ]; then
    page=$root/docs/studies/peers.md
    shift
fi
for needed in "$build/test_motion_articulated_models" "$build/python/wheels"; do
    if [ ! -e "$needed" ]; then
        echo "run_robots.sh: $needed is missing: run ./dev test python first" >&2
        exit 1
    fi
done
python=${MAYFLY_PYTHON:-$("$here/peers_mujoco.sh")}
"${python%/*}/pip" -q install --force-reinstall --no-deps "$build"/python/wheels/mayfly-*.whl cffi \
    pycparser >&2
out=$build/robots_peers.txt
rows=$build/robots_rows.txt
cd "$build" # MuJoCo writes its log where it runs
"$python" "$here/robots.py" --probe "$build/test_motion_articulated_models" \
    --json "$build/robots_peers.jsonl" --table "$rows" "$@" > "$out"
cat "$out"
if [ -n "$page" ]; then
    "$python" "$here/robots_page.py" "$page" "$out"
    "$python" "$here/robots_page.py" "$here/robots.md" "$rows" rows
fi
