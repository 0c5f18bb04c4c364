#!/usr/bin/env python3
"""Sensors on bodies that are fixed to the world, welds and tendons on them, and touch sites, beside
MuJoCo: every sensor value and every position after some seconds, in double and in float.

usage: fixed_things.py

Exit status 1 when a value differs. The torque at a site of the world is left out: MuJoCo adds torques
about different points there.
"""
import sys

import mayfly
import mujoco
import numpy as np

TOLERANCE = {"double": 1e-6, "float": 5e-3}  # of the largest value

SCENE = """<mujoco><worldbody><site name="w" pos="0 0 -1"/>
<body name="fix" pos="2 0 0"><geom type="box" size=".2 .2 .05" pos="0 0 -.05" mass="2"/>
 <body name="fix2" pos="0 0 .1"><site name="f" pos="0 .1 0"/>
  <geom type="box" size=".1 .1 .1" mass="3"/></body></body>
<body name="a"><joint name="sl" type="slide" axis="0 0 1" stiffness="1000" damping="100" armature="1"/>
 <inertial mass=".01" pos="0 0 0" diaginertia="1 1 1"/>
 <body name="o" {body}><geom name="g" type="box" size=".1 .1 .1" mass="1"/><site name="s1"/>
  <site name="s3" pos=".1 0 .05" euler="30 0 0"/></body>
 <body name="o2" pos=".5 0 0"><geom size=".05" mass=".2"/><site name="s4"/></body></body>
{world}</worldbody>{top}<sensor><force site="s1"/><torque site="s1"/><force site="s3"/>
<torque site="s3"/><force site="s4"/><torque site="s4"/><force site="f"/><torque site="f"/>
<force site="w"/></sensor></mujoco>"""


def scene(body="", world="", top=""):
    return SCENE.format(body=body, world=world, top=top)


def spatial(attributes, *elements):
    inner = "".join(f'<geom geom="{e}"/>' if e == "drum" else f'<site site="{e}"/>' for e in elements)
    return f'<tendon><spatial name="t" {attributes}>{inner}</spatial></tendon>'


def equality(text):
    return f"<equality>{text}</equality>"


BOX = '<body pos="2 .02 .35"><freejoint/><geom type="box" size=".1 .1 .1" mass="2"/></body>'
FLOOR = '<geom type="plane" size="1 1 1" pos="0 0 -.0999"/>'
DRUM = '<geom name="drum" type="cylinder" size=".2 1" euler="90 0 0" pos="1 0 .5"/>'
MOTOR = '<actuator><motor tendon="t" gear="3"/></actuator>'
SPRING = 'stiffness="10" springlength=".5"'
FIXED = '<tendon><fixed name="t" {}><joint joint="sl" coef="2"/></fixed></tendon>'

CASES = [  # name, scene, controls
    ("nothing", scene(), []),
    ("a box on a fixed body", scene(world=BOX), []),
    ("a plane on a fixed body", scene(world=f'<body name="p">{FLOOR}</body>'), []),
    ("a plane of the world", scene(world=FLOOR), []),
    ("gravity compensated", scene(body='gravcomp="1"'), []),
    ("a motor at a site", scene(top='<actuator><motor site="s1" gear="0 0 1 0 0 0"/></actuator>'), [5]),
    ("a motor at the joint", scene(top='<actuator><motor joint="sl"/></actuator>'), [5]),
    ("adhesion", scene(world=FLOOR, top='<actuator><adhesion body="o" ctrlrange="0 100" gain="1"/>'
                       "</actuator>"), [50]),
    ("a spring to the world", scene(top=spatial(SPRING, "s1", "w")), []),
    ("a spring to a fixed body", scene(top=spatial(SPRING, "s4", "f")), []),
    ("a spring within a body", scene(top=spatial(SPRING, "s3", "s4")), []),
    ("a spring around a drum", scene(world=DRUM, top=spatial(SPRING, "s4", "drum", "f")), []),
    ("a motor on a path", scene(top=spatial("", "s1", "f") + MOTOR), [5]),
    ("a limit of a path", scene(top=spatial('range="0 .9"', "s1", "w")), []),
    ("dry friction of a path", scene(top=spatial('frictionloss="3"', "s1", "w")), []),
    ("a path without force", scene(top=spatial("", "s1", "f")), []),
    ("a sum of joints", scene(top=FIXED.format(SPRING + ' range="-.001 .001"') + MOTOR), [5]),
    ("a weld to the world", scene(top=equality('<weld body1="o" relpose="0 0 .01 1 0 0 0"/>')), []),
    ("a weld to a fixed body", scene(top=equality('<weld body1="o" body2="fix2"/>')), []),
    ("a weld of fixed bodies", scene(top=equality('<weld body1="fix" body2="fix2"/>')), []),
    ("a connect to a fixed body",
     scene(top=equality('<connect body1="o2" body2="fix" anchor="0 0 0"/>')), []),
    ("a connect of sites", scene(top=equality('<connect site1="s3" site2="f"/>')), []),
]

