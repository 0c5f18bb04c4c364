#!/bin/sh
# `compare` and `record` of bench/history.py: turns, ratios, hashes, rows. Commits of a small
# repository, with a stand-in for cmake that makes a command of the speed in the commit's file.
# usage: test_history.sh SOURCE_FOLDER BUILD_FOLDER
set -eu
for tool in git python3; do
    command -v $tool >/dev/null || { echo "skipped: no $tool" && exit 77; }
done
work=$(cd "$(mktemp -d)" && pwd -P)
trap 'rm -rf "$work"' EXIT
tree=$work/tree
failures=0

expect() {
    if ! eval "$2"; then
        echo "FAILED: $1" && cat "$work/out"
        failures=$((failures + 1))
    fi
}

# measure EXPECTED_STATUS WORD...: output in $work/out, benches that ran in $work/log.
measure() {
    wanted=$1
    shift
    : >"$work/log"
    status=0
    PATH="$work/bin:$PATH" python3 "$tree/bench/history.py" "$@" >"$work/out" 2>&1 || status=$?
    expect "$* exits with $status, expected $wanted" '[ "$status" = "$wanted" ]'
}

mkdir -p "$work/bin" "$tree/bench" "$tree/build"
cp "$1/bench/history.py" "$tree/bench"

# The command of a commit, of the name, speed and hash in its folder. Its second run in a log is
# twice as fast; the bench `car` takes no threads, and `new` exists in one commit.
cat >"$work/command" <<END
#!/bin/sh
read -r name speed hash <"\$(dirname "\$0")/facts"
[ "\$1" = bench ] && [ "\$3" = --isa ] || exit 3
case "\$2 \$*" in
car*--threads*) echo 'mayfly bench: --threads has no effect on car' >&2 && exit 2 ;;
esac
[ "\$2" != new ] || [ "\$name" = second ] || { echo "no bench 'new'" >&2 && exit 2; }
echo "\$name" >>"$work/log"
[ "\$(grep -c "\$name" "$work/log")" != 2 ] || speed=\$((2 * speed))
printf '{"bench": "%s", "isa": "%s", "instances": 7, "threads": 1, "gflops": 99.5, ' "\$2" "\$4"
printf '"steps_per_second": %se6, "hash": "%s"}\n' "\$speed" "\$hash"
END
cat >"$work/bin/cmake" <<END
#!/bin/sh
echo "\$*" >>"$work/built"
mkdir -p build
case \$1 in
--preset) : >build/CMakeCache.txt ;;
*) cp "$work/command" build/mayfly && cp facts build ;;
esac
END
chmod +x "$work/command" "$work/bin/cmake"

# commit NAME SPEED HASH
commit() {
    echo "$*" >"$tree/facts"
    git -C "$tree" add -A
    git -C "$tree" -c user.name=Test -c user.email=test@localhost commit -q -m "$1"
    git -C "$tree" tag "$1"
}

git -C "$tree" init -q
echo build/ >"$tree/.gitignore"
commit first 10 aa
commit second 30 aa

measure 0 compare first..second walk --isa scalar --rounds 3
expect 'the fastest turn counts' \
    'grep -q "^walk  *7 scalar  *20 M/s  *60 M/s  *3.000  equal" "$work/out"'
expect 'commits alternate' \
    '[ "$(tr "\n" " " <"$work/log")" = "first second second first first second " ]'
expect 'commits are built' '[ "$(grep -c preset "$work/built")" = 2 ]'
measure 0 compare second..first car --isa scalar --rounds 1
expect 'a bench without threads runs, and the second side is over the first' \
    'grep -q "^car .* 0.333  equal" "$work/out"'
expect 'a commit is configured once' '[ "$(grep -c preset "$work/built")" = 2 ]'
measure 0 compare first..second new --isa scalar --rounds 1
expect 'what one commit does not have is said' \
    'grep -q "new, .*: no bench" "$work/out" && grep -q "^new .* -  *30 M/s  *-  - " "$work/out"'
measure 1 compare first..first new --isa scalar --rounds 1
measure 1 compare missing walk
expect 'a missing commit is named' 'grep -q "no commit .missing" "$work/out"'

# The working tree: another speed and another result, not committed.
echo 'third 15 bb' >"$tree/facts"
cp "$work/command" "$tree/build/mayfly" && cp "$tree/facts" "$tree/build"
measure 0 compare first walk --isa scalar --rounds 1
expect 'the working tree is the other side' 'grep -q "working tree" "$work/out" &&
    grep -q "^walk .* 10 M/s  *15 M/s  *1.500  differ" "$work/out"'
measure 1 record walk --isa scalar
expect 'changes are not recorded as the commit' \
    'grep -q "has changes" "$work/out" && ! [ -e "$tree/bench/history.csv" ]'
commit third 15 bb
measure 0 record walk --isa scalar --rounds 1
measure 0 record walk car --isa scalar --rounds 1 --commits first..third
rows=$tree/bench/history.csv
expect 'the first line names the columns' '[ "$(sed -n 1p "$rows")" = "commit,date,processor,load,isa,$(
    )gflops,bench,instances,threads,steps_per_second,hash" ]'
third=$(git -C "$tree" rev-parse --short=8 third)
expect 'a row has the commit and the figures' \
    'sed -n 2p "$rows" | grep -q "^$third,20.*,scalar,99.5,walk,7,1,1.5e+07,bb$"'
expect 'rows are appended' '[ "$(wc -l <"$rows")" = 6 ]'

[ "$failures" = 0 ] && echo 'history compares and records'
[ "$failures" = 0 ]
