#!/bin/sh
# mayfly run and info with a robot's file alone, from outside.
#
#     test_run_model.sh SOURCE_DIR BUILD_DIR
set -u
# shellcheck source=tests/app/command.sh
. "$1/tests/app/command.sh"

# near NAME VALUE TOLERANCE
near() {
    awk -v a="$(value "$1")" -v b="$2" -v t="$3" 'BEGIN { exit !(a - b <= t && b - a <= t) }' ||
        fail "$1 is $(value "$1"), expected $2 within $3"
}

cat >box.xml <<'EOF'
<mujoco model="box">
  <option timestep="0.004" gravity="0 0 -5"/>
  <visual/>
  <worldbody>
    <geom type="plane" size="5 5 1" pos="0 0 0.5"/>
    <body pos="0 0 3"><freejoint/>
      <geom type="box" size="0.1 0.1 0.2" mass="2"/><site name="imu"/></body>
  </worldbody>
  <sensor><accelerometer name="feels" site="imu"/></sensor>
  <keyframe><key name="high" qpos="0 0 1.2 1 0 0 0"/><key name="lying" qpos="0 0 0.6 1 0 1 0"/>
  </keyframe>
</mujoco>
EOF

# ---- what the file says holds: floor, gravity, step, keyframe ---------------------------------------
# From 1.2 m with the floor at 0.5 m the box of half height 0.2 m falls 0.5 m and stays.
expect 0 run box.xml --json
near base_height 0.7 0.002
near load 1 0.01
near faults 0 0
[ "$(value motion)" = articulated ] || fail 'a robot alone does not move by articulated'
grep -q '"sensors":\[' out || fail 'no sensor values in the JSON object'
# 0.2 s of free fall at 5 m/s^2 in steps of 4 ms: 50 * 51 / 2 * 5 * 0.004^2 = 0.102 m.
expect 0 run box.xml --json --duration 0.2
near base_height 1.098 1e-5
expect 0 run box.xml --json --key lying
near base_height 0.6 0.002
# In water 0.2 x 0.2 m of the box meet a drag of 20 v^2 N: from 2 kg and 5 m/s^2, 0.707 m/s at last,
# 0.214 m in 0.4 s; 0.2161 m by steps of 4 ms whose drag is that of their beginning, as MuJoCo's law has it.
sed 's/timestep="0.004"/timestep="0.004" density="1000"/' box.xml >water.xml
expect 0 run water.xml --json --duration 0.4
near base_height 0.98391 1e-5
expect 0 run box.xml --motion points --json
[ "$(value motion)" = points ] || fail '--motion points is not heard'
near base_height 0.7 0.005
expect 0 run box.xml --duration 0.4
for word in 'starts in keyframe' 'gravity 5' 'steps of 4 ms' 'faults    0' 'feels' 'hash'; do
    grep -q "$word" out || fail "the page lacks '$word'"
done

# ---- the motion of a cloth, typed or not ----------------------------------------------------------
expect 0 run "$source_dir/models/sheet.cloth.yaml" --motion cloth --duration 0.01 --json
[ "$(value motion)" = cloth ] || fail '--motion cloth is not heard'
refused 1 'a cloth moves by cloth or own' run "$source_dir/models/sheet.cloth.yaml" --motion points

# ---- many, and the same for every number of threads -------------------------------------------------
hexapod=$source_dir/models/hexapod.urdf
expect 0 run "$hexapod" --robots 100 --duration 0.5 --threads 1 --json
one=$(value hash)
near robots 100 0
near faults 0 0
near load 1 0.2
expect 0 run "$hexapod" --robots 100 --duration 0.5 --threads 2 --json
[ "$(value hash)" = "$one" ] || fail 'the hash depends on the threads'
expect 0 run models/hexapod.urdf --duration 0.1 --record run.h5 --fields base.position --every 0.01
[ -s run.h5 ] || fail '--record wrote nothing'

# ---- a robot that the world holds, without a floor --------------------------------------------------
cat >arm.xml <<'EOF'
<mujoco><option integrator="RK4"/><worldbody><body><joint name="j" axis="0 1 0" range="-1 1"/>
  <geom type="capsule" fromto="0 0 0 0 0 -0.5" size="0.03"/></body></worldbody></mujoco>
EOF
expect 0 run arm.xml
grep -q 'fixed to the world' out || fail 'the page does not say that the world holds it'
grep -q '^end .*: center of mass' out || fail 'it says where the base of a held robot is'
grep -q 'RK4' out || fail 'the integrator of the file is not taken'
refused 1 'supported motions: kinematic' run arm.xml --motion points

