#!/bin/sh
# Mistakes of newcomers: each gets one line with the place and what was expected.
#     test_newcomers.sh SOURCE_DIR BUILD_DIR
. "$1/tests/app/command.sh"
hexapod=$source_dir/models/hexapod.urdf
group="groups: [{name: a, model: $hexapod"

# noted TEXT WORDS...: the run goes on, with that note.
noted() {
    text=$1
    shift
    expect 0 run "$@" --duration 0.01
    grep -qF -- "note: $text" out || fail "run $*: no note '$text'"
}

inertia='<inertia ixx="1e-3" iyy="1e-3" izz="1e-3" ixy="0" ixz="0" iyz="0"/>'
link() { # link NAME MASS SHAPE
    printf '<link name="%s">\n<inertial><mass value="%s"/>%s</inertial>\n%s</link>' "$1" "$2" "$inertia" "$3"
}

# The command line.
refused 2 'expected a command'
refused 2 "unknown command 'runn', did you mean 'run'?" runn x
refused 2 'expected FILE' run
refused 2 'one argument too many' run "$hexapod" "$hexapod"
refused 2 "--duration: expected a number from 1e-06 to 1000000000, found '0'" run "$hexapod" --duration 0
refused 2 "--step: expected a number from 1e-06 to 1, found '5'" run "$hexapod" --step 5
refused 2 "--motion: expected kinematic, points, rigid, prescribed, articulated" run "$hexapod" --motion full
refused 2 "unknown option '--seconds', did you mean '--duration'?" run "$hexapod" --seconds 5
refused 2 "unknown option '--num-envs', did you mean '--robots'?" run "$hexapod" --num-envs 5
refused 2 "unknown option '--populatoin', did you mean '--population'?" evolve "$source_dir/scenes/hexapod.yaml" --populatoin 3
refused 1 'search.mutation: unknown key' evolve "$source_dir/scenes/hexapod.yaml" --set search.mutation=0.1
refused 1 "no gait 'wlak': expected one of those in" run "$hexapod" --gait wlak
refused 1 'nofile.urdf: cannot open: No such file' run nofile.urdf
refused 1 '/nowhere/x.h5: cannot open its folder' run "$hexapod" --record /nowhere/x.h5 --duration 0.1

# Scenes.
echo "world: {stepp: 0.005}" >key.yaml
echo "$group}]" >>key.yaml
refused 1 'key.yaml:1:9: world.stepp: unknown key, did you mean world.step?' run key.yaml
echo "$group, motion: dynamic}]" >level.yaml
refused 1 'level.yaml:1:' run level.yaml
echo "world: {step: 5 ms}" >unit.yaml
echo "$group}]" >>unit.yaml
refused 1 'unit.yaml:1:15: world.step: expected a time from 1e-06 to 1 s or auto, found 5 ms' run unit.yaml
printf 'groups:\n  - name: a\n    model: hexapodd.urdf\n' >model.yaml
refused 1 'model.yaml:3:12: groups.a.model: hexapodd.urdf: cannot open' run model.yaml
printf 'ground: {file: hillz.pgm}\n%s}]\n' "$group" >ground.yaml
refused 1 'ground.yaml:1:16: ground.file: hillz.pgm: cannot open' run ground.yaml
printf 'groups:\n\t- name: a\n' >tab.yaml
refused 1 'tab.yaml:2:1: expected spaces in front of the line, found a tab' run tab.yaml
echo "$group, gaits: [tripod], behavior: {gait: {name: tripd}}}]" >gait.yaml
refused 1 'groups.a.behavior.gait.name: expected `tripd` in the list gaits' run gait.yaml
echo "$group, height: -0.5}]" >height.yaml
refused 1 'groups.a.height: expected a number from 0 to' run height.yaml
echo "$group, initial: [{property: base.position, values: [0, 0, -1]}]}]" >below.yaml
noted 'the robot starts under the ground: its highest shape is 0.97 m below' below.yaml
: >empty.yaml
refused 1 'empty.yaml:1:1: expected keys, found nothing' run empty.yaml

# Robots.
printf '<robot name="r">%s</robot>' "$(link base -1 '')" >mass.urdf
refused 1 "mass.urdf:2:11: link 'base': mass must be >= 0, found -1" run mass.urdf
shape='<collision><geometry><mesh filename="%s"/></geometry></collision>'
printf "<robot name=\"r\">$(link base 1 "$shape")</robot>" meshes/base.stl >mesh.urdf
noted "mesh.urdf:3: collision mesh 'meshes/base.stl' not found: dropped, so it touches nothing" mesh.urdf
printf "<robot name=\"r\">$(link base 1 "$shape")</robot>" package://mine/base.stl >package.urdf
noted "package.urdf:3: collision mesh 'package://mine/base.stl' not found (--package NAME=FOLDER says where a package is)" package.urdf
echo '<robot name="r" xmlns:xacro="x"><xacro:property name="l" value="1"/></robot>' >robot.xacro
refused 1 'robot.xacro:1:' run robot.xacro
grep -q 'xacro FILE > robot.urdf' err || fail 'nobody says how to expand it'
echo '<sdf version="1.9"><model name="box"><link name="l"/></model></sdf>' >robot.sdf
refused 1 'robot.sdf: an SDF file: sdf2mjcf' run robot.sdf
printf '<mujoco>\n<include file="common.xml"/></mujoco>' >include.xml
refused 1 "include.xml:2:1: <include>: file 'common.xml' not found" run include.xml
printf 'solid x\nendsolid x\n' >body.stl
refused 1 'body.stl: a mesh, not a robot: a URDF or MJCF file names it' run body.stl
joint='<joint name="j" type="revolute"><parent link="%s"/><child link="b"/><axis xyz="0 0 1"/><limit lower="-90" upper="90" effort="1" velocity="1"/></joint>'
printf "<robot name=\"r\">%s%s$joint</robot>" "$(link a 1 '')" "$(link b 1 '')" aa >parent.urdf
refused 1 "joint 'j': there is no link 'aa'" run parent.urdf
printf "<robot name=\"r\">%s%s$joint</robot>" "$(link a 1 '')" "$(link b 1 '')" a >degrees.urdf
noted '1 joint has a range of more than 8 turns: are angles of its file in degrees?' degrees.urdf

# A gait of another robot.
printf 'waves:\n  period: 1\n  swing: 0.2\n  joints:\n    - {joint: leg1_coxaa, shape: bump, amplitude: 0.4}\n' >wave.yaml
refused 1 'leg1_coxaa' run "$hexapod" --gait wave.yaml

# A port that another one has.
"$mayfly" view "$hexapod" --port 0 >first 2>&1 &
pid=$!
for _ in $(seq 1 $((100 + 900 * sanitized))); do
    grep -q 'see it at' first && break
    sleep 0.1
done
port=$(sed -n 's/.*127.0.0.1:\([0-9]*\).*/\1/p' first)
expect 1 view "$hexapod" --port "$port"
grep -q "port $port of 127.0.0.1 is in use by another program; --port 0 takes a free port" err || fail 'view: no word about the port'
expect 1 serve "$source_dir/scenes/hexapod.yaml" --port "$port"
grep -q "127.0.0.1:$port is in use by another program; --port 0 takes a free port" err || fail 'serve: no word about the port'
kill $pid

[ "$failures" -eq 0 ] || exit 1
echo 'mistakes of newcomers: one line each'
