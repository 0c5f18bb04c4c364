#!/bin/sh
# Prints the path of a Python that has MuJoCo, NumPy and gymnasium (whose models are timed, too).
# On its first run they come from the package index into build/peers-mujoco and touch nothing else.
. "$(dirname "$0")/common.sh"
install_peers peers-mujoco 2 mujoco numpy gymnasium
echo "$venv/bin/python"
