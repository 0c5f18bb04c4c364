#!/usr/bin/env python3
"""Docked modules in Mayfly, MuJoCo and PyBullet, and particles in Mayfly, Taichi and Warp.

usage: modules.py --mayfly PATH [--rounds N] [--threads N] [--only chains,fluid] [--chains N,N,...]
(run_modules.sh prepares the environment and calls this)

Chains: N modules, two boxes and a motor each (the sizes, masses and motor of models/modules/pitch.urdf),
lie on the ground in a row and crawl by a wave. One MJCF text is the module of Mayfly and of MuJoCo. Where
modules meet, Mayfly docks them, MuJoCo has a weld equality, PyBullet a fixed constraint. The joint in
the middle is off for 0.1 s after half a second. All take steps of 5 ms on one core in double
precision, controls change every four steps, and only the steps are timed. The gap is the largest
distance between the two sides of a joint that is on, from 0.2 s after it was switched on.

Fluid: 100 x 100 x 10 particles of water that run apart, 50 steps of 0.6 ms. Taichi and Warp have no
ready solver, so fluid_peers.py computes there the equations of docs/explanation/particles.md, with the same
reach of two spacings, in float.

The systems take turns in every round. Rates are medians over the rounds, ratios medians of the ratios
of single rounds, gaps those of the first round. A chain whose gap reaches a module's length has diverged;
then there is no rate. Prints the Markdown of docs/studies/performance.md.
"""
import argparse
import importlib.metadata
import importlib.util
import json
import math
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

STEP = 0.005  # [s]
HOLD = 4  # [1] steps that a control is held
HOLDS = 50  # [1]
OFF, ON, CALM = 25, 30, 40  # [1] holds at which the joint is switched, and counts again
WIDTH = 0.1  # [m] from dock to dock
MASS, INERTIA = 0.25, (0.000185, 0.000089, 0.00017)  # [kg], [kg m^2] of a half
GAIN, DAMPING, TORQUE = 20.0, 0.5, 2.0  # [N m/rad], [N m s/rad], [N m]


def half(name, sign, inner):
    inertia = " ".join(map(str, INERTIA))
    return (
        f'<inertial pos="{0.029 * sign} 0 0" mass="{MASS}" diaginertia="{inertia}"/>'
        f'<geom type="box" pos="{0.029 * sign} 0 0" size="0.021 0.04 0.025"/>'
        f'<site name="{name}" pos="{0.05 * sign} 0 0" euler="0 0 {0 if sign > 0 else 180}"/>{inner}')


def module(number, x):
    front = half(f"front_site{number}", 1, f'<joint name="hinge{number}" axis="0 1 0"/>')
    body = f'<body name="front{number}">{front}</body>'
    return (f'<body name="rear{number}" pos="{x} 0 0.025"><freejoint/>'
            f'{half(f"back_site{number}", -1, body)}</body>')


def chain_text(count, docks):
    """A chain as MJCF: of welds, or one module with docks."""
    motors = "".join(f'<position joint="hinge{i}" kp="{GAIN}" kv="{DAMPING}" '
                     f'forcerange="-{TORQUE} {TORQUE}"/>' for i in range(count))
    bodies = "".join(module(i, WIDTH * i) for i in range(count))
    seams = range(count - 1)
    # The stiffest that MuJoCo's guide allows: a time constant of two steps.
    welds = "".join(f'<weld body1="front{i}" body2="rear{i + 1}" solref="{2 * STEP} 1"/>' for i in seams)
    apart = "".join(f'<exclude body1="front{i}" body2="rear{i + 1}"/>' for i in seams)
    plates = ('<custom><text name="dock:front" data="site=front_site0 orientations=2"/>'
              '<text name="dock:back" data="site=back_site0 orientations=2"/></custom>') if docks else ""
    return (f'<mujoco model="chain"><option timestep="{STEP}" integrator="implicitfast"/>'
            f'<worldbody><geom type="plane" size="0 0 1"/>{bodies}</worldbody>'
            f'<actuator>{motors}</actuator><equality>{welds}</equality>'
            f'<contact>{apart}</contact>{plates}</mujoco>')


