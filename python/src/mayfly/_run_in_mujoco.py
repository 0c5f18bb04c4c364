"""Runs an exported policy in MuJoCo, beside what Mayfly got, which is stored in this folder.

    python run.py             a table
    python run.py --json      one object
    python run.py --view      the first robot in MuJoCo's viewer

It needs mujoco and numpy, not Mayfly. mayfly.export() wrote this folder: task.json has the numbers
of the task, terms.py its terms, policy.npz the policy, scene.xml the robot on its ground, and
mayfly.npz the commands, observations and rewards in Mayfly.
"""

from __future__ import annotations

import argparse
import fnmatch
import importlib
import json
import pathlib
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

Array = Any
FIELDS = {  # what terms may read by name, and how
    "base.position": lambda data: data.qpos[None, :3],
    "base.orientation": lambda data: data.qpos[None, 3:7],
    "base.linear_velocity": lambda data: data.qvel[None, :3],
    "base.angular_velocity": lambda data: data.qvel[None, 3:6],
    "actuator.force": lambda data: data.actuator_force[None],
    "actuator.control": lambda data: data.ctrl[None],
}
READS = (*FIELDS, "joint.angle", "joint.rate")
ACTIVATIONS: dict[str, Any] = {
    "identity": lambda x: x,
    "tanh": np.tanh,
    "relu": lambda x: np.maximum(x, 0),
    "elu": lambda x: np.where(x > 0, x, np.expm1(np.minimum(x, 0))),
}


class Contact:
    """Contacts of links with the ground, (1, links)."""

    def __init__(self, bodies: list[int]) -> None:
        self.bodies = bodies
        shape = (1, len(bodies))
        columns = [np.zeros(shape, np.float32) for _ in range(5)]
        self.force, self.slip, self.air_time, self.last_air_time, self.contact_time = columns
        self.first_contact = np.zeros(shape, np.bool_)

    def update(self, env: Env) -> None:
        self.force[...] = self.slip[...] = 0
        wrench, rows = np.zeros(6), np.zeros((3, env.model.nv))
        for i, touch in enumerate(env.data.contact[: env.data.ncon]):
            bodies = [int(env.model.geom_bodyid[geom]) for geom in touch.geom]
            moved = [body for body in bodies if body in self.bodies]
            if 0 not in bodies or not moved:
                continue
            column = self.bodies.index(moved[0])
            env.mujoco.mj_contactForce(env.model, env.data, i, wrench)
            env.mujoco.mj_jac(env.model, env.data, rows, None, touch.pos, moved[0])
            normal, speed = touch.frame[:3], rows @ env.data.qvel
            slip = float(np.linalg.norm(speed - normal * (normal @ speed)))
            self.force[0, column] += wrench[0]
            self.slip[0, column] = max(self.slip[0, column], slip)
        on, dt = self.force > 0, np.float32(env.step_dt)
        self.first_contact[...] = on & (self.air_time > 0)
        landed = np.where(self.first_contact, self.air_time + dt, self.last_air_time)
        self.last_air_time[...] = landed
        self.air_time[...] = np.where(on, 0, self.air_time + dt)
        self.contact_time[...] = np.where(on, self.contact_time + dt, 0)


