#!/bin/sh
# ./dev: its help, its errors, and what its set-up would install. The package tools are stand-ins
# that only note what they are asked, so nothing on this machine changes.
# usage: test_dev.sh SOURCE_FOLDER BUILD_FOLDER
set -eu
work=$(cd "$(mktemp -d)" && pwd -P)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/tree/build"
cp "$1/dev" "$work/tree"
dev=$work/tree/dev
failures=0

expect() {
    if ! eval "$2"; then
        echo "FAILED: $1" && cat "$work/out" "$work/log" 2>/dev/null
        failures=$((failures + 1))
    fi
}

# call EXPECTED_STATUS WORD...: runs ./dev with the stand-ins first in the PATH.
call() {
    wanted=$1
    shift
    : >"$work/log"
    status=0
    PATH="$work/bin:$PATH" sh "$dev" "$@" >"$work/out" 2>&1 </dev/null || status=$?
    expect "./dev $* exits with $status, expected $wanted" '[ "$status" = "$wanted" ]'
}

stand_in() {
    mkdir -p "$work/bin"
    { echo '#!/bin/sh' && cat; } >"$work/bin/$1"
    chmod +x "$work/bin/$1"
}

# A system that has every package but those named in $work/absent; user id in $work/user.
stand_in dpkg-query <<END
for name in "\$@"; do
    case \$name in -*|*{*) continue ;; esac
    if grep -qxF "\$name" "$work/absent"; then
        echo "dpkg-query: no packages found matching \$name" >&2
    else
        echo "\$name installed"
    fi
done
! [ -s "$work/absent" ]
END
stand_in apt-get <<END
echo "apt-get \$*" >>"$work/log"
END
stand_in id <<END
cat "$work/user"
END
stand_in sudo <<END
echo "sudo \$1" >>"$work/log"
exec "\$@"
END
: >"$work/absent"
echo 0 >"$work/user"

call 0 help
expect 'help names every word' '(for word in setup build run test bench check format lint; do
    grep -q "^  $word " "$work/out" || exit 1; done)'
call 0
expect 'no word at all gives the help' 'grep -q "^usage: ./dev" "$work/out"'
call 2 fly
expect 'the unknown word is named' "grep -q \"unknown word 'fly'\" \"$work/out\""
call 2 test quickly
expect 'the unknown kind of test is named' "grep -q \"got 'quickly'\" \"$work/out\""
call 2 format --hard

call 0 setup
expect 'nothing missing: apt-get is not called and nothing is said' \
    '[ ! -s "$work/log" ] && [ ! -s "$work/out" ]'

printf 'libpng-dev\nlibcmocka-dev\n' >"$work/absent"
call 0 setup
expect 'it says what it installs' 'grep -q "installing.*libpng-dev" "$work/out"'
expect 'lists are updated first' 'sed -n 1p "$work/log" | grep -q "apt-get .*update"'
expect 'only what is missing is installed' \
    'sed -n 2p "$work/log" | grep -q "install --no-install-recommends libpng-dev libcmocka-dev *$"'
expect 'root needs no sudo' '! grep -q sudo "$work/log"'

echo 1000 >"$work/user"
call 0 setup
expect 'everybody else uses sudo' '[ "$(grep -c "^sudo" "$work/log")" = 2 ]'

# A PATH with neither sudo nor a way to become root.
mkdir "$work/plain"
for tool in dirname cat grep env; do
    ln -s "$(command -v $tool)" "$work/plain/$tool"
done
cp "$work/bin/dpkg-query" "$work/bin/apt-get" "$work/bin/id" "$work/plain"
status=0
shell=$(command -v sh)
PATH="$work/plain" "$shell" "$dev" setup >"$work/out" 2>&1 || status=$?
expect 'without root and sudo it fails' '[ "$status" = 1 ]'
expect 'and says what to do' 'grep -q "apt-get install .*libpng-dev" "$work/out"'

rm "$work/plain/dpkg-query"
status=0
PATH="$work/plain" "$shell" "$dev" setup >"$work/out" 2>&1 || status=$?
expect 'elsewhere than on Debian it names the packages and goes on' \
    '[ "$status" = 0 ] && grep -q "no Debian.*cmake" "$work/out"'

stand_in apt-get <<END
echo "apt-get \$*" >>"$work/log"
case "\$*" in *install*) exit 100 ;; esac
END
echo 0 >"$work/user"
call 1 setup
expect 'a failed installation is an error' 'grep -q "could not install: libpng-dev" "$work/out"'

# run: a build that is there already, and a command that prints its arguments, one a line.
stand_in cmake <<END
echo "cmake \$*" >>"$work/log"
END
: >"$work/absent"
printf '#!/bin/sh\nprintf "<%%s>\\n" "$@"\n' >"$work/tree/build/mayfly"
chmod +x "$work/tree/build/mayfly"

# arguments_are TEXT: what the command was called with, without what dev says.
arguments_are() {
    arguments=$1
    expect "./dev run gives: $1" '[ "$(grep "^<" "$work/out" | tr -d "\n")" = "$arguments" ]'
}

# What it prints works where the user stands: here in the folder itself, below elsewhere.
cd "$work/tree"
call 0 run
arguments_are '<evolve><scenes/hexapod.yaml><--out><runs/hexapod>'
expect 'it configures and builds the command only' \
    'grep -q "preset release" "$work/log" && grep -q "target mayfly_app" "$work/log"'
mkdir -p "$work/tree/runs/hexapod"
call 0 run --name 'two words'
arguments_are '<evolve><scenes/hexapod.yaml><--out><runs/hexapod><--resume><--name><two words>'
expect 'going on with a run is said' 'grep -q "did not finish" "$work/out"'
: >"$work/tree/runs/hexapod/report.html"
call 0 run
arguments_are '<evolve><scenes/hexapod.yaml><--out><runs/hexapod-2>'
expect 'a new folder is said' 'grep -q "is finished: starting runs/hexapod-2" "$work/out"'
call 0 run --out=elsewhere
arguments_are '<evolve><scenes/hexapod.yaml><--out=elsewhere>'
call 0 run --help
arguments_are '<evolve><scenes/hexapod.yaml><--help>'
printf '#!/bin/sh\nprintf "<%%s>\\n" "$0" "$PWD" "$@"\n' >"$work/tree/build/mayfly"
call 0 bench --json
arguments_are "<build/mayfly><$work/tree><bench><--json>"
mkdir -p "$work/tree/bench"
echo 'import sys; print("<" + "><".join(sys.argv[1:]) + ">")' >"$work/tree/bench/history.py"
call 0 bench compare main points-single
arguments_are '<compare><main><points-single>'
call 0 build
expect 'it says what to type next' 'grep -q "try: build/mayfly run models" "$work/out"'
mkdir "$work/elsewhere"
cd "$work/elsewhere"
call 0 check C7
arguments_are "<$work/tree/build/mayfly><$work/elsewhere><check><C7>"
call 0 run
arguments_are "<$work/tree/build/mayfly><$work/elsewhere><evolve><$work/tree/scenes/hexapod.yaml><--out>$(
    )<$work/tree/runs/hexapod-2>"
call 0 build
expect 'elsewhere it says so with its folder' \
    'grep -q "try: $work/tree/build/mayfly run models" "$work/out"'

[ "$failures" = 0 ] && echo 'dev does what it says'
[ "$failures" = 0 ]
