#!/usr/bin/env python3
"""Writes articulated_twins.h: models with constraints, and how MuJoCo moves them.

MuJoCo's solver iterates until nothing changes. Needs the Python packages mujoco and numpy.
Run it by hand when a model is to be added; the header is kept with the tests, so that they need
neither.

    python3 tests/motion/articulated_twins.py > tests/motion/articulated_twins.h
"""
import os

import mujoco
import numpy as np

STEPS = 80

GROUND = "<geom type='plane' size='9 9 1' friction='.7 .1 .1' margin='.002'/>"


# Free bodies that get off the ground have equal moments of inertia: others turn otherwise in
# flight, where Mayfly keeps their momentum.
def even(mass, moment):
    return f"<inertial pos='0 0 0' mass='{mass}' diaginertia='{moment} {moment} {moment}'/>"


def model(options, body, rest=""):
    return (f"<mujoco><compiler angle='radian'/><option {options}/><default><geom density='900' "
            f"friction='.9 .1 .1'/></default><worldbody>{GROUND}{body}</worldbody>{rest}</mujoco>")


# Planar, damped, limits and contacts at once, softness of its own.
LEG = """<body pos='0 0 .62'><joint type='slide' axis='1 0 0'/><joint type='slide' axis='0 0 1'/>
<joint axis='0 1 0' damping='.5' armature='.02'/>
<geom type='capsule' size='.05' fromto='0 0 0 0 0 .3' solref='.03 .8' solimp='.3 .9 .01 .5 2'/>
<body><joint axis='0 1 0' range='-.3 .4' limited='true' damping='3' armature='.1' stiffness='20'
 solreflimit='.02 1' solimplimit='0 .8 .03'/><geom type='capsule' size='.04' fromto='0 0 0 0 0 -.3'/>
<body pos='0 0 -.3'><joint axis='0 1 0' range='-.2 .9' limited='true' damping='2' armature='.05'
 margin='.02'/><geom type='capsule' size='.04' fromto='-.1 0 -.26 .15 0 -.25' margin='.004'/></body>
</body></body>"""

# Free, tumbling, with arms: capsules that lie in all directions, spheres, a body without a joint.
TUMBLER = """<body pos='0 0 .4'><freejoint/><geom size='.12'/>
<body pos='.1 .1 0'><geom type='capsule' size='.03' fromto='0 0 0 .2 .1 -.2' condim='1'/></body>
<body pos='-.1 0 0'><joint axis='0 1 1' range='-.5 .2' limited='true' damping='.2' armature='.01'/>
<geom type='capsule' size='.03' fromto='0 0 0 -.3 .05 -.25' friction='.3 .1 .1'/></body>
<body pos='0 -.1 0'><joint type='ball' damping='.05' armature='.01'/>
<geom type='capsule' size='.03' fromto='0 0 0 .05 -.3 -.2'/></body></body>"""

# A box on its corners, slid.
BOX = (f"<body pos='0 0 .1'><freejoint/>{even(21.6, .4)}<geom type='box' size='.2 .15 .1'/>"
       "</body>")

# Two arms that swing into each other above the ground, and a leg into the ground.
def clap(dimension):
    return f"""<body pos='0 0 .5'><joint type='slide' axis='0 0 1' damping='4'/>
<geom type='capsule' size='.05' fromto='-.2 0 0 .2 0 0' contype='0' conaffinity='0'/>
<body pos='-.2 0 0'><joint axis='0 1 0' damping='.4' armature='.02' range='-1 .8' limited='true'/>
<geom type='capsule' size='.04' fromto='0 0 0 .05 .02 .3' condim='{dimension}' margin='.003'/></body>
<body pos='.2 0 0'><joint axis='0 1 0' damping='.3' armature='.02'/>
<geom type='capsule' size='.04' fromto='0 0 0 -.04 -.03 .3' condim='{dimension}'/></body>
<body><joint axis='1 0 0' damping='.1'/>
<geom type='capsule' size='.04' fromto='0 0 -.05 .1 0 -.42'/></body></body>"""