class Env:
    """One robot in MuJoCo, as the terms of a task read it: arrays (1, ...)."""

    action: Array
    previous_action: Array
    default_joint_pos: Array
    joint_limits: tuple[Array, Array]
    episode_length_buf: Array
    max_episode_length: int
    num_envs: int
    step_dt: float
    terminated: Array
    truncated: Array

    def __init__(self, folder: pathlib.Path, task: dict[str, Any]) -> None:
        self.mujoco = importlib.import_module("mujoco")
        self.task = task
        self.model = self.mujoco.MjModel.from_xml_path(str(folder / "scene.xml"))
        if self.model.nq != len(task["position"]):
            raise SystemExit(
                f"scene.xml: MuJoCo counts {self.model.nq} positions, the task has "
                f"{len(task['position'])}"
            )
        self.model.opt.timestep = task["step"]
        self.data = self.mujoco.MjData(self.model)
        self.num_envs, self.step_dt = 1, task["step"] * task["decimation"]
        self.max_episode_length = task["episode_steps"]
        self.default_joint_pos = np.array(task["default_joint_pos"], np.float32)
        lower, upper = (np.array(task[f"joint_{end}"], np.float32) for end in ("lower", "upper"))
        self.joint_limits = lower, upper
        self._addresses = np.array(task["position_address"]), np.array(task["velocity_address"])
        self._motors = self._find_motors()
        self._names = {
            self.mujoco.mj_id2name(self.model, self.mujoco.mjtObj.mjOBJ_BODY, i): i
            for i in range(1, self.model.nbody)
        }
        self._contacts: dict[Any, Contact] = {}
        self._commands: dict[str, Array] = {}
        self.reset({})

    def _find_motors(self) -> list[tuple[int, int, float, float]]:
        """Actuators that control positions of joints: actuator, joint, and the control for a
        position: a + b x position.
        """
        found, model = [], self.model
        joints = {int(a): j for j, a in enumerate(self._addresses[0])}
        for i in range(model.nu):
            joint = joints.get(int(model.jnt_qposadr[model.actuator_trnid[i, 0]]))
            kind, slope = model.actuator_trntype[i], model.actuator_biasprm[i, 1]
            if kind == self.mujoco.mjtTrn.mjTRN_JOINT and slope < 0 and joint is not None:
                gain, gear = model.actuator_gainprm[i, 0], model.actuator_gear[i, 0]
                rest = model.actuator_biasprm[i, 0]
                found.append((i, joint, -rest / gain, -slope * gear / gain))
        return found

    def reset(self, commands: dict[str, Array]) -> None:
        """Starts an episode in the default pose."""
        self.mujoco.mj_resetData(self.model, self.data)
        self.data.qpos[:] = self.task["position"]
        self.data.ctrl[:] = self.task["control"]
        self._targets = np.array(self.task["joint_target"], float)
        self.action = np.zeros((1, self.task["action_count"]), np.float32)
        self.previous_action = self.action.copy()
        self.episode_length_buf = np.zeros(1, np.int32)
        self.terminated, self.truncated = np.zeros(1, np.bool_), np.zeros(1, np.bool_)
        self._contacts = {key: Contact(one.bodies) for key, one in self._contacts.items()}
        self._commands = commands
        self._rates = self.joint_vel
        self._drive()
        self.mujoco.mj_forward(self.model, self.data)

    def _drive(self) -> None:
        """Controls for the targets of joints, as Mayfly computes them."""
        angles = self.data.qpos[self._addresses[0]]
        reach = np.array([np.inf if one is None else one for one in self.task["reach"]])
        targets = angles + np.clip(self._targets - angles, -reach, reach)
        for actuator, joint, rest, slope in self._motors:
            if self.task["driven"][joint]:
                self.data.ctrl[actuator] = rest + slope * targets[joint]

    def step(self, action: Array) -> None:
        """One step of the task."""
        self._rates = self.joint_vel
        self.previous_action, self.action = self.action, np.array(action, np.float32)[None]
        for term in self.task["actions"]:
            first, columns = term["first"], term["columns"]
            value = self.action[0, first : first + len(columns)].astype(float)
            value = value * term["scale"] + term["offset"]
            if term["clip"] is not None:
                value = np.clip(value, *term["clip"])
            to = self._targets if term["field"] == "joint.target" else self.data.ctrl
            to[columns] = value
        for _ in range(self.task["decimation"]):
            self._drive()
            self.mujoco.mj_step(self.model, self.data)
        self.episode_length_buf += 1
        for contact in self._contacts.values():
            contact.update(self)

    # ---- what terms read -------------------------------------------------------------------------

    def __getitem__(self, name: str) -> Array:
        if name in ("joint.angle", "joint.rate"):
            return self.joint_pos if name == "joint.angle" else self.joint_vel
        return FIELDS[name](self.data).astype(np.float32)

    def _in_body(self, vector: Any) -> Array:
        out, turn = np.zeros(3), np.zeros(4)
        self.mujoco.mju_negQuat(turn, self.data.qpos[3:7])
        self.mujoco.mju_rotVecQuat(out, np.array(vector, float), turn)
        return out[None].astype(np.float32)

    @property
    def base_lin_vel(self) -> Array:
        return self._in_body(self.data.qvel[:3])

    @property
    def base_ang_vel(self) -> Array:
        return self["base.angular_velocity"]

    @property
    def projected_gravity(self) -> Array:
        gravity = self.model.opt.gravity
        return self._in_body(gravity / np.linalg.norm(gravity))

    @property
    def heading(self) -> Array:
        w, x, y, z = self.data.qpos[3:7]
        return np.arctan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z), dtype=np.float32)[None]

    @property
    def joint_pos(self) -> Array:
        return self.data.qpos[None, self._addresses[0]].astype(np.float32)

    @property
    def joint_vel(self) -> Array:
        return self.data.qvel[None, self._addresses[1]].astype(np.float32)

    @property
    def joint_acc(self) -> Array:
        return (self.joint_vel - self._rates) / np.float32(self.step_dt)

    def height_scan(
        self, size: tuple[float, float], resolution: float, link: str | None, offset: float
    ) -> Array:
        points = [round(edge / resolution) + 1 for edge in size]
        height = self.data.qpos[2]
        if link is not None:
            self.mujoco.mj_kinematics(self.model, self.data)
            height = self.data.xpos[self._names[link]][2]
        return np.full((1, points[0] * points[1]), height - offset, np.float32)  # it is level

    def joints(self, names: Sequence[str]) -> list[int]:
        patterns = (names,) if isinstance(names, str) else names
        known = enumerate(self.task["joints"])
        return [i for i, name in known if any(fnmatch.fnmatchcase(name, p) for p in patterns)]

    def contact(self, links: Sequence[str]) -> Contact:
        patterns = (links,) if isinstance(links, str) else tuple(links)
        if patterns not in self._contacts:
            names = [
                name
                for name in self.task["links"]
                if any(fnmatch.fnmatchcase(name, p) for p in patterns)
            ]
            missing = [name for name in names if name not in self._names]
            if missing:
                raise SystemExit(f"scene.xml: there is no body {missing[0]!r}")
            self._contacts[patterns] = Contact([self._names[name] for name in names])
        return self._contacts[patterns]

    def command(self, name: str | None = None) -> Array:
        return next(iter(self._commands.values())) if name is None else self._commands[name]