# ---- a film ----------------------------------------------------------------------------------------
expect 0 run box.xml --robots 3 --duration 3 --plot film.html
python3 - <<'EOF' || fail 'the film does not show what happened'
import base64, json, re, zlib
page = open("film.html", encoding="utf-8").read()
film = json.loads(re.search(r'<script id="film"[^>]*>(.*?)</script>', page, re.S)[1])
packed = base64.b64decode(re.search(r'<script id="poses"[^>]*>(.*?)</script>', page, re.S)[1])
planes, cast = zlib.decompress(packed), film["casts"][0]
size = 6 * film["frames"] * film["robots"] * cast["links"]  # numbers: column after column
assert len(planes) == 4 * size, len(planes)
def column(c):  # what is left of a prediction from two samples, folded, byte by byte
    out = []
    for s in range(film["frames"]):
        at = c * film["frames"] + s
        folded = sum(planes[p * size + at] << 8 * p for p in range(4))
        rest = folded >> 1 if folded % 2 == 0 else -(folded >> 1) - 1
        last, before = (out[-1], out[-min(2, s)]) if s > 0 else (0, 0)
        out.append(rest + 2 * last - before)
    return out
# 3 s in steps of 4 ms, a sample in every fifth, and the start.
assert film["robots"] == 3 and film["frames"] == 151, (film["robots"], film["frames"])
assert film["level"] == 0.5 and [s["type"] for s in cast["shapes"]] == ["box"]
heights, half = [h / 16384 for h in column(2)], 0.5 / 16384  # [m] in steps of 1 / 16384
assert abs(heights[0] - 1.2) < 1e-6 + half and abs(heights[-1] - 0.7) < 0.002, heights[::30]
assert abs(heights[10] - 1.098) < 1e-5 + half, heights[10]
EOF
expect 0 run "$source_dir/scenes/hexapod.yaml" --duration 0.1 --plot walk.html
[ -s walk.html ] || fail 'no film of a scene'

# ---- mistakes --------------------------------------------------------------------------------------
printf '<mujoco>\n<worldbody><body>\n<joint axis="0 0 0"/><geom size="1"/></body></worldbody></mujoco>' >bad.xml
refused 1 'bad.xml:3' run bad.xml
refused 1 'bad.xml:3' info bad.xml
printf '<mujoco>\n<include file="loop.xml"/></mujoco>' >loop.xml
refused 1 'loop.xml:2' run loop.xml
printf '<mujoco><worldbody><body name="b">\n<joint name="j"/><geom size="1"/></body></worldbody><actuator>\n<dcmotor joint="j"/></actuator></mujoco>' >sticky.xml
refused 1 'sticky.xml:3' run sticky.xml --strict
refused 1 'sticky.xml:3' info sticky.xml --strict
expect 0 run sticky.xml --duration 0.1
grep -q 'note: sticky.xml:3: .*dropped' out || fail 'run does not say what it drops'
printf '<mujoco><option integrator="implicit" density="1.2"/><worldbody><geom type="plane" size="1 1 1"/><body pos="0 0 1">\n<freejoint/><geom size="1"/></body></worldbody></mujoco>' >implicit.xml
refused 1 'integrator: forces of the medium are explicit' run implicit.xml --strict
refused 1 'motion rigid' run implicit.xml --strict --motion rigid
refused 1 'integrator: forces of the medium are explicit' info implicit.xml --strict
refused 1 'motion rigid' info implicit.xml --strict --motion rigid --fields
expect 0 run implicit.xml --motion rigid --duration 0.1
grep -q '^level: motion rigid: .*; ' out || fail 'run does not say what the motion leaves out'
# Settings of servos in scenes, where no servo acts.
cat >arm.xml <<'END'
<mujoco><worldbody><body pos="0 0 1"><joint axis="0 1 0"/><geom size="0.1" pos="0.2 0 0"/></body></worldbody></mujoco>
END
printf 'groups: [{name: a, model: arm.xml, motion: rigid, servo: {inputs: true}}]\n' >rigid.yaml
printf 'groups: [{name: a, model: implicit.xml, motion: articulated, servo: {gain: 3}}]\n' >ball.yaml
printf 'groups: [{name: a, model: %s/models/sun2022.yaml, servo: {stiffness: 2}}]\n' "$source_dir" >quadrotor.yaml
printf 'groups: [{name: a, model: arm.xml, motion: articulated, servo: {gain: 3}}]\n' >arm.yaml
for name in rigid ball quadrotor arm; do
    expect 0 run "$name.yaml" --duration 0.1
    mv out "$name.out"
