#!/bin/sh
# The main job on real input: a walker for the real PhantomX, whose description is not part of this
# project, on an image of hills; its replay must repeat the fitness to the last bit. Looked for in
# the folder MAYFLY_SHARED or in a folder shared next to the source; skipped where it is absent.
#
#     test_real_robot.sh SOURCE_DIR BUILD_DIR
set -u
robot=${MAYFLY_SHARED:-$1/../shared}/models/phantomx_description/urdf/phantomx.urdf
[ -f "$robot" ] || { echo "skipped: $robot is missing"; exit 77; }
robot=$(realpath "$robot")
# shellcheck source=tests/app/command.sh
. "$1/tests/app/command.sh"

fail() {
    echo "FAILED: $*"
    cat err out 2>/dev/null
    exit 1
}

# evolve OUT POINTS MORE...
evolve() {
    folder=$1 points=$2
    shift 2
    "$mayfly" evolve "$source_dir/scenes/neophysix.yaml" --model "$robot" \
        --ground "$source_dir/scenes/hills.pgm" --set ground.scale=0.15 \
        --set group.import.mesh_points="$points" --set group.import.inertia=geometry --generations 3 --population 40 --survivors 20 --duration 20 \
        --out "$folder" --json "$@" >out 2>err || fail "evolve: exit code $?"
}

evolve one 2 --threads 1
hash=$(value hash)
[ ${#hash} -eq 16 ] || fail "no hash: '$hash'"
awk -v best="$(value best)" 'BEGIN { exit !(best > 0.05 && best < 20) }' ||
    fail 'the best robot walks between 5 cm and 20 m in 20 s'
grep -q 'PhantomX\|phantomx' one/report.html || fail 'the report does not name the robot'
grep -q 'hills.pgm' one/scene.yaml || fail 'the settings do not name the ground'

"$mayfly" replay one --json >out 2>err || fail "replay: exit code $?"
[ "$(value equal)" = true ] || fail 'the replay has other bits'

# Two threads, another instruction set, and every mesh in full detail on the way.
MAYFLY_ISA=scalar evolve two 2 --threads 2
[ "$(value hash)" = "$hash" ] || fail 'threads or instruction set change the population'
evolve fine 8
[ "$(value hash)" != "$hash" ] || fail 'more points of the meshes make no difference'
echo 'the real robot walks over the hills'