class Policy:
    """Layers of weights (inputs, outputs) and biases."""

    def __init__(self, path: pathlib.Path, actions: int) -> None:
        stored = np.load(path)
        self.actions = actions
        self.activation = ACTIVATIONS[str(stored["activation"])]
        count = sum(name.startswith("weight") for name in stored)
        self.layers = [(stored[f"weight{i}"], stored[f"bias{i}"]) for i in range(count)]

    def __call__(self, seen: Array) -> Array:
        if not self.layers:  # it stands still
            return np.zeros(self.actions, np.float32)
        for i, (weight, bias) in enumerate(self.layers):
            seen = (self.activation(seen) if i else seen) @ weight + bias
        return seen


class Observer:
    """The observations of the policy."""

    def __init__(self, env: Env, terms: list[dict[str, Any]], functions: Any) -> None:
        self.env, self.terms, self.functions = env, terms, functions
        self.past: list[list[Array]] = [[] for _ in terms]

    def __call__(self) -> Array:
        rows = []
        for term, past in zip(self.terms, self.past):
            value = getattr(self.functions, term["function"])(self.env, **term["params"])
            value = np.asarray(value, np.float32).reshape(-1)
            if term["clip"] is not None:
                value = np.clip(value, *term["clip"])
            value = value * np.array(term["scale"], np.float32)
            past.extend([value] * (term["history"] if not past else 1))
            del past[: -term["history"]]
            rows.extend(past)
        return np.concatenate(rows)


