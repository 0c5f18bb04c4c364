#!/bin/sh
# Levels of physics from outside: compare, run with --motion and --gait, scenes of robots, and the
# mistakes of a newcomer.
#
#     test_levels.sh SOURCE_DIR BUILD_DIR
set -u
# shellcheck source=tests/app/command.sh
. "$1/tests/app/command.sh"

humanoid=$source_dir/models/humanoid.urdf
hexapod=$source_dir/models/hexapod.urdf
soccer=$source_dir/scenes/soccer.yaml

# ---- mistakes -------------------------------------------------------------------------------------
refused 2 '--levels: expected some of kinematic' compare "$hexapod" --levels rigid,magic
refused 2 '--command: expected three numbers' compare "$hexapod" --gait tripod --command 1,2
refused 2 '--plot' compare "$hexapod" --plot a.svg
refused 1 "no gait 'fly': expected one of those in" compare "$humanoid" --gait fly
refused 1 "did you mean 'tripod'?" run "$hexapod" --gait tripd
refused 2 "did you mean 'evolve'?" evlove x.yaml
refused 2 "unknown command 'zzzzzzzz' (see" zzzzzzzz
refused 2 'expected a name that ends with .h5' run "$hexapod" --record a.csv
refused 2 'expected a name that ends with .h5' replay x --record a.csv
refused 1 'cannot open' compare nothing.urdf
refused 2 '--motion: expected kinematic' run "$hexapod" --motion magic
refused 2 '--command requires --gait' run "$hexapod" --command 1,0,0
refused 1 'feet' run "$source_dir/models/ball.xml" --motion kinematic
refused 1 'groups.NAME.gaits' run "$soccer" --gait walk
refused 1 '--set groups.NAME.count=3' run "$soccer" --robots 3
refused 1 'groups.blue.cuont: unknown key' run "$soccer" --set groups.blue.cuont=3
refused 1 'no entry is named green' run "$soccer" --set groups.green.count=3
printf 'joints: 3\nwalk: {}\n' >bad.yaml
expect 1 compare "$humanoid" --gait ./bad.yaml
grep -q 'bad.yaml:[12]:' err || fail 'a bad gait is not reported with its line'
printf 'keyframes:\n  frames:\n    - {time: 0, angles: {tail: 1}}\n' >tail.yaml
refused 1 'tail' run "$humanoid" --gait ./tail.yaml

# ---- compare --------------------------------------------------------------------------------------
expect 0 compare "$hexapod" --gait tripod --duration 2 --no-cost --json --plot page.html
[ "$(wc -l <out)" -eq 6 ] || fail "compare --json: $(wc -l <out) lines, expected 6"
[ "$(value reference)" = articulated ] || fail 'the reference is not articulated'
grep -q '<svg' page.html || fail 'the page has no plot'
expect 0 compare "$hexapod" --gait tripod --duration 1 --robots 4 --levels kinematic,rigid
grep -q 'not modeled' out || fail 'compare does not say what a level cannot show'

# ---- run and compare show the same: one set-up, one step, one start --------------------------------
for level in points rigid prescribed articulated; do
    expect 0 run "$humanoid" --motion $level --gait walk --duration 2 --json
    distance=$(value distance)
    expect 0 compare "$humanoid" --levels $level --gait walk --duration 2 --no-cost --json
    head -n 1 out >row && mv row out
    [ "$(value distance)" = "$distance" ] ||
        fail "$level: compare goes $(value distance) m, run $distance m"
done
expect 0 run "$hexapod" --gait tripod --step 0.004 --duration 1 --json
distance=$(value distance)
expect 0 compare "$hexapod" --gait tripod --step 0.004 --levels articulated --duration 1 --no-cost --json
head -n 1 out >row && mv row out
[ "$(value distance)" = "$distance" ] || fail 'run and compare differ with --step'

# ---- run ------------------------------------------------------------------------------------------
for level in kinematic points rigid prescribed articulated; do
    expect 0 run "$humanoid" --motion $level --gait walk --duration 2 --json
    [ "$(value motion)" = $level ] || fail "run --motion $level does not say so"
    [ "$(value faults)" -eq 0 ] || fail "run --motion $level: faults"
done
expect 0 info "$soccer"
grep -q 'group blue: 4 x' out || fail 'info does not tell the groups'
expect 0 run "$soccer" --duration 0.5 --json --plot match.html
hash=$(value hash)
expect 0 run "$soccer" --duration 0.5 --json --threads 3
[ "$(value hash)" = "$hash" ] || fail 'a match depends on the number of threads'
grep -q '"name":"blue"' match.html || fail 'the film lacks a team'
expect 0 help scene
grep -q 'switch' out || fail 'mayfly help scene lacks keys'

[ "$failures" -eq 0 ] || { echo "$failures failures"; exit 1; }