# An arm that strikes a thing that only slides, and has more armature than mass.
PUSH = """<body pos='0 0 .3'><joint axis='0 0 1' damping='.5' armature='.05' range='-.8 2'
 limited='true'/><geom type='capsule' size='.03' fromto='0 0 0 .4 0 0'/></body>
<body pos='.3 .1 .3'><joint type='slide' axis='1 0 0' damping='.4' armature='.03'/>
<joint type='slide' axis='0 1 0' damping='.4' armature='.03' range='-.1 .08' limited='true'/>
<geom size='.05' density='5' condim='1'/></body>"""

# A box with all kinds of friction that is thrown onto the ground.
def top(dimension):
    return f"""<body pos='0 0 .13'><freejoint/>{even(6, .03)}<geom type='box' size='.1 .07 .12' condim='{dimension}'
 friction='.6 .02 .01'/></body>"""


# Spheres that spin and roll, on the ground and on each other.
def balls(dimension):
    return f"""<body pos='0 0 .099'><freejoint/><geom size='.1' condim='{dimension}'
 friction='.5 .03 .005' solref='.01 .7'/></body>
<body pos='.02 .01 .28'><freejoint/><geom size='.08' condim='{dimension}' friction='.7 .02 .01'/>
</body>"""


# Dry friction of joints, of a ball joint and of a tendon; a tendon with limits, spring and inertia.
DRY = """<body pos='0 0 1'><joint axis='0 1 0' frictionloss='.8' damping='.1'/>
<geom type='capsule' size='.04' fromto='0 0 0 .3 0 0'/>
<body pos='.3 0 0'><joint name='a' axis='0 1 0' frictionloss='.3' solreffriction='.03 1'
 solimpfriction='.7 .9 .01 .5 2'/><geom type='capsule' size='.03' fromto='0 0 0 .25 0 0'/>
<body pos='.25 0 0'><joint name='b' axis='0 1 0' armature='.01'/>
<geom type='capsule' size='.03' fromto='0 0 0 .2 .05 0'/>
<body pos='.2 .05 0'><joint type='ball' frictionloss='.02' range='0 .7' limited='true'
 margin='.05'/><geom type='capsule' size='.02' fromto='0 0 0 .1 0 .1'/></body></body></body></body>"""
DRY_REST = """<tendon><fixed name='t' range='-.3 .25' limited='true' margin='.02' frictionloss='.2'
 stiffness='3' damping='.2' armature='.02'><joint joint='a' coef='.7'/><joint joint='b' coef='-1.2'/>
</fixed></tendon>"""

# Two arms, joined at their ends, that lift a weld and drive a joint by a polynomial.
LOOP = """<body pos='0 0 1'><joint axis='0 1 0' damping='.1'/>
<geom contype='0' conaffinity='0' type='capsule' size='.03' fromto='0 0 0 .3 0 0'/>
<body name='end' pos='.3 0 0'><joint axis='0 1 0'/>
<geom contype='0' conaffinity='0' type='capsule' size='.03' fromto='0 0 0 .3 0 0'/></body></body>
<body name='other' pos='.6 0 1'><joint name='x' axis='0 1 0' damping='.2'/>
<geom contype='0' conaffinity='0' type='capsule' size='.03' fromto='0 0 0 0 0 -.4'/></body>
<body pos='0 .5 1'><joint name='y' axis='0 1 0'/>
<geom contype='0' conaffinity='0' type='capsule' size='.03' fromto='0 0 0 .2 0 0'/>
<body name='holds' pos='.2 0 0'><joint axis='1 0 0'/><geom contype='0' conaffinity='0' size='.05'/></body></body>
<body name='held' pos='.25 .5 1.1'><freejoint/><geom contype='0' conaffinity='0' type='box' size='.03 .05 .04'/></body>"""
LOOP_REST = """<equality><connect body1='end' body2='other' anchor='.3 0 0' solref='.03 1'/>
<joint joint1='y' joint2='x' polycoef='.05 .6 .3 0 0' solimp='.8 .9 .01 .5 2'/>
<weld body1='holds' body2='held' torquescale='.7' solref='.04 1.2'/></equality>"""

