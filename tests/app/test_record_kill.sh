#!/bin/sh
# kill -9 at random moments: a recording has its own name from its first moment on, and can be read.
#     test_record_kill.sh SOURCE_DIR BUILD_DIR
# shellcheck source=tests/app/command.sh
. "$1/tests/app/command.sh"
printf 'groups: [{name: robots, model: %s, count: 40, gaits: [tripod]}]\n' \
    "$source_dir/models/hexapod.urdf" >scene.yaml
kills=$((sanitized ? 4 : 16))
for ending in h5 mcap; do
    read=0 samples=0
    for kill in $(seq $kills); do
        rm -f ./*.$ending*
        "$mayfly" run scene.yaml --duration 1000 --every 0.004 --record a.$ending >out 2>err &
        pid=$!
        # Half of the kills wait for samples, however slow the machine is.
        least=$((kill % 2 * 100000))
        until [ "$(stat -c %s a.$ending 2>/dev/null || echo 0)" -gt $least ] ||
            ! kill -0 $pid 2>/dev/null; do sleep 0.01; done
        sleep "$(awk -v seed=$kill 'BEGIN { srand(seed); print 0.5 * rand() }')"
        kill -9 $pid 2>/dev/null
        wait $pid 2>/dev/null
        "$mayfly" info a.$ending >out 2>err || fail "kill $kill of a.$ending: cannot be read"
        read=$((read + 1))
        grep -q '^0 samples\| 0 samples' out || samples=$((samples + 1))
        [ "$(ls -- *.part-* 2>/dev/null | wc -l)" -eq 0 ] || fail "kill $kill: $(ls -- *.part-*)"
    done
    echo "$ending: $read of $kills killed runs can be read, $samples with samples"
    [ $samples -ge $((kills / 2)) ] || fail "$ending: too few have samples"
done
[ "$failures" -eq 0 ] || exit 1