def wave(count, hold):
    time_now = hold * HOLD * STEP
    return 0.4 * min(time_now, 1.0) * np.sin(2 * np.pi * (0.5 * time_now - 0.1 * np.arange(count)))


def rotate(q, v):
    """Vectors (n, 3) turned by quaternions (n, 4), w first."""
    w, u = q[:, :1], q[:, 1:]
    return v + 2 * np.cross(u, np.cross(u, v) + w * v)


def gap(hinges, attitudes, angles):
    """Largest distance of the seams of a chain [m]."""
    count, arm = len(hinges), 0.5 * WIDTH
    back = hinges + rotate(attitudes, np.tile([-arm, 0, 0], (count, 1)))
    ahead = np.stack([arm * np.cos(angles), np.zeros(count), -arm * np.sin(angles)], axis=1)
    front = hinges + rotate(attitudes, ahead)
    return float(np.linalg.norm(front[:-1] - back[1:], axis=1).max())


# ---- the systems --------------------------------------------------------------------------------


class Mayfly:
    name = "Mayfly"

    def __init__(self, count):
        import mayfly

        self.count, self.middle = count, count // 2
        with tempfile.NamedTemporaryFile("w", suffix=".xml") as file:
            file.write(chain_text(1, docks=True))
            file.flush()
            model = mayfly.Model.from_file(file.name)
        self.world = mayfly.World.for_model(model, threads=1)
        self.group = self.world.add_group(model, count, name="chain", motion="articulated",
                                          isolated=False, pushable=True, precision="double",
                                          contact_law="compliant")  # chains are trees
        self.group.set_start([[WIDTH * i, 0, 0.025] for i in range(count)])
        self.world.add_collisions()
        self.docks = self.world.add_docks()
        for i in range(count - 1):
            self.join(i)

    def join(self, i):
        self.docks.connect((self.group, i, "front"), (self.group, i + 1, "back"), move=False)

    def switch(self, on):
        ends = ((self.middle - 1, 0), (self.middle, 1))
        for robot, dock in ends:
            self.group["dock.enabled"][robot, dock] = int(on)
        if on:
            self.join(self.middle - 1)

    def control(self, values):
        self.group["actuator.control"] = values[:, None]

    def step(self):
        self.world.step(HOLD)

    def gap(self):
        return gap(np.array(self.group["base.position"]), np.array(self.group["base.orientation"]),
                   np.array(self.group["joint.angle"])[:, 0])

    def health(self):
        words = sorted({word for i in range(self.count) for word in self.group.warning_names(i)})
        return f"warnings: {', '.join(words) or 'none'}"


class MuJoCo:
    name = "MuJoCo"

    def __init__(self, count):
        import mujoco

        self.mujoco, self.count, self.middle = mujoco, count, count // 2
        self.model = mujoco.MjModel.from_xml_string(chain_text(count, docks=False))
        self.data = mujoco.MjData(self.model)

    def switch(self, on):
        self.data.eq_active[self.middle - 1] = on

    def control(self, values):
        self.data.ctrl[:] = values

    def step(self):
        self.mujoco.mj_step(self.model, self.data, HOLD)

    def gap(self):
        q = self.data.qpos.reshape(self.count, 8)
        return gap(q[:, :3], q[:, 3:7], q[:, 7])

    def health(self):
        return f"warnings: {int(sum(w.number for w in self.data.warning)) or 'none'}"


