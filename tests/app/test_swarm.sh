#!/bin/sh
# Swarms from outside: run, record, plot, info, bench, the mistakes of a newcomer, and the examples in
# C that control swarms.
#
#     test_swarm.sh SOURCE_DIR BUILD_DIR
set -u
# shellcheck source=tests/app/command.sh
. "$1/tests/app/command.sh"

swarm=$source_dir/scenes/swarm.yaml
circles=$source_dir/scenes/circles.yaml
small='--set groups.quads.count=300 --set groups.wings.count=40 --set groups.cars.count=40'

# ---- mistakes -------------------------------------------------------------------------------------
printf 'groups:\n  - name: a\n    model: nowhere.yaml\n' >gone.yaml
printf 'quadrotor:\n  mass: 0\n  inertia: [1, 1, 1, 0, 0, 0]\n' >massless.yaml
printf 'groups:\n  - name: a\n    model: massless.yaml\n' >carries.yaml
refused 1 'gone.yaml:3:12' run gone.yaml
refused 1 'massless.yaml:2:9' run carries.yaml
refused 1 'massless.yaml:2:9' info massless.yaml
refused 1 'this is a vehicle' run "$source_dir/models/crazyflie.yaml"
refused 1 'expected one group to evolve, found 3' evolve "$swarm"
refused 1 'this is a vehicle' evolve "$source_dir/models/crazyflie.yaml"
refused 1 'no entry is named drones, expected one of quads, wings, cars' run "$swarm" \
    --set groups.drones.count=3
refused 1 'groups.quads.cuont: unknown key' run "$swarm" --set groups.quads.cuont=3
refused 1 'would overlap' run "$swarm" --set 'groups.quads.placement.grid.spacing=[0.1, 0.1, 0.1]'
refused 1 '--set groups.NAME.count=3' run "$swarm" --robots 3
refused 2 '--plot' run "$swarm" --plot picture.gif
refused 2 '--plot' run "$source_dir/scenes/hexapod.yaml" --plot a.svg
left=$(echo *)
[ "$left" = 'carries.yaml err gone.yaml massless.yaml out' ] || fail "mistakes left behind: $left"

# ---- run ------------------------------------------------------------------------------------------
# The words of $small are meant to be split.
# shellcheck disable=SC2086
expect 0 run "$swarm" $small --duration 2 --json --threads 1
for key in motion robots alive collisions refused simulated_seconds wall_seconds realtime_factor \
    hash; do
    grep -q "\"$key\":" out || fail "run --json lacks $key"
done
[ "$(value robots)" = 380 ] || fail "robots: $(value robots), expected 380"
[ "$(value alive)" = 380 ] || fail "alive: $(value alive), expected 380"
[ "$(value refused)" = 0 ] || fail "refused commands: $(value refused), expected none"
hash=$(value hash)
# shellcheck disable=SC2086
expect 0 run "$swarm" $small --duration 2 --json --threads 2 --record swarm.h5 --plot swarm.html
[ "$(value hash)" = "$hash" ] || fail 'threads, recording or plotting change a run'
[ -s swarm.h5 ] || fail 'run --record wrote nothing'
if command -v h5ls >/dev/null; then
    h5ls -r swarm.h5 >sets
    for set in /quads/base.position /wings/base.position /cars/base.position /time; do
        grep -q "^$set " sets || fail "the record lacks $set"
    done
fi
grep -q 'id="film"' swarm.html || fail 'the page holds no film'
if command -v python3 >/dev/null; then
    expect 0 run "$circles" --duration 3 --plot circles.svg
    python3 -c 'import sys, xml.dom.minidom as d
tracks = [p for p in d.parse("circles.svg").getElementsByTagName("path")]
assert len(tracks) == 2000, len(tracks)
assert len({p.getAttribute("stroke") for p in tracks}) >= 10' || fail 'the picture is not sound'
fi
grep -q '^aircraft  *1000' out || fail 'the summary lacks its groups'
expect 1 run "$circles" --duration 0.1 --plot no/such/folder/a.svg
[ "$(wc -l <err)" -eq 1 ] || fail 'a picture that cannot be written: expected one line'

# ---- info, help, bench ----------------------------------------------------------------------------
# shellcheck disable=SC2086
expect 0 info "$swarm" $small
grep -q 'group wings: 40 x aerosonde' out || fail 'info on a scene does not show its groups'
expect 0 info "$source_dir/models/crazyflie.yaml"
grep -q '^hover  *1788.5505' out || fail 'info on a quadrotor does not show how it hovers'
expect 0 info "$source_dir/models/car_orca.yaml"
grep -q '^top speed  *4.2021936 m/s' out || fail 'info on a car does not show its top speed'
expect 0 info "$source_dir/models/aerosonde.yaml"
grep -q 'elevator -0.12504' out || fail 'info on an aircraft does not show its trim'
for name in scene quadrotor fixed_wing car; do
    expect 0 help $name
    [ "$(wc -l <out)" -gt 40 ] || fail "help $name is too short"
done
expect 0 bench quadrotor-1000 quadrotor-10000-interacting mixed-1000 --instances 64 --steps 20 \
    --repeats 2 --json
[ "$(wc -l <out)" -eq 3 ] || fail 'bench printed another number of lines than 3'
[ "$(value steps)" = 1280 ] || fail "steps: $(value steps), expected agents times rounds"

# ---- examples -------------------------------------------------------------------------------------
for example in formation_circles flocking leader; do
    if [ -x "$build/example_$example" ]; then
        "$build/example_$example" >out 2>err || fail "example_$example fails"
        [ "$(wc -l <out)" -ge 6 ] || fail "example_$example prints too little"
    fi
done
if [ -x "$build/example_leader" ]; then
    awk '/threshold 0.10/ { if ($8 + 0 < 80) exit 1; found = 1 } END { exit !found }' out ||
        fail 'event-triggered messages do not save four fifths'
fi

[ $failures -eq 0 ] || { echo "$failures failures"; exit 1; }
echo 'all is well'
