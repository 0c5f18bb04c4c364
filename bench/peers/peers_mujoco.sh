#!/bin/sh
# Prints the path of a Python that has MuJoCo, NumPy and gymnasium (whose models are timed, too).
# On its first run they come from the package index into build/peers-mujoco and touch nothing else.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
venv=$root/build/peers-mujoco
if [ ! -f "$venv/ready-2" ]; then
    echo "peers_mujoco.sh: installing MuJoCo into $venv" >&2
    python3 -m venv "$venv"
    "$venv/bin/pip" install --quiet mujoco numpy gymnasium
    touch "$venv/ready-2"
fi
echo "$venv/bin/python"
