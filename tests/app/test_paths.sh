#!/bin/sh
# What a file names stays below its root, by whatever way it leads out; what lies outside is neither
# read nor told of, and --root widens the root.
#     test_paths.sh SOURCE_DIR BUILD_DIR
# shellcheck source=tests/app/command.sh
. "$1/tests/app/command.sh"
mkdir -p root/robot outside home
HOME=$work/home
export HOME

cat >root/cube.obj <<'END'
v 0 0 0
v 1 0 0
v 0 1 0
v 0 0 1
f 1 3 2
f 1 2 4
f 2 3 4
f 1 4 3
END
cp root/cube.obj outside/cube.obj
printf 'P2 2 2 255 0 9 9 0\n' >outside/heights.pgm
printf '<mujoco><worldbody><body><geom size=".1"/></body></worldbody></mujoco>\n' >outside/part.xml
for kind in cube.obj part.xml heights.pgm; do
    printf 'hunter2 is a secret\n' >outside/secret.${kind#*.}
done
ln -s "$work/outside/cube.obj" root/robot/link.obj
ln -s "$work/outside" root/robot/folder

urdf() { # urdf ADDRESS: a robot whose body has that mesh
    printf '<robot name="r"><link name="a"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
<collision><geometry><mesh filename="%s"/></geometry></collision></link></robot>\n' "$1" >root/robot/r.urdf
}
mjcf() { # mjcf ADDRESS COMPILER
    printf '<mujoco>%s<asset><mesh name="m" file="%s"/></asset><worldbody><body><freejoint/>
<geom type="mesh" mesh="m"/></body></worldbody></mujoco>\n' "$2" "$1" >root/robot/r.xml
}

# ---- below the root: all of these load with their mesh ----------------------------------------
for address in ../cube.obj "$work/root/cube.obj" "file://$work/root/cube.obj"; do
    urdf "$address"
    expect 0 info root/robot/r.urdf
    ! grep -q 'not found' out err || fail "URDF $address: the mesh is left out"
    mjcf "$address" ''
    expect 0 info root/robot/r.xml
done

# ---- outside: refused, whether there is a file or not -----------------------------------------
outside() { # outside FILE: the same answer for a file that is there and one that is not; WAY
    "$mayfly" info $2 "root/robot/$1" 2>&1 | sed "s/secret/SOME/g; s/nothere/SOME/g"
}
for name in cube nothere secret; do
    for address in "$work/outside/$name.obj" "file://$work/outside/$name.obj" "../../outside/$name.obj" \
        "package://outside/$name.obj" "package://${work#/}/outside/$name.obj"; do
        case $address in package://outside*) mkdir -p root/outside ;; *) rm -rf root/outside ;; esac
        urdf "$address"
        "$mayfly" info root/robot/r.urdf >out 2>err
        grep -q 'hunter2' out err && fail "URDF $address: bytes of the target are told"
        grep -q 'not found\|leaves its' out err || fail "URDF $address: read"
        mjcf "$address" ''
        expect 1 info root/robot/r.xml
        grep -q 'not found\|leaves its' err || fail "MJCF $address: $(cat err)"
        sed "s/$name/NAME/g" err >told.$name
    done
    mjcf "$name.obj" "<compiler meshdir=\"$work/outside\"/>"
    expect 1 info root/robot/r.xml
    grep -q 'not found below its root' err || fail "meshdir: $(cat err)"
    sed "s/$name/NAME/g" err >meshdir.$name
done
cmp -s meshdir.cube meshdir.nothere || fail 'meshdir: the answer tells whether there is a file'
for link in link.obj folder/cube.obj; do
    mjcf $link ''
    refused 1 "leaves its root folder by '..' or a link" info root/robot/r.xml
done
mjcf x.obj '' && sed -i "s|<asset>.*</asset>|<include file=\"$work/outside/part.xml\"/>|" root/robot/r.xml
expect 1 info root/robot/r.xml
grep -q 'include' err || fail "include: $(cat err)"

# Folders of the system and of users are no packages.
mkdir -p home/robot home/.ssh && cp outside/cube.obj home/.ssh/key.obj
cp root/robot/r.urdf home/robot/r.urdf
for address in package://.ssh/key.obj "package://home/.ssh/key.obj"; do
    sed "s|filename=\"[^\"]*\"|filename=\"$address\"|" root/robot/r.urdf >home/robot/r.urdf
    "$mayfly" info home/robot/r.urdf >out 2>err
    grep -q 'not found' out err || fail "$address: a package"
done

# ---- typed: the root is wider -----------------------------------------------------------------
for address in "$work/outside/cube.obj" link.obj folder/cube.obj; do
    mjcf "$address" ''
    expect 0 info root/robot/r.xml --root "$work"
done

# ---- scenes -----------------------------------------------------------------------------------
scene() {
    printf 'groups:\n- name: a\n  model: %s\n%b\n' "$source_dir/models/hexapod.urdf" "$1" >root/robot/scene.yaml
}
printf 'hunter2: 1\n' >outside/secret.yaml
for name in secret nothere; do
    scene "  gaits: [$work/outside/$name.yaml]"
    refused 1 'expected a file with the keys of a gait' run root/robot/scene.yaml --duration 0.01
    grep -q hunter2 err && fail 'gait: bytes of the target are told'
    sed "s/$name/NAME/g" err >gait.$name
done
cmp -s gait.secret gait.nothere || fail 'gait: the answer tells whether there is a file'
printf 'groups: [{name: a, model: %s}]\n' "$work/outside/secret.yaml" >root/robot/scene.yaml
expect 1 run root/robot/scene.yaml
grep -q hunter2 err && fail 'model: bytes of the target are told'
for path in "$work/outside/out.h5" ../../outside/out.h5; do
    scene "record: {file: $path}"
    refused 1 'expected a path below the folder of this file' run root/robot/scene.yaml --duration 0.01
    [ ! -e outside/out.h5 ] || fail "record.file $path: written"
done
expect 0 run root/robot/scene.yaml --duration 0.01 --set record.file="$work/outside/typed.h5"

[ "$failures" -eq 0 ] || exit 1
echo 'paths stay below their root: passed'