done
for name in rigid quadrotor; do
    grep -q 'note: group a: servo has no effect: its robots do not move by `articulated`' "$name.out" ||
        fail "run does not say that no servo acts in $name.yaml"
done
grep -q 'note: group a: servo has no effect: its model has no hinge and no slide' ball.out ||
    fail 'run does not say that there is no joint for a servo'
! grep -q 'servo has no effect' arm.out || fail 'a servo that acts is said to have no effect'
expect 0 info implicit.xml
grep -q 'note: integrator: forces of the medium' out || fail 'info does not say what the motion leaves out'
expect 0 info implicit.xml --motion points
grep -q '^level: motion points: .*shapes (1) touch the ground by contact points' out || fail 'info --motion does not say what it leaves out'
expect 0 info implicit.xml --motion points --json
grep -q '"motion_notes":\["motion points: ' out || fail 'no notes of the motion in JSON'
printf '<mujoco><worldbody><body><joint name="j" limited="true" range="-9 9"/><geom size="1"/></body></worldbody><sensor>\n<jointlimitfrc name="s" joint="j"/></sensor></mujoco>' >limit.xml
expect 0 run limit.xml --motion prescribed --duration 0.1
grep -q "note: sensor 0 's' reads 0: " out || fail 'a sensor that cannot be measured is not reported'
cat >pulled.xml <<'EOF'
<mujoco><worldbody><site name="w" pos="0 0 1"/><body><joint type="slide" axis="1 0 0"/><geom size=".05" mass="1"/>
<body pos="0 0 .2"><geom size=".05" mass="1"/><site name="s"/></body></body></worldbody>
<tendon><spatial name="rope" stiffness="10"><site site="w"/><site site="s"/></spatial></tendon>
<sensor><force name="f" site="s"/></sensor></mujoco>
EOF
expect 0 run pulled.xml --duration 0.1
! grep -q "sensor 0 'f'" out || fail 'a sensor that a tendon pulls on is said to be wrong'
expect 0 info limit.xml --motion points
grep -q 'note: mayfly run rejects it: ' out || fail 'info does not say that run refuses'
sed 's/ density="1.2"//' implicit.xml >fast.xml
expect 0 run fast.xml --strict --duration 0.1
expect 0 info fast.xml --strict
expect 0 info --unsupported sticky.xml
grep -q 'sticky.xml:3' out || fail '--unsupported does not name file and line'
expect 0 info --unsupported arm.xml
grep -q 'everything' out || fail '--unsupported of a plain file'
refused 1 "(high, lying), found 'sit'" run box.xml --key sit
refused 1 "(none), found 'sit'" run arm.xml --key sit
sed 's/0\.004/2/' box.xml >slow.xml
refused 1 'slow.xml: timestep: expected 1e-6 to 1 s, found 2' run slow.xml
refused 1 'box.xml: expected something to evolve' evolve box.xml
refused 2 '--motion' run box.xml --motion sideways
refused 2 '--plot' run box.xml --plot x.svg
expect 0 run box.xml --set run.duration=0.1 --set group.precision=double --ground flat
refused 1 "expected the name of one (none), found 'x'" run "$source_dir/scenes/hexapod.yaml" --key x
refused 1 'gone.xml' run gone.xml
refused 2 "found 'noize', did you mean 'noise'?" run box.xml --ground noize

# ---- starts and results that are probably not intended ---------------------------------------------
solid='<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
link() { # link NAME SIZE
    printf '<link name="%s">%s<collision><geometry><box size="%s %s %s"/></geometry></collision></link>' \
        "$1" "$solid" "$2" "$2" "$2"
}
printf '<robot name="r">%s%s<joint name="j" type="revolute"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/><limit lower="-90" upper="90" effort="1" velocity="1"/></joint></robot>' \
    "$(link a 5)" "$(link b 5)" >degrees.urdf
