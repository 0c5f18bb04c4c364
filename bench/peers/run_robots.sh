#!/bin/sh
# Every public robot here and in MuJoCo (robots.py): the summary of docs/studies/peers.md and the
# rows of bench/peers/robots.md.
#
#     bench/peers/run_robots.sh [--write] [options of robots.py] NAME=FOLDER...
#
# FOLDER: a clone of a public collection, for example mujoco_menagerie. --write puts both tables between
# the markers of these pages. Needs Python 3.10 or newer with venv, and the network on its first run.
. "$(dirname "$0")/common.sh"
page=
if [ "${1-}" = --write ]; then
    page=$root/docs/studies/peers.md
    shift
fi
needs "$build/test_motion_articulated_models" "./dev test python"
needs "$build/python/wheels" "./dev test python"
find_mujoco
install_mayfly "${python%/*}/pip"
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
