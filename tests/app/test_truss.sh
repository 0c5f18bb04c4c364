#!/bin/sh
# mayfly info and run with a truss's file alone, from outside.
#
#     test_truss.sh SOURCE_DIR BUILD_DIR
set -u
# shellcheck source=tests/app/command.sh
. "$1/tests/app/command.sh"

# holds TEXT: the page has it.
holds() {
    grep -qF -- "$1" out || fail "the page lacks '$1'"
}

# near NAME VALUE TOLERANCE
near() {
    awk -v a="$(value "$1")" -v b="$2" -v t="$3" 'BEGIN { exit !(a - b <= t && b - a <= t) }' ||
        fail "$1 is $(value "$1"), expected $2 within $3"
}

# ---- info ---------------------------------------------------------------------------------------
# Six bars between four vertices move as a body only; two of the freedoms of a bar at one of them are
# mechanisms. Euler's load of the longest bar, of 0.15524 m: pi^3 E d^4 / 64 / L^2 = 180.1 N.
tetrahedron=$source_dir/models/tetrahedron.truss.yaml
expect 0 info "$tetrahedron"
holds 'mass          0.07807 kg'
holds 'size          0.2300 x 0.1300 x 0.1250 m'
holds 'golem: elasticity 0.896 GPa'
holds 'bars          7: 0.9941 m in all'
holds 'rank of the equilibrium matrix 7'
holds '6 as a body, 2 mechanisms'
holds 'redundant     0 bars'
holds '1 part, 1 dangling vertex'
holds 'buckling      from 180.1 N of compression, bar 6'
holds 'yield         from 1492 N, bar 0'
holds 'actuator.control'
holds 'note: bars do not bend'
expect 0 info --json "$tetrahedron"
near mass 0.0780742 1e-7
near rank 7 0
near mechanisms 2 0
near dangling 1 0
python3 -c '
import json, sys
page = json.load(sys.stdin)
assert page["actuators"] == [{"bar": 4, "range": [0.135, 0.152], "neuron": None}], page["actuators"]
assert abs(page["euler_load"]["force"] - 180.119) < 1e-3, page["euler_load"]
assert page["yield_load"]["bar"] == 0 and page["material"]["name"] == "golem"
' <out || fail 'the object of info --json'
expect 0 info --fields "$tetrahedron"
holds 'vertex.position'
expect 0 info "$source_dir/models/cantilever.truss.yaml"
holds '2 pairs are of bars inside each other, the first 6 and 7'
refused 2 'are for a robot' info --strict "$tetrahedron"

cat >brain.truss.yaml <<'EOT'
truss:
  elasticity: 1e9
  density: 500
  vertices:
    - {position: [0, 0, 0]}
    - {position: [0.1, 0, 0]}
    - {position: [0.5, 0, 0]}
    - {position: [0.6, 0, 0]}
  bars:
    - {ends: [0, 1], rest_length: 0.11}
    - {ends: [2, 3]}
  actuators:
    - {bar: 0, range: [0.1, 0.12], neuron: 1}
  neurons:
    - {kind: sigmoid, bias: 0.5}
    - {kind: threshold}
  synapses:
    - {from: 0, to: 1, weight: -2.5}
EOT
expect 0 info brain.truss.yaml
holds '2 neurons, 1 synapses; 1 of 1 actuators are driven by neurons'
holds '100.00 ..  120.00     110.00   neuron 1'
holds '0 (-2.5)'
holds '2 parts, 4 dangling vertices'
holds '1 bar is under force before the first frame'

cat >bad.truss.yaml <<'EOT'
truss:
  vertices:
    - {position: [0, 0, 0]}
    - {position: [0.1, 0, 0]}
  bars:
    - {ends: [0, 2]}
EOT
refused 1 'bad.truss.yaml:6:' info bad.truss.yaml

