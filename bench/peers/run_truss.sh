#!/bin/sh
# Relaxation of trusses beside SciPy and MuJoCo (docs/studies/machines.md), in about a minute.
#
#     bench/peers/run_truss.sh
#
# Needs Python 3.10 or newer with venv, and the network on its first run. $MAYFLY_PYTHON: a
# Python that has MuJoCo and SciPy.
. "$(dirname "$0")/common.sh"
program=$build/bench_truss
needs "$program" "./dev build"
find_mujoco
"$python" -c 'import scipy' 2>/dev/null || "$python" -m pip install --quiet scipy
rate=$("$build/mayfly" bench truss-shared --steps 1 --repeats 1 | sed -n 's/^this core: //p')
cd "$build" # MuJoCo writes its log where it runs
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
exec "$python" "$here/truss.py" "$program" "$rate"