expect 0 run degrees.urdf --duration 0.1
grep -q '^note: 1 joint has a range of .* degrees?.*: j$' out || fail 'angles in degrees are not told'
grep -q 'millimeters' out && fail 'a robot of 5 m is taken for one in millimeters'
printf '<robot name="r">%s</robot>' "$(link a 300)" >millimeters.urdf
expect 0 run millimeters.urdf --duration 0.1
grep -q '^note: the robot is 300 m high .* millimeters?' out || fail 'lengths in millimeters are not told'
printf 'groups:\n  - {name: r, model: "%s", count: 2, placement: {poses: [[0, 0, 0], [0.05, 0, 0]]}}\n' \
    "$hexapod" >inside.yaml
expect 0 run inside.yaml --duration 0.01
grep -q '^note: robots start inside of each other: r 0 (body) and r 1 (body), 60 mm deep' out || fail 'robots inside of each other are not told'
expect 0 run "$hexapod" --step 0.5 --duration 1
grep -q '^warning   depth: a robot was .* deep in the ground' out || fail 'a robot that sinks is not told'
expect 0 run "$hexapod" --duration 1
grep -q '^warning' out && fail 'a robot that stands is told to sink'

# ---- joints at run time, and how vehicles look in a film --------------------------------------------
cat >tow.yaml <<EOF
world: {step: 0.002}
joints: [{name: rope, kind: ball, first: {group: car}, second: {group: ball}, force_limit: 0.001}]
groups:
  - {name: car, model: "$source_dir/models/car_orca.yaml", behavior: {command: {mode: speed, values: [1, 0]}}}
  - {name: ball, model: "$source_dir/models/ball.xml", motion: rigid, placement: {poses: [[-0.4, 0, 0]]}}
  - {name: quads, model: "$source_dir/models/crazyflie.yaml", placement: {grid: {center: [0, 2, 1], spacing: [1, 1, 1]}}}
  - {name: real, model: "$source_dir/models/crazyflie.yaml", motion: external, placement: {poses: [[0, 4, 0]]}, height: 1}
EOF
expect 0 run tow.yaml --duration 0.5 --plot tow.html
grep -q '^joint     car - ball: broke at ' out || fail 'the end says nothing of a broken joint'
python3 - <<'EOF' || fail 'the film does not show vehicles as such'
import json, re
page = open("tow.html", encoding="utf-8").read()
film = json.loads(re.search(r'<script id="film"[^>]*>(.*?)</script>', page, re.S)[1])
kinds = {cast["name"]: [shape["type"] for shape in cast["shapes"]] for cast in film["casts"]}
assert kinds["car"].count("cylinder") == 5, kinds # wheels, and the disk of its collision shape
assert kinds["quads"].count("cylinder") == 4, kinds # rotors
assert kinds["real"] == kinds["quads"], kinds # moved from outside
assert kinds["ball"] == ["sphere"], kinds
EOF

# ---- warnings --------------------------------------------------------------------------------------
{
    printf '<mujoco><worldbody>'
    i=0
    while [ $i -lt 25 ]; do # one of them is ground: 24 contacts of each ball, and there is room for 16
        printf '<geom type="box" size="9 9 .1"/>'
        i=$((i + 1))
    done
    printf '<body pos="0 0 .1099"><freejoint/>'
    i=0
    while [ $i -lt 20 ]; do
        printf '<geom size=".01" mass=".01" pos="%s %s 0"/>' "0.0$((i % 5 * 3 + 10))" ".$((i / 5 * 3 + 10))"
        i=$((i + 1))
    done
    printf '</body></worldbody></mujoco>'
} >spiky.xml
expect 1 run spiky.xml --robots 3 --duration 0.02
grep -q '^warning   contacts: in [0-9]* robot-steps of 3 robots there were more contacts than' out || fail 'left out contacts are not reported'
grep -q '^faults    3: 3 contacts' out || fail 'contacts that are left out are no fault'
expect 1 run spiky.xml --robots 3 --duration 0.02 --json
grep -q '"warnings":{.*"contacts":{"residual":[0-9.]*,"robots":3,"steps":[0-9]*}' out || grep -q '"contacts":{"robots":3,"steps":[0-9]*,"residual":[0-9.]*}' out || fail 'no warnings in JSON'
expect 0 run box.xml --json
grep -q '"warnings":{}' out || fail 'a robot at rest has warnings'

# ---- written and read again ------------------------------------------------------------------------
expect 0 info --mjcf plain.xml box.xml
expect 0 run plain.xml --json
again=$(value hash)
expect 0 run box.xml --json
[ "$(value hash)" = "$again" ] || fail 'the exported model moves otherwise'

[ "$failures" -eq 0 ] || exit 1
echo 'a robot alone runs'
