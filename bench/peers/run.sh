#!/bin/sh
# Quadrotors of Mayfly and of other simulators, timed side by side on this machine.
#
#     bench/peers/run.sh [COUNT...]
#
# Needs Python 3.11 or newer with venv, and the network on its first run: the peers come from the
# package index into build/peers and touch nothing else.
. "$(dirname "$0")/common.sh"
needs "$build/mayfly" "./dev build"
install_peers peers 1 -r "$here/requirements.txt"
exec "$venv/bin/python" "$here/quadrotor.py" "$build/mayfly" "$@"