class PyBullet:
    name = "PyBullet"

    def __init__(self, count):
        import pybullet

        self.p, self.count, self.middle = pybullet, count, count // 2
        self.client = pybullet.connect(pybullet.DIRECT)
        pybullet.setTimeStep(STEP)
        pybullet.setGravity(0, 0, -9.81)
        ground = pybullet.createCollisionShape(pybullet.GEOM_PLANE)
        pybullet.createMultiBody(0, ground)
        shape = pybullet.createCollisionShape(pybullet.GEOM_BOX, halfExtents=[0.021, 0.04, 0.025])
        self.robots = [self.add(shape, WIDTH * i) for i in range(count)]
        self.seams = [self.join(i) for i in range(count - 1)]

    def add(self, shape, x):
        p = self.p
        robot = p.createMultiBody(
            MASS, shape, basePosition=[x - 0.029, 0, 0.025], linkMasses=[MASS],
            linkCollisionShapeIndices=[shape], linkVisualShapeIndices=[-1],
            linkPositions=[[0.029, 0, 0]], linkOrientations=[[0, 0, 0, 1]],
            linkInertialFramePositions=[[0.029, 0, 0]],
            linkInertialFrameOrientations=[[0, 0, 0, 1]], linkParentIndices=[0],
            linkJointTypes=[p.JOINT_REVOLUTE], linkJointAxis=[[0, 1, 0]])
        for link in (-1, 0):
            p.changeDynamics(robot, link, localInertiaDiagonal=INERTIA, lateralFriction=1.0,
                             linearDamping=0, angularDamping=0)
        return robot

    def join(self, i):
        p = self.p
        p.setCollisionFilterPair(self.robots[i], self.robots[i + 1], 0, -1, 0)
        return p.createConstraint(self.robots[i], 0, self.robots[i + 1], -1, p.JOINT_FIXED, [0, 0, 0],
                                  [0.021, 0, 0], [-0.021, 0, 0])

    def switch(self, on):
        if on:
            self.seams[self.middle - 1] = self.join(self.middle - 1)
        else:
            self.p.removeConstraint(self.seams[self.middle - 1])

    def control(self, values):
        for robot, value in zip(self.robots, values):
            self.p.setJointMotorControl2(robot, 0, self.p.POSITION_CONTROL, targetPosition=value,
                                         force=TORQUE)

    def step(self):
        for _ in range(HOLD):
            self.p.stepSimulation()

    def gap(self):
        places = [self.p.getBasePositionAndOrientation(robot) for robot in self.robots]
        attitudes = np.array([q[3:] + q[:3] for _, q in places])
        centers = np.array([place for place, _ in places])
        angles = np.array([self.p.getJointState(robot, 0)[0] for robot in self.robots])
        arms = rotate(attitudes, np.tile([0.029, 0, 0], (self.count, 1)))
        return gap(centers + arms, attitudes, angles)

    def health(self):
        return "no report"


# ---- chains -------------------------------------------------------------------------------------


def crawl(system):
    """Steps per second of a chain, and its largest gap [m], at most the length of a module."""
    seconds, worst = 0.0, 0.0
    for hold in range(HOLDS):
        if hold in (OFF, ON):
            system.switch(hold == ON)
        system.control(wave(system.count, hold))
        began = time.perf_counter()
        system.step()
        seconds += time.perf_counter() - began
        if hold >= 10 and not OFF <= hold < CALM:
            worst = max(worst, system.gap())
        if not worst < WIDTH:
            return math.nan, WIDTH
    return HOLDS * HOLD / seconds, worst


def tables_of_chains(counts, rounds):
    print("| modules | system | steps/s | module-steps/s | Mayfly over it | largest gap | |")
    print("|---|---|---|---|---|---|---|")
    for count in counts:
        kinds = [Mayfly, MuJoCo]
        if count == 100 and importlib.util.find_spec("pybullet"):
            kinds.append(PyBullet)
        rates, gaps, health = {k: [] for k in kinds}, {}, {}
        for turn in range(rounds):
            for kind in kinds if turn % 2 == 0 else reversed(kinds):
                system = kind(count)
                rate, worst = crawl(system)
                rates[kind].append(rate)
                gaps.setdefault(kind, worst)
                health[kind] = system.health()
                if kind is PyBullet:
                    system.p.disconnect()
        for kind in kinds:
            print(row_of(count, kind, rates, gaps[kind], health[kind]), flush=True)


