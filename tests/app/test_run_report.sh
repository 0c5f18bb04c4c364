#!/bin/sh
# What mayfly run says before and after: what of the file is missing, bad starts, distance, tilt,
# falls, depth, and faults by name.
#
#     test_run_report.sh SOURCE_DIR BUILD_DIR
set -u
# shellcheck source=tests/app/command.sh
. "$1/tests/app/command.sh"

# near NAME VALUE TOLERANCE
near() {
    awk -v a="$(value "$1")" -v b="$2" -v t="$3" 'BEGIN { exit !(a - b <= t && b - a <= t) }' ||
        fail "$1 is $(value "$1"), expected $2 within $3"
}
# says TEXT: one of the notes of the last run; nothing of the kind before the second line.
says() {
    grep '^note: ' out | grep -qF -- "$1" || fail "no note with '$1'"
}

# ---- what of the file is not there ------------------------------------------------------------------
cat >arm.urdf <<'END'
<robot name="arm"><link name="base"><inertial><mass value="5"/>
<inertia ixx=".1" iyy=".1" izz=".1" ixy="0" ixz="0" iyz="0"/></inertial>
<visual><geometry><mesh filename="gone.stl"/></geometry></visual>
<collision><geometry><box size=".4 .4 .1"/></geometry></collision>
<collision><geometry><mesh filename="shell.dae"/></geometry></collision></link>
<link name="tip"><inertial><mass value="1"/>
<inertia ixx="0" iyy="0" izz="0" ixy="0" ixz="0" iyz="0"/></inertial>
<collision><origin xyz="0 0 .3"/><geometry><sphere radius=".05"/></geometry></collision></link>
<joint name="elbow" type="revolute"><parent link="base"/><child link="tip"/><axis xyz="0 1 0"/>
<limit lower="-1" upper="1" effort="0" velocity="1"/></joint></robot>
END
expect 0 run arm.urdf --duration 0.1
sed -n 2p out | grep -q '^note: ' || fail 'the second line is no note'
says "1 of 1 joints have no motor"
says 'elbow'
says 'shell.dae'
says "link 'tip': inertia is zero"
says 'dropped, so it touches nothing'
expect 0 run arm.urdf --duration 0.1 --json
grep -q '"notes":\["1 of 1 joints have no motor' out || fail 'no notes in the JSON object'

# A joint that moves nothing cannot be simulated: refused by name.
sed 's/<collision><origin xyz.*<\/collision>//' arm.urdf >thin.urdf
refused 1 'joint elbow' run thin.urdf

# ---- what stands in for a floor --------------------------------------------------------------------
ball() { # ball WORLD: a free ball, and what the file's world has
    echo "<mujoco><worldbody>$1<body pos='0 0 .5'><freejoint/><geom size='.1'/></body></worldbody></mujoco>" >ball.xml
}
ball ''
expect 0 run ball.xml --duration 0.1
says 'the file has no floor: a level ground at height 0 is added'
ball "<geom type='box' size='1 1 .1' pos='9 0 -.1'/>"
expect 0 run ball.xml --duration 0.1
says 'the file has no level plane: the robot touches the shapes of its file only'
ball "<geom type='plane' size='1 1 1'/>"
expect 0 run ball.xml --duration 0.1
! grep -q '^note: the file has no' out || fail 'a floor that is there is reported as missing'

# ---- starts that nobody means ----------------------------------------------------------------------
robot() { # robot POSE VELOCITY: a box of .1 x .1 x .4 m, gravity 10
    cat >box.xml <<END
<mujoco model="box"><option timestep="0.002" gravity="0 0 -10"/><worldbody>
<geom type="plane" size="5 5 1"/><body pos="0 0 .2"><freejoint/>
<geom type="box" size=".05 .05 .2" mass="1"/></body></worldbody>
<keyframe><key name="k" qpos="$1" qvel="$2"/></keyframe></mujoco>
END
}
robot '0 0 .2 0 1 0 0' '0 0 0 0 0 0'
expect 0 run box.xml --duration 0.1
says 'the robot starts upside down'
robot '0 0 .1 1 0 0 0' '0 0 0 0 0 0'
expect 0 run box.xml --duration 0.01
says 'the robot starts 0.1 m deep in the ground'
robot '0 0 -2 1 0 0 0' '0 0 0 0 0 0'
expect 0 run box.xml --duration 0.01
says 'the robot starts under the ground: its highest shape is 1.8 m below'
sed -e '/keyframe/d' -e 's/pos="0 0 .2"/pos="0 0 .1"/' box.xml >low.xml && printf '</mujoco>' >>low.xml
expect 0 run low.xml --duration 0.01 --json
grep -q 'is 0.1 m deep in the ground: raised onto it' out || fail 'a lifted start is not reported'
near base_height 0.2 0.001