# A quadruped with position servos that stands on spheres: what implicitfast is for.
SERVO = """<body pos='0 0 .34'><freejoint/><geom type='box' size='.2 .1 .05'/>""" + "".join(
    f"""<body pos='{x} {y} 0'><joint name='h{i}' axis='0 1 0' damping='.3' armature='.01'
 frictionloss='.1'/><geom type='capsule' size='.03' fromto='0 0 0 0 0 -.17'/>
<body pos='0 0 -.17'><joint name='k{i}' axis='0 1 0' damping='.2' armature='.01' range='-1 1'
 limited='true'/><geom type='capsule' size='.02' fromto='0 0 0 0 0 -.13'/>
<geom pos='0 0 -.15' size='.025' condim='6' friction='.8 .02 .01' priority='1'
 solimp='.015 1 .022 .5 2'/></body></body>"""
    for i, (x, y) in enumerate([(.15, .1), (.15, -.1), (-.15, .1), (-.15, -.1)])) + "</body>"
SERVO_REST = "<actuator>" + "".join(
    f"<position joint='h{i}' kp='40' kv='2' forcerange='-9 9'/>"
    f"<general joint='k{i}' gainprm='30' biastype='affine' biasprm='2 -30 -1.5'/>"
    for i in range(4)) + "</actuator>"

# The tall box of a slope: mu below the tangent, tilted gravity.
TALL = "<body pos='0 0 .15'><freejoint/><geom type='box' size='.05 .05 .15'/></body>"
SLOPE = "timestep='.002' gravity='3.355 0 -9.218'"

POWERS = f"""<body pos='0 0 .1'><freejoint/><geom size='.1' solimp='.5 .95 .01 .3 1.5'/></body>
<body pos='.5 0 .12'><freejoint/>{even(2, .01)}<geom type='capsule' size='.05 .1' solimp='.2 .9 .02 .6 3' margin='.02'
 gap='.01'/></body>"""

# A free body, an arm with a slide and a ball joint, tied to the world and to each other by paths with
# springs, dampers, limits and friction: around a sphere, a cylinder, over a pulley.
ROPE = """<site name='w' pos='.2 .1 1.1'/><body pos='0 0 .8'><freejoint/>
<geom type='box' size='.12 .08 .05'/><site name='b' pos='.1 .05 .05'/><site name='c' pos='-.1 0 0'/>
<body pos='.12 0 0'><joint axis='0 1 .2' damping='.1' armature='.01'/>
<geom type='capsule' size='.025' fromto='0 0 0 .25 0 0'/><geom name='drum' type='cylinder'
 size='.05 .1' pos='.25 0 0' euler='1.57 0 0'/><site name='u' pos='.12 .02 .04'/>
<body pos='.25 0 0'><joint type='ball' damping='.05' armature='.01'/>
<geom type='capsule' size='.02' fromto='0 0 0 .2 .03 0'/><site name='l' pos='.15 .03 .05'/>
<body pos='.2 0 0'><joint type='slide' axis='1 0 .2' damping='.3'/><geom size='.03'/>
<site name='t' pos='0 .02 .03'/></body></body></body></body>
<body pos='-.4 .1 .7'><freejoint/><geom name='knob' size='.07'/><site name='k' pos='.07 0 .02'/>
</body>"""
ROPE_REST = """<tendon>
<spatial stiffness='60' damping='2' springlength='.1 .2'><site site='w'/><site site='b'/></spatial>
<spatial limited='true' range='.05 .35' margin='.01' solreflimit='.03 1'><site site='c'/>
<site site='k'/></spatial>
<spatial stiffness='20' frictionloss='.4' limited='true' range='0 .31'><site site='u'/><geom geom='drum'/>
<site site='l'/><site site='t'/></spatial>
<spatial damping='1.5' limited='true' range='.1 .62'><site site='w'/><site site='k'/><pulley divisor='2'/>
<site site='c'/><geom geom='knob'/><site site='w'/></spatial></tendon>"""

