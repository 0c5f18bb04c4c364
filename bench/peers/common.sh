# What the scripts beside it share; they begin with `. "$(dirname "$0")/common.sh"`.
#
# $MAYFLY_BUILD is the folder of the build, else build; $MAYFLY_PYTHON a Python that has the peers.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
build=${MAYFLY_BUILD:-$root/build}

# needs FILE HOW: ends the script where the file is missing.
needs() {
    [ -e "$1" ] && return
    echo "${0##*/}: $1 is missing: run $2 first" >&2
    exit 1
}

# install_peers NAME NUMBER PACKAGE...: sets $venv to build/NAME, a virtual environment that has the packages; they are
# installed once for each number. Those in $optional are left out where this Python has none of them.
install_peers() {
    venv=$root/build/$1
    ready=$venv/ready-$2
    shift 2
    [ -f "$ready" ] && return
    echo "${0##*/}: installing the peers into $venv" >&2
    python3 -m venv "$venv"
    "$venv/bin/pip" install --quiet "$@"
    for package in ${optional-}; do
        "$venv/bin/pip" install --quiet --only-binary :all: "$package" ||
            echo "${0##*/}: no package of $package for this Python" >&2
    done
    touch "$ready"
}

# Sets $python to one that has MuJoCo.
find_mujoco() {
    python=${MAYFLY_PYTHON:-$("$here/peers_mujoco.sh")}
}

# install_mayfly PIP: our package, as `./dev test python` made it.
install_mayfly() {
    "$1" -q install --force-reinstall --no-deps "$build"/python/wheels/mayfly_sim-*.whl cffi pycparser >&2
}