def row_of(count, kind, rates, worst, health):
    rate = statistics.median(rates[kind])
    ratio = statistics.median(a / b for a, b in zip(rates[Mayfly], rates[kind]))
    if not rate > 0:
        return f"| {count} | {kind.name} | | | | diverged | {health} |"
    over = f"{ratio:.2g} x" if ratio > 0 else ""
    return (f"| {count} | {kind.name} | {rate:,.0f} | {rate * count:,.0f} | {over} | {1e3 * worst:.2g} mm | "
            f"{health} |")


# ---- fluid --------------------------------------------------------------------------------------


def ours(mayfly, threads):
    done = subprocess.run([mayfly, "bench", "fluid-100k", "--json", "--repeats", "1", "--steps", "5",
                           "--threads", str(threads)], capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])["particle_steps_per_second"]


def theirs(name, threads):
    here = os.path.dirname(os.path.abspath(__file__))
    done = subprocess.run([sys.executable, os.path.join(here, "fluid_peers.py"), name, str(threads)],
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return None, done.stderr.strip().splitlines()[-1][:100]
    answer = json.loads(done.stdout.splitlines()[-1])
    return answer["rate"], f"front at {answer['front']:.3f} m, {answer['neighbors']:.1f} neighbors"


def table_of_fluid(mayfly, rounds, threads):
    kinds = [("Taichi", 1), ("Warp", 1)] + ([("Taichi", threads)] if threads > 1 else [])
    rates, notes = {k: [] for k in kinds}, {}
    base = {t: [] for _, t in kinds}
    for _ in range(rounds):
        for t in base:
            base[t].append(ours(mayfly, t))
        for kind in kinds:
            rate, notes[kind] = theirs(*kind)
            rates[kind].append(rate)
    print("\n| system | threads | particle-steps/s | Mayfly over it | |\n|---|---|---|---|---|")
    for t, values in base.items():
        print(f"| Mayfly | {t} | {statistics.median(values) / 1e6:.2f} M | 1 x | |")
    for kind in kinds:
        if None in rates[kind]:
            print(f"| {kind[0]} | {kind[1]} | none | | {notes[kind]} |")
            continue
        ratio = statistics.median(a / b for a, b in zip(base[kind[1]], rates[kind]))
        print(f"| {kind[0]} | {kind[1]} | {statistics.median(rates[kind]) / 1e6:.2f} M | {ratio:.1f} x "
              f"| {notes[kind]} |")


# ---- all ----------------------------------------------------------------------------------------


def conditions(rounds):
    versions = []
    for package in ("mayfly", "mujoco", "pybullet", "taichi", "warp-lang"):
        try:
            versions.append(f"{package} {importlib.metadata.version(package)}")
        except importlib.metadata.PackageNotFoundError:
            versions.append(f"no {package}")
    with open("/proc/cpuinfo", encoding="ascii", errors="replace") as file:
        cpu = next((line.split(":")[1].strip() for line in file if line.startswith("model name")), "?")
    print(f"{cpu}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} at the start; Python "
          f"{platform.python_version()}, {', '.join(versions)}; {rounds} rounds.\n", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--mayfly", required=True, help="the command")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2, help="of the fluid's second row")
    parser.add_argument("--chains", default="10,30,100", help="numbers of modules")
    parser.add_argument("--only", default="chains,fluid")
    options = parser.parse_args()
    conditions(options.rounds)
    if "chains" in options.only:
        tables_of_chains([int(n) for n in options.chains.split(",")], options.rounds)
    if "fluid" in options.only:
        table_of_fluid(options.mayfly, options.rounds, options.threads)


if __name__ == "__main__":
    main()
