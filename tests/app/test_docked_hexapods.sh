#!/bin/sh
# Docks on a robot that others made: three PhantomX, whose description is not part of this project,
# get two docks each, stand 3 mm apart, dock by themselves and stand on as one tree. Looked for in
# the folder MAYFLY_SHARED or in a folder shared next to the source; skipped where it is absent.
#
#     test_docked_hexapods.sh SOURCE_DIR BUILD_DIR
set -u
package=${MAYFLY_SHARED:-$1/../shared}/models/phantomx_description
[ -f "$package/urdf/phantomx.urdf" ] || { echo "skipped: $package is missing"; exit 77; }
package=$(realpath "$package")
# shellcheck source=tests/app/command.sh
. "$1/tests/app/command.sh"

# is NAME VALUE: that member of the result.
is() {
    [ "$(value "$1")" = "$2" ] || fail "$1: '$(value "$1")', expected '$2'"
}

mkdir -p phantomx_description/urdf
cp -r "$package/meshes" phantomx_description/meshes
sed 's|</robot>|<mayfly><dock name="front" link="MP_BODY" xyz="0.3 0 0"/>\
    <dock name="back" link="MP_BODY" xyz="-0.3 0 0" rpy="0 0 3.14159265358979"/></mayfly></robot>|' \
    "$package/urdf/phantomx.urdf" >phantomx_description/urdf/phantomx.urdf
cat >scene.yaml <<'END'
world: {step: 0.002}
groups:
  - name: hexapods
    model: phantomx_description/urdf/phantomx.urdf
    count: 3
    placement: {poses: [[0, 0, 0], [0.603, 0, 0], [1.206, 0, 0]]}
run: {duration: 1}
END

expect 0 run scene.yaml --json
is joined 2
is released 0
is broken 0
is missed 0
is assemblies 1
is faults 0
is falls 0
# All of 500 steps but those of the touch-down before they had docked.
trees=$(value steps_trees)
[ "$trees" -ge 490 ] || fail "one tree in $trees of 500 steps"
for other in steps_loops steps_touched steps_others; do
    is "$other" 0
done
awk -v load="$(value load)" -v tilt="$(value tilt)" 'BEGIN {
    exit !(load > 0.99 && load < 1.01 && tilt < 0.01) }' ||
    fail "they do not stand: load $(value load) of the weight, tilt $(value tilt) rad"
hash=$(value hash)
expect 0 run scene.yaml --json --threads 1
is hash "$hash"

# A dock on a link that the robot does not have is one line.
sed -i 's|link="MP_BODY" xyz="0.3 0 0"|link="MP_BODIES" xyz="0.3 0 0"|' phantomx_description/urdf/phantomx.urdf
refused 1 MP_BODIES run scene.yaml
[ "$failures" -eq 0 ] && echo "three hexapods docked and stood as one tree in $trees steps"
exit "$failures"