def episode(
    env: Env, policy: Policy, functions: Any, commands: dict[str, Array], view: bool
) -> dict[str, Any]:
    """An episode in MuJoCo with commands (steps + 1, k): observations, rewards, tracking errors."""
    task = env.task
    env.reset({name: rows[0][None] for name, rows in commands.items()})
    observe = Observer(env, task["observations"], functions)
    for term in task["rewards"] + task["terminations"]:  # so that their contacts are known
        getattr(functions, term["function"])(env, **term["params"])
    seen, rewards = [observe()], []
    errors: dict[str, list[float]] = {}
    viewer = importlib.import_module("mujoco.viewer") if view else None
    shown = viewer.launch_passive(env.model, env.data) if viewer else None
    for step in range(1, task["steps"] + 1):
        begin = time.monotonic()
        env.step(policy(seen[-1]))
        for ends, array in ((False, env.terminated), (True, env.truncated)):
            array[:] = any(
                bool(getattr(functions, term["function"])(env, **term["params"])[0])
                for term in task["terminations"]
                if term["time_out"] == ends
            )
        value = sum(
            term["weight"] * float(getattr(functions, term["function"])(env, **term["params"])[0])
            for term in task["rewards"]
        )
        rewards.append(value * env.step_dt)
        for name, function in task["metrics"].items():
            made = getattr(functions, function)(env, env.command(name))
            for metric, number in made.items():
                errors.setdefault(f"{name}/{metric}", []).append(float(number[0]))
        env._commands = {name: rows[step][None] for name, rows in commands.items()}
        seen.append(observe())
        if shown is not None:
            shown.sync()
            time.sleep(max(0.0, env.step_dt - (time.monotonic() - begin)))
        if env.terminated[0] or env.truncated[0]:
            break
    if shown is not None:
        shown.close()
    return {"observations": np.array(seen), "rewards": np.array(rewards), "errors": errors}


def run(folder: pathlib.Path, view: bool = False) -> dict[str, Any]:
    """All robots: returns and errors in both simulators, and how far observations differ."""
    task = json.loads((folder / "task.json").read_text())
    functions = importlib.import_module("terms")  # beside this file
    env, policy = Env(folder, task), Policy(folder / "policy.npz", task["action_count"])
    ours = np.load(folder / "mayfly.npz")
    known = [name for name in ours if name.startswith("commands/")]
    per_second = round(1.0 / env.step_dt)
    made: list[dict[str, Any]] = []
    for robot in range(1 if view else task["robots"]):
        commands = {name.partition("/")[2]: ours[name][robot] for name in known}
        here = episode(env, policy, functions, commands, view)
        steps = int(ours["steps"][robot])
        both = min(steps, len(here["rewards"]), per_second) + 1
        apart = np.abs(here["observations"][:both] - ours["observations"][robot, :both])
        row: dict[str, Any] = {
            "return": (float(here["rewards"].sum()), float(ours["rewards"][robot, :steps].sum())),
            "seconds": (len(here["rewards"]) * env.step_dt, steps * env.step_dt),
        }
        for name, values in here["errors"].items():
            stored = ours[f"errors/{name}"][robot, :steps]
            row[name] = (float(np.mean(values)), float(stored.mean()))
        made.append({**row, "apart": apart.max(axis=0)})
    rows = {
        name: {
            "mujoco": float(np.mean([one[name][0] for one in made])),
            "mayfly": float(np.mean([one[name][1] for one in made])),
        }
        for name in made[0]
        if name != "apart"
    }
    apart = np.max([one["apart"] for one in made], axis=0)
    first, terms = 0, {}
    for term in task["observations"]:
        width = term["width"]
        terms[term["name"]] = float(apart[first : first + width].max())
        first += width
    return {"task": task["name"], "robots": len(made), "means": rows, "first_second": terms}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--json", action="store_true", help="one object")
    parser.add_argument("--view", action="store_true", help="the first robot in MuJoCo's viewer")
    arguments = parser.parse_args()
    found = run(pathlib.Path(__file__).resolve().parent, arguments.view)
    if arguments.json:
        print(json.dumps(found))
        return
    print(f"{found['task']}, means of {found['robots']} robots     MuJoCo    Mayfly")
    for name, one in found["means"].items():
        print(f"  {name:36} {one['mujoco']:9.4f} {one['mayfly']:9.4f}")
    print("largest difference of observations in the first second")
    for name, value in found["first_second"].items():
        print(f"  {name:36} {value:9.4f}")


if __name__ == "__main__":
    main()