# ---- steps that are too long -----------------------------------------------------------------------
# A mass of 1 kg on a servo of 10 kN/m: Euler's steps stand up to 2 / sqrt(k / m) = 20 ms, those of
# Runge-Kutta up to sqrt(8) / sqrt(k / m) = 28.3 ms; those with the warning shake, the others do not.
servo() { # servo STEP OPTIONS SERVO
    cat >servo.xml <<END
<mujoco><option timestep="$1" gravity="0 0 0" $2/><worldbody><body>
<joint name="rail" type="slide" axis="1 0 0" solreflimit=".01 1"/><geom size=".1" mass="1" contype="0" conaffinity="0"/></body>
</worldbody><actuator><position joint="rail" kp="10000" $3/></actuator>
<keyframe><key qpos=".01" ctrl="0"/></keyframe></mujoco>
END
    "$mayfly" run servo.xml --duration 3 --json >out 2>err
    awk -v a="$(value kinetic_energy)" -v f="$(value faults)" -v m="$4" \
        'BEGIN { exit !(m == "shakes" ? a > 10 || f > 0 : a < 10 && f == 0) }' ||
        fail "a step of $1 s $2 $3: $4 is wrong"
    if [ "$4" = shakes ]; then
        grep -q "is too long for 1 spring or servo, which oscillates: joint 'rail'" out ||
            fail "a step of $1 s $2 $3 is too long, and nobody says so"
    else
        ! grep -q 'too long' out || fail "a step of $1 s $2 $3 is called too long"
    fi
}
servo .019 '' '' stands
servo .0201 '' '' shakes
servo .0282 'integrator="RK4"' '' stands
servo .0284 'integrator="RK4"' '' shakes
servo .01 '' 'kv="145"' stands # step^2 k + 2 step kv = 4 at 150
servo .01 '' 'kv="155"' shakes
servo .01 'integrator="implicitfast"' 'kv="155"' stands
# A motor of a URDF acts at the end of the step: stable, and not what it is at a shorter one. Without
# an invented rotor the coxa, which turns the lightest leg, is the fastest (16.4 ms).
expect 0 run "$source_dir/models/hexapod.urdf" --step 0.02 --duration 0.1
says "the step of 20 ms is too long for the motor of joint 'leg2_coxa'"
expect 0 run "$source_dir/models/hexapod.urdf" --duration 0.1
! grep -q 'too long' out || fail 'the step of 1 ms of a hexapod is called too long'
# Contacts faster than two steps.
sed 's/<geom type="box"/<geom type="box" solref="0.003 1"/' box.xml >hard.xml
expect 0 run hard.xml --duration 0.01
says 'the step of 2 ms is too long for solref of 3 ms: constraints use 4 ms, two steps'
expect 0 run hard.xml --duration 0.01 --step 0.001
! grep -q 'too long' out || fail 'solref of three steps is called too short'

# ---- the end ---------------------------------------------------------------------------------------
# 0.5 s in the air at 2 m/s.
robot '0 0 9 1 0 0 0' '2 0 0 0 0 0'
expect 0 run box.xml --duration 0.5 --json
near distance 1 1e-5
near tilt 0 1e-5
near falls 0 0
near penetration 0 0
# Beyond its tipping point, atan(1/4) = 0.245 rad: it falls and lies, turned by 90 degrees.
robot '0 0 .207 0.988771 0 0.149438 0' '0 0 0 0 0 0'
expect 0 run box.xml --duration 3 --json
near falls 1 0
near tilt 1.2708 0.01
expect 0 run box.xml --duration 3
grep -q '^tilt .*; it fell' out || fail 'the page does not say that it fell'
grep -q '^distance' out || fail 'the page lacks the distance'
grep -q '^deepest' out || fail 'the page lacks the depth'
expect 0 run box.xml --robots 20 --duration 3
grep -q 'of 20 robots fell' out || fail 'the page does not say how many fell'
# A speed beyond all ranges is a fault, by name.
robot '0 0 9 1 0 0 0' '1e30 0 0 0 0 0'
"$mayfly" run box.xml --duration 0.5 >out 2>err
grep -Eq '^faults    1: 1 (range|nonfinite)' out || fail 'the fault has no name'
"$mayfly" run box.xml --duration 0.5 --json >out 2>err
grep -Eq '"fault_names":\{"(range|nonfinite)":1' out || fail 'the JSON object has no name of the fault'

[ "$failures" -eq 0 ] || exit 1
echo 'runs say what happened'
