#!/bin/sh
# The C example of the README is, line by line, a part of examples/hello.c, and the examples run.
# usage: test_readme.sh SOURCE_FOLDER BUILD_FOLDER
set -eu
source=$1
build=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
    echo "FAILED: $*"
    exit 1
}

sed -n '/^```c$/,/^```$/p' "$source/README.md" | grep -v '^```' >"$work/block"
lines=$(wc -l <"$work/block")
[ "$lines" -ge 10 ] || fail "the README has $lines lines of C, expected at least 10"
# The part of the example that starts at the block's first line must be the block.
start=$(head -n 1 "$work/block")
first=$(grep -nxF -- "$start" "$source/examples/hello.c" | head -n 1 | cut -d: -f1)
[ -n "$first" ] || fail "examples/hello.c lacks the README's line: $start"
sed -n "$first,$((first + lines - 1))p" "$source/examples/hello.c" | diff -u "$work/block" - ||
    fail 'the README and examples/hello.c differ'

[ -x "$build/example_hello" ] || { echo 'skipped: this build has no examples' && exit 77; }
cd "$source"
"$build/example_hello" >"$work/out" || fail "hello exits with $?"
[ "$(grep -cE '^[0-9]\.[0-9]{2} Hz: +[0-9.]+ m$' "$work/out")" = 8 ] ||
    { cat "$work/out" && fail 'hello prints eight distances'; }
sort -u -k3,3 "$work/out" | wc -l | grep -qvx 1 || fail 'stride frequency makes no difference'
awk '$3 > best { best = $3 } END { exit !(best > 0.3 && best < 20) }' "$work/out" ||
    { cat "$work/out" && fail 'the best robot walks between 0.3 m and 20 m in ten seconds'; }
if "$build/example_hello" "$work/none.urdf" >"$work/out" 2>&1; then
    fail 'hello accepts a model that does not exist'
fi
grep -q none.urdf "$work/out" || fail 'hello does not name the missing model'
"$build/example_build_a_robot" >"$work/out" || fail "build_a_robot exits with $?"
# Feet end at -0.12 m, so the body rests 0.12 m above flat ground.
awk '/^3 s/ { exit !($5 > 0.11 && $5 < 0.13) }' "$work/out" ||
    { cat "$work/out" && fail 'the built robot stands on its legs after three seconds'; }
"$build/example_own_fitness" >"$work/out" || fail "own_fitness exits with $?"
# 10 cm of height in 10 s are half a meter of way up the slope.
awk '/^generation 30/ { exit !($4 > 0.1 && $4 < 5) }' "$work/out" ||
    { cat "$work/out" && fail 'evolution climbs at least 10 cm in ten seconds'; }
# docs/how_to/evolve_a_body.md: bodies and gaits, better with time.
"$build/example_evolve_bodies" 10 >"$work/out" || fail "evolve_bodies exits with $?"
awk '/^generation/ { if ($3 < last) exit 1; last = $3 } END { exit !(last > 1 && last < 30) }' \
    "$work/out" || { cat "$work/out" && fail 'evolved bodies walk at least a meter in ten seconds'; }
# At 0.1 m/s both levels come about a meter far in ten seconds.
"$build/example_walk_by_levels" models/hexapod.urdf models/gaits/hexapod/tripod.yaml \
    >"$work/out" || fail "walk_by_levels exits with $?"
awk '/full dynamics/ { end = 1 } /half/ { end = 0 } end && /robot/ { n++; if ($5 < 0.4 || $5 > 1.3) exit 1 }
    END { exit n != 2 }' "$work/out" || { cat "$work/out" && fail 'hexapods walk by levels'; }
"$build/example_controllers" models/hexapod.urdf >"$work/out" || fail "controllers exits with $?"
awk '/^10 s/ { exit !(($5 > 0.05 || $5 < -0.05) && ($10 > 0.05 || $10 < -0.05)) }' "$work/out" ||
    { cat "$work/out" && fail 'both controllers move their robot'; }
# Of 300 grains some stay on the box; none is lost.
"$build/example_pour" >"$work/out" || fail "pour exits with $?"
awk '/^3.0 s/ { exit !($3 == 0 && $6 > 20 && $6 + $12 == 300) }' "$work/out" ||
    { cat "$work/out" && fail 'grains lie on the box and beside it'; }
echo 'the README tells the truth'