# The same body, with inertia of paths that pull along one chain, one with a pulley, one by an actuator.
HEAVY_REST = """<tendon><spatial armature='1.5' frictionloss='4'><site site='w'/><site site='b'/></spatial>
<spatial armature='.8'><site site='w'/><site site='u'/><pulley divisor='2'/><site site='c'/>
<site site='t'/></spatial><spatial name='p' damping='.4'><site site='c'/><site site='l'/></spatial></tendon>
<actuator><motor tendon='p' gear='2' armature='.1'/></actuator>"""

# Actuators with armature and damping of their own: on a hinge, a ball joint, a tendon.
GEARED = """<body pos='0 0 1'><joint name='a' axis='0 1 0' damping='.1' frictionloss='.2'/>
<geom type='capsule' size='.04' fromto='0 0 0 .3 0 0'/>
<body pos='.3 0 0'><joint name='b' axis='0 1 0' range='-.4 .3' limited='true'/>
<geom type='capsule' size='.03' fromto='0 0 0 .25 0 0'/>
<body pos='.25 0 0'><joint name='c' type='ball'/><geom type='capsule' size='.03'
 fromto='0 0 0 .2 .05 0'/></body></body></body>"""
GEARED_REST = """<tendon><fixed name='t'><joint joint='a' coef='.7'/><joint joint='b' coef='-1.2'/></fixed>
</tendon><actuator><motor joint='a' gear='3' armature='.02' damping='.05'/>
<position joint='a' kp='2' armature='.01'/><motor joint='c' gear='2 0 0' armature='.005' damping='.03'/>
<motor tendon='t' gear='-2' armature='.03' damping='.2'/></actuator>"""

# The quadruped again, on controllers of MuJoCo's plugin: with an integral, one that reaches its end.
PID = """<extension><plugin plugin='mujoco.pid'><instance name='hip'><config key='kp' value='40'/>
<config key='kd' value='2'/><config key='ki' value='300'/><config key='imax' value='1.5'/></instance>
</plugin></extension>"""
PID_REST = PID + "<tendon><fixed name='t'><joint joint='k0' coef='.8'/><joint joint='k1' coef='-.5'/></fixed></tendon><actuator>" + "".join(
    f"<plugin joint='h{i}' plugin='mujoco.pid' instance='hip' actdim='1' forcerange='-9 9'/>"
    f"<plugin joint='k{i}' plugin='mujoco.pid'><config key='kp' value='30'/>"
    "<config key='kd' value='1.5'/></plugin>" for i in range(4)) + (
    "<plugin tendon='t' plugin='mujoco.pid' actdim='1'><config key='ki' value='200'/></plugin></actuator>")

# Logs on logs: exactly parallel, and by less than three degrees not.
LOGS = f"""<geom type='capsule' size='.05 .3' pos='0 0 .05' zaxis='1 0 0'/>
<body pos='0 .03 .14'><freejoint/>{even(3, .05)}<geom type='capsule' size='.05 .2' zaxis='1 .05 0'/></body>
<geom type='capsule' size='.05 .3' pos='0 1 .05' zaxis='1 0 0'/>
<body pos='0 1.03 .14'><freejoint/>{even(3, .05)}<geom type='capsule' size='.05 .2' zaxis='1 0 0'/></body>"""

# The quadruped whose joints hold the sums of their actuators, one less than its position servo wants.
HELD = SERVO.replace("<joint name='h", "<joint actuatorfrclimited='true' actuatorfrcrange='-4 4' name='h")
HELD_REST = SERVO_REST.replace("</actuator>", "".join(
    f"<velocity joint='h{i}' kv='{3 + i}'/>" for i in range(4)) + "</actuator>")