BALL = """<mujoco><worldbody><site name="w" type="box" size=".2 .2 .05"/>
<site name="v" type="box" size=".2 .2 .05" pos="0 0 .1"/><geom type="plane" size="1 1 1"/>
<body pos="0 0 .1"><freejoint/><geom size=".1" mass="1"/>{}</body></worldbody>
<sensor>{}<touch site="w"/><touch site="v"/></sensor></mujoco>"""
VOLUMES = {"box": ".05 .05 .02", "sphere": ".03", "capsule": ".02 .03", "cylinder": ".03 .02",
           "ellipsoid": ".03 .04 .02"}
for kind, size in VOLUMES.items():
    places = {"a": "0 0 -.07", "b": "0 0 -.1", "c": "0 0 -.2", "d": ".2 0 -.1"}
    sites = [f'<site name="{n}" type="{kind}" size="{size}" pos="{at}"/>' for n, at in places.items()]
    touches = [f'<touch site="{n}"/>' for n in places]
    CASES.append((f"touch in a {kind}", BALL.format("".join(sites), "".join(touches)), []))
CASES.append(("touch between fingers", """<mujoco><option gravity="0 0 0"/><worldbody><body><freejoint/>
<geom type="box" size=".1 .1 .1" mass="1"/><site name="o" type="box" size=".11 .11 .11"/></body>
<body pos="-.2 0 0"><joint name="l" type="slide" axis="1 0 0"/><geom type="box" size=".05 .05 .05"/>
<site name="s" type="box" size=".06 .06 .06"/></body><body pos=".2 0 0"><joint name="r" type="slide"
axis="-1 0 0"/><geom size=".05"/><site name="t" size=".06"/></body></worldbody><actuator>
<motor joint="l"/><motor joint="r"/></actuator><sensor><touch site="s"/><touch site="t"/>
<touch site="o"/></sensor></mujoco>""", [5, 5]))


def theirs(text, controls, steps):
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    data.ctrl[:] = controls
    for _ in range(steps):
        mujoco.mj_step(model, data)
    return model, data


def ours(text, model, controls, steps, precision):
    robot = mayfly.Model.from_string(text)
    world = mayfly.World.for_model(robot)
    group = world.add_group(robot, 1, motion="articulated", precision=precision, sensors=True)
    group.set_state(model.qpos0[None], np.zeros((1, model.nv)))
    if controls:
        group["actuator.control"] = np.array(controls, dtype=float)
    world.step(steps)
    return group


def main():
    bad = 0
    for name, text, controls in CASES:
        model, data = theirs(text, controls, 3000)
        for precision, tolerance in TOLERANCE.items():
            group = ours(text, model, controls, 3000, precision)
            pairs = [(np.array(group["sensor.value"])[0], data.sensordata)]
            if model.ntendon:
                pairs.append((np.array(group["tendon.length"])[0], data.ten_length))
            worst = max(float(np.abs(a - b).max() / max(1.0, np.abs(b).max())) for a, b in pairs)
            bad += not worst <= tolerance
            if not worst <= tolerance:
                print(f"{name}, {precision}: {worst:.2g}: {pairs[0][0]} instead of {pairs[0][1]}")
    print(f"{len(CASES)} scenes of fixed things in two precisions, {bad} differ from MuJoCo")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
