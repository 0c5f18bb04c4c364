#!/bin/sh
# Every command that README.md, CONTRIBUTING.md, docs/ and the help texts show works in a fresh clone
# (commands.py), and the reader of pages sees what is wrong.
# usage: test_commands.sh SOURCE_FOLDER BUILD_FOLDER
set -eu
source=$(cd "$1" && pwd)
build=$(cd "$2" && pwd)
[ -x "$build/mayfly" ] || { echo "skipped: $build/mayfly has not been built" && exit 77; }
grep -q '^MAYFLY_SANITIZE:STRING=$' "$build/CMakeCache.txt" ||
    { echo 'skipped: a build with sanitizers takes too long' && exit 77; }
command -v python3 >/dev/null || { echo 'skipped: no python3' && exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/clone" "$work/wrong" "$work/copy"
python3 "$source/tests/house/commands.py" "$source" "$build" "$work/clone"

# Pages with mistakes of each kind, each of which must be found.
for name in models scenes examples dev; do
    ln -s "$source/$name" "$work/copy/$name"
done
mkdir "$work/copy/docs"
: >"$work/copy/CONTRIBUTING.md"
# shellcheck disable=SC2016 # backquotes are meant
printf '%s\n' 'Say `mayfly rnu robot.xml`, `./dev bild`, `./dev test quickly`, or' \
    '`mayfly run models/gone.urdf`; `mayfly info` and' '`mayfly evolve --generatons` are words.' '' '`mayfly check Z9`' \
    '```' 'mayfly run models/hexapod.urdf --gait tripod   # good' \
    'build/mayfly run scenes/hexapod.yaml --seconds 3' \
    'mayfly info models/hexapod.urdf --mjcf out.urdf' '```' >"$work/copy/README.md"
if python3 "$source/tests/house/commands.py" "$work/copy" "$build" "$work/wrong" \
    >"$work/out" 2>/dev/null; then
    cat "$work/out" && echo 'FAILED: mistakes are not found' && exit 1
fi
for wrong in 'mayfly rnu' './dev bild' './dev test quickly' 'models/gone.urdf' '--generatons' \
    '--seconds' '--mjcf' 'mayfly check Z9'; do
    grep -q -- "^FAILED: README.md: .*$wrong" "$work/out" ||
        { cat "$work/out" && echo "FAILED: not found: $wrong" && exit 1; }
done
[ "$(grep -c '^FAILED: README.md' "$work/out")" = 8 ] ||
    { cat "$work/out" && echo 'FAILED: what is right is called wrong' && exit 1; }
echo 'what is shown can be typed'
