#!/bin/sh
# Quadrotors of Mayfly and of other simulators, timed side by side on this machine.
#
#     bench/peers/run.sh [COUNT...]
#
# Needs Python 3.11 or newer with venv, and the network on its first run: the peers come from the
# package index into build/peers and touch nothing else.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
venv=$root/build/peers
if [ ! -x "$root/build/mayfly" ]; then
    echo "run.sh: build/mayfly is missing: run ./dev build first" >&2
    exit 1
fi
if [ ! -f "$venv/ready" ]; then
    echo "run.sh: installing the peers into $venv" >&2
    python3 -m venv "$venv"
    "$venv/bin/pip" install --quiet -r "$here/requirements.txt"
    touch "$venv/ready"
fi
exec "$venv/bin/python" "$here/quadrotor.py" "$root/build/mayfly" "$@"
