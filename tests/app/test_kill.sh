#!/bin/sh
# kill -9 at fifty (sanitized: eight) random moments: `mayfly evolve` is killed and started again with --resume, until
# it gets to its end. The final population must be that of a run that nobody disturbed, and no kill
# may make the archive unreadable or take back a generation.
#
#     test_kill.sh SOURCE_DIR BUILD_DIR
set -u
# shellcheck source=tests/app/command.sh
. "$1/tests/app/command.sh"
kills_wanted=$((sanitized ? 8 : 50))

fail() {
    echo "FAILED after $kills kills: $*"
    [ ! -s err ] || sed 's/^/    stderr: /' err
    exit 1
}

evolve() {
    exec "$mayfly" evolve "$source_dir/scenes/neophysix.yaml" --json \
        --generations $((24 * kills_wanted)) --population 20 --survivors 10 --duration 8 --seed 11 \
        --resume --out "$1"
}

# finished NAME: the run that just ended by itself must have the unbroken run's population.
finished() {
    [ "$(value 'done')" = true ] || fail "$1 ended without being done"
    [ "$(value hash)" = "$hash" ] || fail "$1 has another final population"
}

# Whole generations in the archive; 0 when it has not been made yet.
stored() {
    [ -e run/archive.sqlite ] || { echo 0 && return; }
    "$mayfly" info run >info 2>err || return 1
    sed -n 's/^\([0-9]*\) generations*:.*/\1/p' info
}

kills=0 inside=0 before=0
(evolve unbroken) >out 2>err || fail "the unbroken run: exit code $?"
hash=$(value hash)
[ ${#hash} -eq 16 ] || fail "no hash: '$hash'"
# A fortieth of the run at most from start to each of fifty kills: they end about halfway. Where other work
# on the machine makes the start slow, kills that come too early make the next ones later.
longest=$(value wall_seconds)
longer=1

while [ $kills -lt $kills_wanted ]; do
    pause=$(od -An -N2 -tu2 /dev/urandom | awk -v s="$longest" -v l="$longer" \
        -v kills=$kills_wanted '{ print s / (0.8 * kills) * l * $1 / 65536 }')
    (evolve run) >out 2>err &
    process=$!
    sleep "$pause"
    kill -s KILL $process 2>/dev/null
    wait $process 2>/dev/null
    code=$?
    if [ $code -eq 0 ]; then # it was faster, so the next one starts anew
        finished 'a run that was killed before'
        rm -r run && before=0
        continue
    fi
    [ $code -eq 137 ] || fail "the resumed run: exit code $code"
    kills=$((kills + 1))
    now=$(stored) || fail "the archive cannot be read after a pause of $pause s"
    [ "$now" -ge "$before" ] || fail "generation $before was there, now $now is the newest"
    if [ "$now" -eq "$before" ]; then
        longer=$(echo "$longer" | awk '{ print $1 * 1.2 }')
    else
        inside=$((inside + 1)) longer=1
    fi
    before=$now
done
(evolve run) >out 2>err || fail "the last run: exit code $?"
finished 'the last run'
[ $inside -ge $(((kills_wanted + 9) / 10)) ] || fail "only $inside kills came after a new generation"
"$mayfly" replay run >out 2>err || fail 'the champion does not repeat its fitness'
echo "$kills kills, $inside of them after new generations: the same population"
