#!/bin/sh
# Real time of a run, schedule and fields: sh test_realtime.sh SOURCE_DIR BUILD_DIR
. "$1/tests/app/command.sh"
scene=$source_dir/scenes/neophysix.yaml

# ---- nothing that is simulated depends on the clock ----------------------------------------------
expect 0 run "$scene" --robots 20 --duration 0.5 --json
free=$(value hash)
[ -n "$free" ] || fail 'a run has no hash'
for factor in 0.5 1 4 1000000; do
    for threads in 1 2; do
        expect 0 run "$scene" --robots 20 --duration 0.5 --json --realtime $factor --threads $threads
        [ "$(value hash)" = "$free" ] || fail "--realtime $factor: another hash"
    done
done
expect 0 run "$source_dir/models/resting_box.xml" --duration 0.2 --json
free=$(value hash)
expect 0 run "$source_dir/models/resting_box.xml" --duration 0.2 --json --realtime 2
[ "$(value hash)" = "$free" ] || fail 'a robot alone: another hash at --realtime 2'

# ---- pace ----------------------------------------------------------------------------------------
expect 0 run "$scene" --duration 1 --realtime 2 --json
awk "BEGIN { exit !($(value wall_seconds) >= 0.499) }" || fail 'a run was ahead of the clock'
[ ! -s err ] || fail 'a run that keeps up says something'

# ---- too slow: once, and at the end --------------------------------------------------------------
expect 0 run "$scene" --robots $((sanitized ? 1000 : 2000)) --duration 20 --realtime 1e9 --json --threads 1 \
    --set world.step=0.01
[ "$(grep -c 'cannot keep up: .* x real time instead of 1e+09 x after .* s, .* s late; .* % of the work is' err)" -eq 1 ] ||
    fail 'a run that cannot keep up does not say so once'
[ "$(wc -l <err)" -le 2 ] || fail 'a run that cannot keep up says too much'

# ---- schedule and fields -------------------------------------------------------------------------
expect 0 info --schedule "$scene"
grep -q '^  control  gp  *every 80 ms (walkers)$' out || fail '--schedule lacks the controller'
grep -q 'writes joint.target gp.address gp.accumulator' out || fail '--schedule lacks what is written'
expect 0 info --schedule "$source_dir/scenes/circles.yaml"
grep -q 'interaction.detection  *every 50 ms (of all shared groups, alone)' out ||
    fail '--schedule lacks systems of the world'
expect 0 info --fields "$source_dir/models/hexapod.urdf" --motion points
grep -q '^  body.points .* m  *body  *state  written by points' out || fail '--fields lacks a writer'
grep -q '^  joint.target .* rad  *joint  *input .*read by points' out || fail '--fields lacks a reader'
grep -A3 '^  joint *leg1_femur/' out | grep -q 'lower -0.8 rad' || fail '--fields lacks a limit'
expect 0 info --fields --schedule --json "$scene"
grep -q '"path":"walkers\[0\]/leg1_femur/upper","part":"joint","unit":"rad"' out ||
    fail '--json lacks a constant'
refused 2 'expected kinematic, points' info --fields "$source_dir/models/hexapod.urdf" \
    --motion flying

# ---- values and records by path ------------------------------------------------------------------
expect 0 run "$scene" --duration 0.1 --record walk.h5 \
    --fields 'base.position.z,leg1_femur/joint.angle' --json
[ -s walk.h5 ] || fail 'paths are not recorded'
refused 1 'no such link, joint' run "$scene" --duration 0.1 --record walk.h5 \
    --fields leg9_femur/joint.angle --json
printf 'groups:\n- name: a\n  model: %s/models/hexapod.urdf\n  initial:\n  - property: leg1_femur/joint.angel\n    values: [0]\n' \
    "$source_dir" >wrong.yaml
refused 1 'wrong.yaml:5:5: property leg1_femur/joint.angel: there is no joint.angel; near: joint.angle' \
    run wrong.yaml --duration 0.1 --json

[ $failures -eq 0 ] || { echo "$failures failures"; exit 1; }
echo 'all is well'
