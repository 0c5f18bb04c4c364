#!/bin/sh
# bench_precision, from outside: what the work-precision study stands on.
#
#     test_bench_precision.sh SOURCE_DIR BUILD_DIR
set -u
source_dir=$1
bench=$2/bench_precision
[ -x "$bench" ] || { echo "skipped: $bench has not been built"; exit 77; }
work=$(mktemp -d) || exit 77
trap 'rm -rf "$work"' EXIT
cd "$source_dir/models" || exit 77
failures=0

fail() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}

# near LINE WORD VALUE TOLERANCE: a word of a line of $work/out.
near() {
    awk -v line="$1" -v word="$2" -v b="$3" -v t="$4" \
        'NR == line { d = $word - b; exit !(d <= t && -d <= t) }' "$work/out" ||
        fail "word $2 of line $1 is $(sed -n "$1p" "$work/out" | cut -d' ' -f"$2"), expected $3 within $4"
}

# A box at 2 m/s with mu 0.3 stops after v^2 / (2 mu g) = 0.679579 m, 0.6796 s: line 12 is at
# 0.704 s. Words: time, kinetic and potential energy, x, y, z.
"$bench" sliding_box.xml step 500000 friction 0.3 >"$work/out" || fail 'the box does not run'
near 12 1 0.704 1e-9
near 12 2 0 1e-6
near 12 4 0.679579 2e-3
near 12 6 0.05 1e-5
[ "$(wc -l <"$work/out")" -eq 18 ] || fail 'expected 17 moments and the cost'
grep -q '^cost .* 2048 0$' "$work/out" || fail 'expected 2048 steps without a fault'
# Steps a tenth as long: errors of first order.
"$bench" sliding_box.xml step 50000 every 704000000 frames 1 friction 0.3 >"$work/out"
near 2 4 0.679579 2e-4

# 4 kg pushed by 20 N against 0.3 * 4 * 9.81 N for 0.512 s: (5 - 2.943) 0.512^2 / 2 = 0.26962 m.
"$bench" resting_box.xml hard 1 step 250000 every 512000000 frames 1 friction 0.3 \
    force 0,20,0 >"$work/out" || fail 'the push does not run'
near 2 5 0.26962 5e-4

# Controls reach the servos: a wave without amplitude stands, with one it walks.
stand='wave 0.9,0,0 wave -1.8,0,0'
trot='wave 0.9,0.15,0 wave -1.8,0.2,0.25' turned='wave 0.9,0.15,0.5 wave -1.8,0.2,0.75'
# shellcheck disable=SC2086 # words, to be split
"$bench" trotter.xml friction 0.8 frequency 4 $stand $stand $stand $stand >"$work/out"
near 17 4 0 0.01
# shellcheck disable=SC2086
"$bench" trotter.xml friction 0.8 frequency 4 $trot $turned $turned $trot >"$work/out"
near 17 4 0.5 0.2
cp "$work/out" "$work/alone"
# shellcheck disable=SC2086
"$bench" trotter.xml friction 0.8 frequency 4 robots 21 $trot $turned $turned $trot >"$work/out"
grep -v cost "$work/alone" >"$work/a"
grep -v cost "$work/out" >"$work/b"
cmp -s "$work/a" "$work/b" || fail 'company changes the first robot'

# The places of a file whose link 0 is the world are those of the file.
"$bench" stack.xml frames 1 >"$work/out" || fail 'the stack does not run'
near 1 6 0.06 1e-12
near 1 15 0.39 1e-12

"$bench" sliding_box.xml steps 3 >"$work/out" 2>&1 && fail 'an unknown option is taken'
grep -q "'steps 3'" "$work/out" || fail 'the message lacks the option'
"$bench" trotter.xml wave 1,0,0 >"$work/out" 2>&1 && fail 'too few waves are taken'
grep -q '1 waves for 8 actuators' "$work/out" || fail 'the message lacks the count'

[ "$failures" -eq 0 ] || exit 1
echo 'scenes run'
