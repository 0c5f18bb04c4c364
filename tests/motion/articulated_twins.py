#!/usr/bin/env python3
"""Writes articulated_twins.h: models with constraints, and how MuJoCo moves them.

MuJoCo's solver is told to go on until nothing changes. Needs the Python packages mujoco and numpy.
Run it by hand when a model is to be added; the header is kept with the tests, so that they need
neither.

    python3 tests/motion/articulated_twins.py > tests/motion/articulated_twins.h
"""
import mujoco
import numpy as np

STEPS = 80

GROUND = "<geom type='plane' size='9 9 1' friction='.7 .1 .1' margin='.002'/>"


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
BOX = "<body pos='0 0 .1'><freejoint/><geom type='box' size='.2 .15 .1'/></body>"

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
    return m, d


def numbers(values):
    return "{" + ", ".join(repr(float(v)) for v in values) + "}"


def main():
    print(f"// Models with constraints and how MuJoCo {mujoco.__version__} moves them: from their "
          "start with the first\n// velocities, positions and velocities after "
          f"{STEPS} steps. Written by\n// articulated_twins.py; do not edit.\n// clang-format off")
    print(f"enum {{ TWIN_STEPS = {STEPS}, TWIN_VALUES = 24 }};")
    print("static const Twin twins[] = {")
    for name, text, velocity in TWINS:
        m, d = run(text, velocity)
        flat = " ".join(text.split())
        assert m.nq <= 24
        rk4 = "true" if m.opt.integrator == mujoco.mjtIntegrator.mjINT_RK4 else "false"
        print(f'    {{"{name}", {rk4}, {m.opt.timestep!r}, {m.nq}, {m.nv},\n     "{flat}",')
        print(f"     {numbers(velocity)},\n     {numbers(d.qpos)},\n     {numbers(d.qvel)}}},")
    print("};")


if __name__ == "__main__":
    np.seterr(all="raise")
    main()