FREE = [.7, -.2, -.4, 3., -2., 4.]
TWINS = [
    ("leg, Euler", model("timestep='.004'", LEG), [1.5, -.5, 1., 4., -3.]),
    ("leg, RK4", model("timestep='.004' integrator='RK4'", LEG), [1.5, -.5, 1., 4., -3.]),
    ("leg, hard to slide", model("timestep='.004' impratio='4'", LEG),
     [-1.5, -.5, 1., -4., 3.]),
    ("tumbler, Euler", model("timestep='.004'", TUMBLER), FREE + [2., 1., -2., 3.]),
    ("tumbler, RK4", model("timestep='.006' integrator='RK4'", TUMBLER),
     FREE + [2., 1., -2., 3.]),
    ("box, Euler", model("timestep='.005'", BOX), [1., .5, 0., .4, -.2, 1.]),
    ("push, Euler", model("timestep='.005'", PUSH), [3., 0., 0.]),
    ("push, RK4", model("timestep='.005' integrator='RK4'", PUSH), [3., 0., 0.]),
    ("clap, Euler", model("timestep='.004'", clap(1)), [-1., 6., -6., 2.]),
    ("clap, RK4", model("timestep='.004' integrator='RK4'", clap(1)), [-1., 6., -6., 2.]),
    ("clap with friction, Euler", model("timestep='.004'", clap(3)), [-1., 6., -6., 2.]),
    ("clap with friction, RK4", model("timestep='.004' integrator='RK4'", clap(3)),
     [-1., 6., -6., 2.]),
    ("leg, elliptic", model("timestep='.004' cone='elliptic' impratio='10'", LEG),
     [1.5, -.5, 1., 4., -3.]),
    ("tumbler, elliptic", model("timestep='.004' cone='elliptic'", TUMBLER),
     FREE + [2., 1., -2., 3.]),
    ("tumbler, elliptic, RK4", model("timestep='.005' cone='elliptic' integrator='RK4'", TUMBLER),
     FREE + [2., 1., -2., 3.]),
    ("clap, elliptic", model("timestep='.004' cone='elliptic'", clap(3)), [-1., 6., -6., 2.]),
    ("box that turns", model("timestep='.004'", top(4)), [.5, .2, 0., .3, -.2, 6.]),
    ("box that turns, elliptic", model("timestep='.004' cone='elliptic'", top(4)),
     [.5, .2, 0., .3, -.2, 6.]),
    ("box that rolls, elliptic", model("timestep='.004' cone='elliptic' impratio='3'", top(6)),
     [.5, .2, 0., .3, -.2, 6.]),
    ("balls that roll", model("timestep='.004'", balls(6)), [1., .5, 0., 2., 8., 9.] + [0.] * 6),
    ("balls that roll, elliptic", model("timestep='.004' cone='elliptic'", balls(6)),
     [1., .5, 0., 2., 8., 9.] + [0.] * 6),
    ("dry friction and tendon, Euler", model("timestep='.003'", DRY, DRY_REST),
     [3., -4., 5., 1., 2., 3.]),
    ("dry friction and tendon, RK4", model("timestep='.003' integrator='RK4'", DRY, DRY_REST),
     [3., -4., 5., 1., 2., 3.]),
    ("dry friction and tendon, implicitfast",
     model("timestep='.003' integrator='implicitfast'", DRY, DRY_REST), [3., -4., 5., 1., 2., 3.]),
    ("equality, Euler", model("timestep='.003'", LOOP, LOOP_REST), [0.] * 5 + [.1, 0, 0, 0, 0, 0]),
    ("equality, RK4", model("timestep='.003' integrator='RK4'", LOOP, LOOP_REST),
     [0.] * 5 + [.1, 0, 0, 0, 0, 0]),
    ("servos, Euler", model("timestep='.002'", SERVO, SERVO_REST), [.3, .1, 0, 0, 0, .5] + [.2] * 8),
    ("servos, implicitfast, elliptic",
     model("timestep='.002' integrator='implicitfast' cone='elliptic' impratio='100'", SERVO,
           SERVO_REST), [.3, .1, 0, 0, 0, .5] + [.2] * 8),
    ("held sums, implicitfast", model("timestep='.002' integrator='implicitfast'", HELD, HELD_REST),
     [.3, .1, 0, 0, 0, .5] + [2., -3.] * 4),
    ("integrals, Euler", model("timestep='.002'", SERVO, PID_REST),
     [.3, .1, 0, 0, 0, .5] + [3., -2.] * 4),
    ("integrals, implicitfast", model("timestep='.002' integrator='implicitfast'", SERVO, PID_REST),
     [.3, .1, 0, 0, 0, .5] + [3., -2.] * 4),
    ("tall box on a slope", model(SLOPE, TALL).replace(".7 .1 .1", ".25 .1 .1").replace(
        ".9 .1 .1", ".25 .1 .1"), [0.] * 6),
    ("tall box on a slope, elliptic", model(SLOPE + " cone='elliptic'", TALL).replace(
        ".7 .1 .1", ".25 .1 .1").replace(".9 .1 .1", ".25 .1 .1"), [0.] * 6),
    ("ropes, Euler", model("timestep='.003'", ROPE, ROPE_REST),
     FREE + [3., 1., -2., 2., .5] + [-.5, .2, .3, 0., 0., 0.]),
    ("ropes, RK4", model("timestep='.003' integrator='RK4'", ROPE, ROPE_REST),
     FREE + [3., 1., -2., 2., .5] + [-.5, .2, .3, 0., 0., 0.]),
    ("ropes, implicitfast", model("timestep='.003' integrator='implicitfast'", ROPE, ROPE_REST),
     FREE + [3., 1., -2., 2., .5] + [-.5, .2, .3, 0., 0., 0.]),
    # The pass against slip: a few sweeps in MuJoCo's order, and until a sweep gains little.
    ("leg, noslip", model("timestep='.004' noslip_iterations='2'", LEG), [1.5, -.5, 1., 4., -3.]),
    ("leg, noslip, RK4", model("timestep='.004' integrator='RK4' noslip_iterations='3'", LEG),
     [1.5, -.5, 1., 4., -3.]),
    ("leg, noslip, elliptic", model("timestep='.004' cone='elliptic' noslip_iterations='3'", LEG),
     [1.5, -.5, 1., 4., -3.]),
    ("tumbler, noslip", model("timestep='.004' noslip_iterations='3' noslip_tolerance='0'", TUMBLER),
     FREE + [2., 1., -2., 3.]),
    ("tumbler, noslip, elliptic", model("timestep='.004' cone='elliptic' noslip_iterations='3'",
                                        TUMBLER), FREE + [2., 1., -2., 3.]),
    ("box, noslip", model("timestep='.005' noslip_iterations='4'", BOX), [1., .5, 0., .4, -.2, 1.]),
    ("box that turns, noslip", model("timestep='.004' noslip_iterations='2'", top(4)),
     [.5, .2, 0., .3, -.2, 6.]),
    ("box that turns, noslip, elliptic",
     model("timestep='.004' cone='elliptic' noslip_iterations='3'", top(4)),
     [.5, .2, 0., .3, -.2, 6.]),
    ("box that rolls, noslip, elliptic",
     model("timestep='.004' cone='elliptic' noslip_iterations='3'", top(6)),
     [.5, .2, 0., .3, -.2, 6.]),
    ("balls that roll, noslip", model("timestep='.004' noslip_iterations='20'", balls(6)),
     [1., .5, 0., 2., 8., 9.] + [0.] * 6),
    ("balls that roll, noslip, elliptic",
     model("timestep='.004' cone='elliptic' noslip_iterations='20'", balls(6)),
     [1., .5, 0., 2., 8., 9.] + [0.] * 6),
    ("clap, noslip, elliptic",
     model("timestep='.004' cone='elliptic' noslip_iterations='5'", clap(4)), [-1., 6., -6., 2.]),
    ("dry friction and tendon, noslip",
     model("timestep='.003' noslip_iterations='3' noslip_tolerance='0'", DRY, DRY_REST),
     [3., -4., 5., 1., 2., 3.]),
    ("servos, noslip, elliptic",
     model("timestep='.002' integrator='implicitfast' cone='elliptic' impratio='10' "
           "noslip_iterations='2'", SERVO, SERVO_REST), [.3, .1, 0, 0, 0, .5] + [.2] * 8),
    ("ropes, noslip", model("timestep='.003' noslip_iterations='4'", ROPE, ROPE_REST),
     FREE + [3., 1., -2., 2., .5] + [-.5, .2, .3, 0., 0., 0.]),
    ("geared actuators, Euler", model("timestep='.003'", GEARED, GEARED_REST), [3., -4., 1., 2., 3.]),
    ("geared actuators, implicitfast",
     model("timestep='.003' integrator='implicitfast'", GEARED, GEARED_REST), [3., -4., 1., 2., 3.]),
    ("geared actuators, RK4", model("timestep='.003' integrator='RK4'", GEARED, GEARED_REST),
     [3., -4., 1., 2., 3.]),
    ("heavy ropes, Euler", model("timestep='.003'", ROPE, HEAVY_REST),
     FREE + [3., 1., -2., 2., .5] + [-.5, .2, .3, 0., 0., 0.]),
    ("heavy ropes, RK4", model("timestep='.003' integrator='RK4'", ROPE, HEAVY_REST),
     FREE + [3., 1., -2., 2., .5] + [-.5, .2, .3, 0., 0., 0.]),
    ("heavy ropes, noslip, implicitfast",
     model("timestep='.003' integrator='implicitfast' noslip_iterations='3'", ROPE, HEAVY_REST),
     FREE + [3., 1., -2., 2., .5] + [-.5, .2, .3, 0., 0., 0.]),
    ("logs on logs", model("timestep='.004'", LOGS), [0.] * 12),
    ("powers of the impedance", model("timestep='.004'", POWERS),
     [.5, .2, 0., 3., -2., 1.] + [-.5, 0., 0., 1., 0., 4.]),
]