# bad BAR PLACE: one line with file, line and column.
bad() {
    cat >bad.truss.yaml <<EOT
truss:
  vertices:
    - {position: [0, 0, 0]}
    - {position: [0.1, 0, 0]}
    - {position: [0.1, 0, 0]}
  bars:
    - {ends: [0, 1]}
    - $1
EOT
    refused 1 "bad.truss.yaml:$2" info bad.truss.yaml
}
bad '{ends: [1, 1]}' '8:14: bars[1].ends: both are vertex 1'
bad '{ends: [1, 0]}' '8:14: bars[1].ends: bars[0] connects'
bad '{ends: [1, 2]}' '8:14: bars[1].ends: vertices 1 and 2 coincide'
bad '{ends: [0, 2], diameter: 0}' '8:32: truss.bars.1.diameter: expected a number above 0'
bad '{ends: [0, 2], diameter: .nan}' '8:32: truss.bars.1.diameter: expected a number above 0'
bad '{ends: [0, 2], rest_length: -1}' '8:35: truss.bars.1.rest_length: expected a number from 0'
bad '{ends: [0, -1]}' '8:14: truss.bars.1.ends'
bad '&a {ends: [0, 2]}' '8:7: expected a plain value, found an anchor'
bad '*a' '8:7: expected a plain value, found an alias'
awk 'BEGIN {
    print "truss:\n  vertices:"
    for (i = 0; i < 1000000; i++)
        printf "    - {position: [%d, 0, 0]}\n", i
}' >many.truss.yaml
refused 1 'many.truss.yaml:26216:29: expected at most 131072 values in a file' info many.truss.yaml
# The largest truss that there may be.
awk 'BEGIN {
    print "truss:\n  vertices:"
    for (i = 0; i < 4096; i++)
        printf "    - {position: [%g, %g, %g]}\n", i % 64, int(i / 64), i % 3
    print "  bars:"
    for (i = 0; i < 4095; i++)
        printf "    - {ends: [%d, %d]}\n", i, i + 1
}' >full.truss.yaml
expect 0 info full.truss.yaml
holds 'vertices      4096'
holds 'note: truss: 4096 vertices and 4095 bars are too many for a rank'

# ---- how deep a truss is in the ground ----------------------------------------------------------
# It tips onto its leg, so that points that move with the center of mass do not touch the ground.
# Its vertices do, each by a third of the weight over the stiffness: 0.766 N / 3 / 1e5 N/m = 2.6 um.
expect 0 run "$tetrahedron" --duration 0.2 --json
near penetration 3e-6 1e-6
[ "$(value tilt)" = null ] || fail 'a truss has no rotation and no tilt'
expect 0 run "$tetrahedron" --duration 0.2
if grep -q '^tilt' out; then fail 'a truss has a tilt'; fi
if grep -q 'warning   depth' out; then fail 'a truss on the ground is called deep in it'; fi
# With inertia it falls onto its leg, and vertices sink in by a few times that.
expect 0 run "$tetrahedron" --duration 1 --motion elastic --json
near penetration 6e-5 5e-5
# Diagonals that cross have no direction to push each other: each frame is relaxed.
expect 0 run "$source_dir/models/cantilever.truss.yaml" --duration 1
if grep -q 'warning   solver' out; then fail 'the cantilever is not relaxed'; fi
# Soft ground does not carry it.
expect 0 run "$tetrahedron" --duration 0.2 --set groups.robot.motion.quasistatic.stiffness=5
holds 'warning   depth'
# A truss that is held inside the ground.
cat >deep.truss.yaml <<'EOT'
truss:
  vertices:
    - {position: [0, 0, -0.02], fixed: [x, y, z]}
    - {position: [0, 0, 0.1]}
  bars:
    - {ends: [0, 1]}
EOT
expect 0 run deep.truss.yaml --duration 0.1
holds 'the truss starts 0.025 m deep in the ground: vertex 0'
holds 'deepest   25 mm'

[ "$failures" -eq 0 ] || exit 1
echo 'info and run of trusses'
