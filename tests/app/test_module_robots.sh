#!/bin/sh
# The robots of models/modules under full dynamics: each stands still, SuperBot reaches its targets,
# ATRON and Wheelbot turn at the speeds that motor, friction and damping give.
#
#     test_module_robots.sh SOURCE_DIR BUILD_DIR
set -u
# shellcheck source=tests/app/command.sh
. "$1/tests/app/command.sh"
modules=$source_dir/models/modules

# near NAME VALUE TOLERANCE
near() {
    awk -v a="$(value "$1")" -v b="$2" -v t="$3" 'BEGIN { exit !(a - b <= t && b - a <= t) }' ||
        fail "$1 is $(value "$1"), expected $2 within $3"
}

# sensor NAME: its reading on the page.
sensor() {
    awk -v name="$1" '{ for (i = 1; i < NF; i++) if ($i == name) print $(i + 1) }' out
}

# reads NAME VALUE TOLERANCE
reads() {
    awk -v a="$(sensor "$1")" -v b="$2" -v t="$3" 'BEGIN { exit !(a - b <= t && b - a <= t) }' ||
        fail "$1 reads $(sensor "$1"), expected $2 within $3"
}

# scene ROBOT DURATION TARGETS: a scene of one robot whose joints have these initial targets.
scene() {
    cat >scene.yaml <<EOF
name: one
run: {duration: $2}
groups:
  - {name: robot, model: $modules/$1.urdf, initial: [$3]}
EOF
}

# ---- they rest where they stand, by their own weight ------------------------------------------------
while read -r robot height; do
    expect 0 run "$modules/$robot.urdf" --duration 2 --json --strict
    near base_height "$height" 0.0002
    near load 1 0.01
    near distance 0 0.001
    near tilt 0 0.005
    near penetration 0 0.0002
    near faults 0 0
done <<EOF
superbot 0.042
superbot_simple 0.042
atron 0.0545
atron_simple 0.04
wheelbot 0.042
cube 0.0325
long_dock 0.042
gripper 0.042
base 0
EOF

# ---- motors -------------------------------------------------------------------------------------------
# A SuperBot bends both ends, and lies on the ground afterwards.
for robot in superbot superbot_simple; do
    scene $robot 3 '{property: pitch/joint.target, values: [-1.2]}, {property: yaw/joint.target, values: [0.8]}'
    expect 0 run scene.yaml
    reads pitch_angle -1.2 0.01
    reads yaw_angle 0.8 0.01
    grep -q 'faults    0' out || fail "$robot has faults"
    grep -q 'end       at rest' out || fail "$robot does not come to rest"
done

# The drive loses friction F and damping D of speed v = E / B: B (v - w) = F + D w.
# ATRON: 2.865 (1.0472 - w) = 0.1 + 0.02 w: w = 1.0053 rad/s, one turn in 6.25 s; 0.01 rad to start.
scene atron 12 '{property: "*/joint.target", values: [1000]}'
expect 0 run scene.yaml
reads center_angle 12.06 0.02
# Wheelbot: 0.0417 (12 - w) = 0.005 + 0.0005 w: w = 11.74 rad/s, 0.493 m/s at wheels of 42 mm.
# Without an invented rotor the wheels slip at first: 2 s of 0.493 m/s less v^2 / (2 mu g) = 12 mm, mu 1.
scene wheelbot 2 '{property: "*/joint.target", values: [1000]}'
expect 0 run scene.yaml --json
near distance 0.974 0.005
# Both sides against each other: it turns on the spot.
scene wheelbot 2 '{property: "*_left/joint.target", values: [-1000]}, {property: "*_right/joint.target", values: [1000]}'
expect 0 run scene.yaml --json
near distance 0 0.005

# ---- a range sensor sees the ground ------------------------------------------------------------------
# From the front, 0.5 m before a step of 0.15 m, which rises within one cell of 10 mm.
expect 0 run "$modules/wheelbot.urdf" --duration 0.5
reads range 2 0.001
expect 0 run "$modules/wheelbot.urdf" --duration 0.5 --ground steps --set ground.amplitude=0.15 \
    --set ground.cell=0.01 --set 'group.placement.poses=[[0.4, 0, 0]]'
reads range 0.5 0.011

# ---- robots that start inside of each other: one line with their names, and the run goes on ---------
cat >crowd.yaml <<END
groups:
  - {name: m, model: $modules/superbot_simple.urdf, count: 2, placement: {poses: [[0, 0, 0], [0.1, 0.02, 0]]}}
END
expect 0 run crowd.yaml --duration 0.1
grep -q '^note: robots start inside of each other: m 1 (inner_back) and m 0 (inner_front), 52 mm deep' out ||
    fail "no note about robots inside of each other"

# ---- broken docks: a table for people and for programs, the same with any number of threads ----------
expect 0 run "$source_dir/scenes/wall.yaml" --duration 0.12 --threads 1
grep '^  wall [0-9]*/' out >table || fail "no table of broken docks"
expect 0 run "$source_dir/scenes/wall.yaml" --duration 0.12 --threads 2
grep '^  wall [0-9]*/' out | cmp -s - table || fail "the table depends on threads"
expect 0 run "$source_dir/scenes/wall.yaml" --duration 0.12 --json
[ "$(grep -o '"group": *"wall"' out | wc -l)" -ge "$(wc -l <table)" ] || fail "broken docks in JSON"

# ---- the scene of all, with any number of threads ------------------------------------------------------
expect 0 run "$source_dir/scenes/module_robots.yaml" --json --threads 1
one=$(value hash)
near faults 0 0
expect 0 run "$source_dir/scenes/module_robots.yaml" --json --threads 3
[ "$(value hash)" = "$one" ] || fail "three threads give $(value hash), one gives $one"

[ "$failures" -eq 0 ] || exit 1
echo 'module robots: ok'