def run(text, velocity):
    m = mujoco.MjModel.from_xml_string(text)
    m.opt.tolerance, m.opt.ls_tolerance, m.opt.iterations, m.opt.ls_iterations = 0, 1e-12, 300, 300
    d = mujoco.MjData(m)
    d.qvel[:] = velocity
    touched = 0
    for _ in range(STEPS):
        mujoco.mj_step(m, d)
        touched += d.nefc > 0
    assert touched > STEPS // 8, touched
    assert not any(w.number for w in d.warning)
    return m, d


def numbers(values):
    return "{" + ", ".join(repr(float(v)) for v in values) + "}"


def main():
    print(f"// Models with constraints and how MuJoCo {mujoco.__version__} moves them: from their "
          "start with the first\n// velocities, positions and velocities after "
          f"{STEPS} steps. Written by\n// articulated_twins.py; do not edit.\n// clang-format off")
    print(f"enum {{ TWIN_STEPS = {STEPS}, TWIN_VALUES = 40 }};")
    print("static const Twin twins[] = {")
    for name, text, velocity in TWINS:
        m, d = run(text, velocity)
        flat = " ".join(text.split())
        assert m.nq <= 40, name
        rk4 = "true" if m.opt.integrator == mujoco.mjtIntegrator.mjINT_RK4 else "false"
        print(f'    {{"{name}", {rk4}, {m.opt.timestep!r}, {numbers(m.opt.gravity)}, {m.nq}, {m.nv},\n     "{flat}",')
        print(f"     {numbers(velocity)},\n     {numbers(d.qpos)},\n     {numbers(d.qvel)}}},")
    print("};")


if __name__ == "__main__":
    np.seterr(all="raise")
    mujoco.mj_loadAllPluginLibraries(os.path.join(os.path.dirname(mujoco.__file__), "plugin"))
    main()
