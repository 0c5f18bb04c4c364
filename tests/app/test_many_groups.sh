#!/bin/sh
# A scene of more groups than fit into one byte: run, its report, records, films, photos and the
# same state for any number of threads.
#
#     test_many_groups.sh SOURCE_DIR BUILD_DIR
set -u
# shellcheck source=tests/app/command.sh
. "$1/tests/app/command.sh"

cat >box.xml <<'END'
<mujoco model="box"><worldbody><body><freejoint/>
<geom type="box" size=".05 .05 .05" mass=".1"/></body></worldbody></mujoco>
END
groups=300
{
    printf 'run: {duration: %s}\ngroups:\n' "$([ "$sanitized" = 0 ] && echo 0.1 || echo 0.02)"
    i=0
    while [ $i -lt $groups ]; do
        # in pairs, the second on top of the first
        printf '  - {name: box%03d, model: box.xml, motion: articulated, placement: {poses: [[%d.%d, %d, %s]]}}\n' \
            $i $((i / 2 % 20 / 4)) $((i / 2 % 4 * 2)) $((i / 2 / 20)) \
            "$([ $((i % 2)) -eq 0 ] && echo 0.05 || echo 0.1499)"
        i=$((i + 1))
    done
} >many.yaml

expect 0 run many.yaml --threads 1
grep -q '^box015 .* 1 articulated$' out || fail 'the first groups have no line each'
grep -q '^box016 ' out && fail 'of 300 groups more than 16 have a line each'
grep -q '^284 more  *284  *284 .* 284 articulated$' out || fail 'the others are not summed'
hash=$(grep '^hash' out)
expect 0 run many.yaml --threads 3
[ "$(grep '^hash' out)" = "$hash" ] || fail 'the hash depends on threads'

expect 0 run many.yaml --json --record all.h5 --plot film.html
grep -o '"name":"box[0-9]*"' out | sort -u | wc -l | grep -qx $groups ||
    fail 'run --json does not have all groups'
[ -s all.h5 ] && [ -s film.html ] || fail 'no record or film'
grep -q 'box299' film.html || fail 'the film has not all groups'
expect 0 info all.h5
grep -q 'box299' out || fail 'the record has not all groups'
expect 0 info many.yaml
grep -q 'box299' out || fail 'info does not show all groups'

[ "$failures" -eq 0 ] || { echo "$failures failures"; exit 1; }
