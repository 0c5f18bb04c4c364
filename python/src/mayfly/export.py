"""Export of a task and its policy, to check them in another simulator.

    mayfly.export(task, "mujoco", policy=learner, out="walker").check()

The folder has the robot as MJCF, the policy as NumPy and ONNX, the terms of the task, and run.py,
which runs all that in MuJoCo beside Mayfly's results and needs only mujoco and numpy.
"""

from __future__ import annotations

import copy
import json
import os
import pathlib
import shutil
import subprocess
import sys
import xml.etree.ElementTree as xml
from collections.abc import Sequence
from typing import Any

import numpy as np

from mayfly import _run_in_mujoco, errors, mdp
from mayfly._mjcf import servo_gains, write_mjcf
from mayfly._sealed import Sealed
from mayfly._terms import Carrier, NotCarriedError
from mayfly.arrays import Array, as_array, whole
from mayfly.learn import PPO
from mayfly.model import Model
from mayfly.task import Observation, Task, Term, near
from mayfly.terrain import Terrain

__all__ = ["Export", "export"]

_ACTIVATIONS = tuple(_run_in_mujoco.ACTIVATIONS)
_SCENE = "scene.xml"  # which run.py loads
_PARTS = ("weight", "bias")
_LAYERS = {"Tanh": "tanh", "ReLU": "relu", "ELU": "elu", "Identity": "identity"}


class Export(Sealed):
    """A folder that export() wrote.

    Attributes:
        folder: path.
        notes: what is not carried over, or differs, a line each.

    """

    def __init__(self, folder: pathlib.Path, notes: Sequence[str]) -> None:
        self.folder = folder
        self.notes = tuple(notes)
        self._seal()

    def check(self) -> dict[str, Any]:
        """Runs the policy in MuJoCo, in another process: what `run.py --json` prints.

        "means": "return", "seconds" [s] of an episode and the tracking errors of commands, each
        with "mujoco" and "mayfly", the means of all robots; "first_second": the largest difference
        of each observation in the first second.

        UnsupportedError: MuJoCo is missing.
        """
        command = [sys.executable, str(self.folder / "run.py"), "--json"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            last = (done.stderr.strip().splitlines() or ["no message"])[-1]
            if "No module named 'mujoco'" in last:
                raise errors.UnsupportedError("check: needs MuJoCo: pip install mujoco")
            raise errors.MayflyError(f"{self.folder / 'run.py'}: {last}")
        found: dict[str, Any] = json.loads(done.stdout)
        return found

    def __repr__(self) -> str:
        return "\n".join([f"Export({str(self.folder)!r})", *(f"  {note}" for note in self.notes)])


# ---- the policy ----------------------------------------------------------------------------------


def _layers(policy: Any, activation: str) -> tuple[list[tuple[Array, Array]], str]:
    """Weights (inputs, outputs) and biases, and the activation between layers."""
    if policy is None:
        return [], activation
    if isinstance(policy, PPO):
        policy, activation = policy.policy, policy.activation
    if hasattr(policy, "children"):
        return _torch_layers(policy)
    arrays = [np.asarray(as_array(one), np.float32) for one in policy]
    if not arrays or len(arrays) % 2 or any(a.ndim != 2 - i % 2 for i, a in enumerate(arrays)):
        raise errors.ArgumentError(
            "policy: need a mayfly.learn.PPO, a list of weights (inputs, outputs) and bias "
            "(outputs,) of each layer, a torch.nn.Sequential, or None"
        )
    return list(zip(arrays[::2], arrays[1::2])), activation


def _torch_layers(policy: Any) -> tuple[list[tuple[Array, Array]], str]:
    """Of a torch.nn.Sequential of linear layers with one activation between them."""
    made: list[tuple[Array, Array]] = []
    used: list[str] = []
    for layer in policy.children():
        kind = type(layer).__name__
        if kind == "Linear":
            bias = np.zeros(layer.out_features, np.float32)
            if layer.bias is not None:
                bias = layer.bias.detach().cpu().numpy().astype(np.float32)
            made.append((layer.weight.detach().cpu().numpy().T.astype(np.float32), bias))
        elif kind in _LAYERS and len(used) == len(made) - 1:
            used.append(_LAYERS[kind])
        else:
            raise errors.UnsupportedError(
                f"policy: need linear layers with one of {', '.join(_LAYERS)} between them, "
                f"got {layer}"
            )
    if len(used) != len(made) - 1 or len(set(used)) > 1:
        raise errors.UnsupportedError(f"policy: need one activation for all layers, got {used}")
    return made, used[0] if used else "identity"


def _act(layers: list[tuple[Array, Array]], activation: str, seen: Array, actions: int) -> Array:
    if not layers:
        return np.zeros((len(seen), actions), np.float32)
    bend = _run_in_mujoco.ACTIVATIONS[activation]
    for i, (weight, bias) in enumerate(layers):
        seen = (bend(seen) if i else seen) @ weight + bias
    return np.asarray(seen, np.float32)


def _write_onnx(path: pathlib.Path, layers: list[tuple[Array, Array]], activation: str) -> None:
    from onnx import TensorProto, checker, helper, numpy_helper, save

    nodes, values, last = [], [], "observation"
    names = {"tanh": "Tanh", "relu": "Relu", "elu": "Elu", "identity": "Identity"}
    for i, (weight, bias) in enumerate(layers):
        values += [numpy_helper.from_array(weight, f"weight{i}")]
        values += [numpy_helper.from_array(bias, f"bias{i}")]
        if i:
            nodes.append(helper.make_node(names[activation], [last], [f"bent{i}"]))
            last = f"bent{i}"
        out = "action" if i == len(layers) - 1 else f"layer{i}"
        nodes.append(helper.make_node("Gemm", [last, f"weight{i}", f"bias{i}"], [out]))
        last = out
    ends = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, ["robots", width])
        for name, width in (("observation", len(layers[0][0])), ("action", len(layers[-1][1])))
    ]
    graph = helper.make_graph(nodes, "policy", ends[:1], ends[1:], values)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    checker.check_model(model)
    save(model, str(path))


# ---- the robot -----------------------------------------------------------------------------------


def _files(path: pathlib.Path) -> list[pathlib.Path]:
    """An MJCF file and the files that it names, with paths in its folder."""
    found, settings = [path], {}
    roots = [xml.parse(path).getroot()]
    for root in roots:  # which grows
        for element in root.iter("compiler"):
            settings.update(element.attrib)
        for element in root.iter("include"):
            found.append(path.parent / element.attrib["file"])
            roots.append(xml.parse(found[-1]).getroot())
    assets = settings.get("assetdir", "")
    folders = {
        "texture": settings.get("texturedir", assets),
        "mesh": settings.get("meshdir", assets),
        "hfield": settings.get("meshdir", assets),
        "skin": settings.get("meshdir", assets),
    }
    for root in roots:
        for element in root.iter():
            if element.tag in folders:
                for name in (v for k, v in element.attrib.items() if k.startswith("file")):
                    found.append(path.parent / folders[element.tag] / name)
    return found


def _write_robot(model: Model, folder: pathlib.Path, step: float, notes: list[str]) -> str:
    """The robot's MJCF and files; its name in the folder."""
    if len(model.bodies) == 0:
        write_mjcf(model, folder / "robot.xml", step)
        return "robot.xml"
    file = pathlib.Path(model.file)
    if model.file and file.exists():
        base = file.parent.resolve()
        files = [one.resolve() for one in _files(file)]
        if all(one.exists() and one.is_relative_to(base) for one in files):
            for one in files:
                to = folder / one.relative_to(base)
                to.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(one, to)
            if file.name != _SCENE:
                return file.name
            shutil.move(folder / _SCENE, folder / "robot.xml")
            return "robot.xml"
        notes.append(f"{file.name}: names files outside of its folder: the robot is Mayfly's copy")
    model.export_mjcf(folder / "robot.xml")
    return "robot.xml"


def _write_scene(model: Model, folder: pathlib.Path, robot: str) -> None:
    """The robot's file with level ground, if it has no ground of its own."""
    ground = Terrain.from_model(model) is None
    bits = 'contype="1" conaffinity="1"'  # whatever the defaults of the robot's file are
    floor = f'<geom name="ground" type="plane" size="0 0 1" {bits}/>' if ground else ""
    (folder / _SCENE).write_text(
        f'<mujoco model="{model.name}">\n  <include file="{robot}"/>\n'
        '  <statistic center="0 0 0.2" extent="1"/>\n'
        f'  <worldbody><light pos="0 0 2" dir="0 0 -1" directional="true"/>{floor}</worldbody>\n'
        "</mujoco>\n"
    )


# ---- the task ------------------------------------------------------------------------------------


def _term(carrier: Carrier, what: str, term: Term) -> dict[str, Any]:
    try:
        name = carrier.add(term.func, term.params)
    except NotCarriedError as failure:
        raise NotCarriedError(f"{what}: is not carried over: {failure}") from None
    return {"function": name, "params": term.params}


def _plain(task: Task, carrier: Carrier, notes: list[str]) -> tuple[Task, dict[str, Any]]:
    """The task as it runs in both simulators, without noise, delays and events, and its terms for
    task.json.
    """
    actions, observations = {}, {}
    terms: dict[str, Any] = {"observations": [], "rewards": [], "terminations": [], "metrics": {}}
    for name, action in task.actions.items():
        if action.field not in ("joint.target", "actuator.control"):
            raise errors.UnsupportedError(f"action {name}: {action.field} is not carried over")
        actions[name] = copy.copy(action)
        object.__setattr__(actions[name], "latency", (0.0, 0.0))
    for name, seen in task.observations["policy"].items():
        row = _term(carrier, f"observation {name}", seen)
        terms["observations"].append(
            {
                "name": name,
                **row,
                "clip": seen.clip,
                "scale": seen.scale,
                "history": max(seen.history_length, 1),
            }
        )
        observations[name] = Observation(
            seen.func,
            clip=seen.clip,
            scale=seen.scale,
            history_length=seen.history_length,
            **seen.params,
        )
    kept: dict[str, dict[str, Any]] = {"rewards": {}, "terminations": {}}
    for kind in kept:
        for name, one in getattr(task, kind).items():
            try:
                row = _term(carrier, f"{kind[:-1]} {name}", one)
            except NotCarriedError as failure:
                notes.append(str(failure))
                continue
            more = {"weight": one.weight} if kind == "rewards" else {"time_out": one.time_out}
            terms[kind].append({**row, **more})
            kept[kind][name] = one
    for name, command in task.commands.items():
        if type(command).metrics is mdp.UniformVelocityCommand.metrics:
            terms["metrics"][name] = carrier.add(mdp.velocity_errors, {})
        else:
            notes.append(f"command {name}: its metrics are not carried over")
    startup = [name for name, event in task.events.items() if event.mode == "startup"]
    notes += [f"event {name}: the robot is the nominal one" for name in startup]
    if task.terrain is not None:
        notes.append("terrain: both run on level ground")
    plain = task.replace(
        actions=actions, observations={"policy": observations}, events={}, curriculum={},
        terrain=None, **kept,
    )  # fmt: skip
    return plain, terms


def _describe(envs: Any, task: Task, terms: dict[str, Any], steps: int) -> dict[str, Any]:
    """What run.py needs to know."""
    model, group = task.model, envs.group
    joints = [joint for joint in model.joints if joint.type in ("hinge", "slide")]
    driven = np.zeros(len(model.joints), bool)
    actions = []
    for action in envs._terms:
        if action.term.field == "joint.target":
            driven[action.columns] = True
        actions.append(
            {
                "field": action.term.field,
                "first": action.actions.start,
                "columns": [int(column) for column in action.columns],
                "scale": action.scale.tolist(),
                "offset": action.offset.tolist(),
                "clip": action.term.clip,
            }
        )
    for row, column in zip(terms["observations"], envs._columns["policy"]):
        row["width"] = column.columns.stop - column.columns.start
        if not np.ndim(row["scale"]) == 0:
            row["scale"] = list(row["scale"])
    lower, upper = envs.joint_limits
    control = group["actuator.control"].read()[0].tolist() if len(model.actuators) else []
    return {
        "name": task.name,
        "step": task.step,
        "decimation": task.decimation,
        "episode_steps": task.episode_steps,
        "steps": steps,
        "robots": envs.num_envs,
        "joints": [joint.name for joint in joints],
        "links": list(model.links.names),
        "position_address": [joint.position_address for joint in joints],
        "velocity_address": [joint.velocity_address for joint in joints],
        "joint_lower": lower.tolist(),
        "joint_upper": upper.tolist(),
        "default_joint_pos": envs.default_joint_pos.tolist(),
        "position": np.asarray(group.state()[0][0]).tolist(),
        "joint_target": group["joint.target"].read()[0].tolist(),
        "control": control or [0.0] * len(joints),
        "driven": driven.tolist(),
        "reach": _reach(task, len(joints)),
        "action_count": envs.action.shape[1],
        "actions": actions,
        **terms,
    }


def _reach(task: Task, count: int) -> list[float | None]:
    """[rad] or [m] by which a servo of limited speed lets a target lead; None: any."""
    if len(task.model.actuators) or task.settings.get("servo_inputs"):
        return [None] * count
    gain, damping = servo_gains(task.model)
    speeds = [joint.speed for joint in task.model.joints]
    return [
        float(speed * d / k) if k > 0 and np.isfinite(speed) else None
        for k, d, speed in zip(gain, damping, speeds)
    ]


def _play(
    envs: Any,
    metrics: dict[str, Array],
    layers: list[tuple[Array, Array]],
    activation: str,
    steps: int,
    seed: int,
) -> dict[str, Any]:
    """An episode of each robot: commands, observations, rewards, tracking errors."""
    n, task = envs.num_envs, envs.task
    seen, _ = envs.reset(seed=seed)
    made: dict[str, list[Array]] = {"observations": [seen.copy()], "rewards": []}
    for name in task.commands:
        made[f"commands/{name}"] = [np.array(envs.command(name))]
    length, alive = np.zeros(n, int), np.ones(n, bool)
    for _ in range(steps):
        seen, rewards, terminated, truncated, _ = envs.step(
            _act(layers, activation, seen, envs.action.shape[1])
        )
        made["observations"].append(seen.copy())
        made["rewards"].append(rewards)
        for name, value in metrics.items():
            made.setdefault(f"errors/{name}", []).append(value)
        for name in task.commands:
            made[f"commands/{name}"].append(np.array(envs.command(name)))
        length[alive] += 1
        alive &= ~(terminated | truncated)  # those that ended go on with new commands
    return {**{k: np.stack(rows, 1) for k, rows in made.items()}, "steps": length}


def export(
    task: Task,
    simulator: str = "mujoco",
    *,
    policy: Any = None,
    out: str | os.PathLike[str],
    activation: str = "tanh",
    seconds: float = 5.0,
    robots: int = 4,
    seed: int = 1,
) -> Export:
    """Writes a task and its policy to a folder, to run them in another simulator.

    Args:
        task: what the policy was trained for. Both simulators run the nominal robot on level
            ground, without noise, latency, delays and events.
        simulator: "mujoco".
        policy: a mayfly.learn.PPO; weights (inputs, outputs) and bias (outputs,) of each layer in
            one list; a torch.nn.Sequential of linear layers; or None: actions of 0.
        out: the folder; files of an earlier export are replaced.
        activation: between layers of a list: "tanh", "relu", "elu" or "identity".
        seconds: [s] longest episode.
        robots: episodes; their commands are drawn with the seeds seed, seed + 1, ...
        seed: of the first robot.

    Terms are carried over as source text: those that ship, and functions of your own of modules, of
    `env`, `numpy` and `math`. Others are named in `notes`, rewards and terminations among them are
    left out in both simulators.

    UnsupportedError: an observation or action cannot be carried over.
    """
    if simulator != "mujoco":
        raise errors.ArgumentError(
            f"simulator: need 'mujoco', got {simulator!r}{near(simulator, ['mujoco'])}"
        )
    if activation not in _ACTIVATIONS:
        raise errors.ArgumentError(
            f"activation: need one of {', '.join(_ACTIVATIONS)}, got {activation!r}"
        )
    if not isinstance(task, Task):
        raise TypeError(f"task: need a mayfly.Task, got {task!r}")
    if task.model.fixed_base or any(j.type not in ("hinge", "slide") for j in task.model.joints):
        raise errors.UnsupportedError("export: need a robot with a free base, hinges and slides")
    if task.motion != "articulated":
        raise errors.UnsupportedError(f"export: need the motion 'articulated', got {task.motion!r}")
    steps = max(1, round(seconds / task.step_dt))
    notes: list[str] = []
    carrier = Carrier(_run_in_mujoco.Env, _run_in_mujoco.READS)
    plain, terms = _plain(task, carrier, notes)
    layers, activation = _layers(policy, activation)
    metrics: dict[str, Array] = {}
    from mayfly.envs.task import TaskVectorEnv

    class Measured(TaskVectorEnv):
        """Keeps the tracking errors of the last step, which were computed before resets."""

        def _sum(self, starts: Any) -> Any:
            for command in self.task.commands:
                found = self.metrics(command)
                metrics.update({f"{command}/{k}": v for k, v in found.items()})
            return super()._sum(starts)

    with Measured(plain, whole(robots, "robots", 1, 1025), autoreset_mode="SameStep") as envs:
        sizes = [envs.single_observation_space.shape[0], *(len(bias) for _, bias in layers)]
        if layers and (
            [len(weight) for weight, _ in layers] != sizes[:-1] or sizes[-1] != envs.action.shape[1]
        ):
            raise errors.ArgumentError(
                f"policy: need {sizes[0]} inputs and {envs.action.shape[1]} actions, got layers "
                f"{', '.join(str(weight.shape) for weight, _ in layers)}"
            )
        envs.reset(seed=seed)
        numbers = _describe(envs, plain, terms, steps)
        stored = _play(envs, metrics, layers, activation, steps, seed)
    folder = pathlib.Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    robot = _write_robot(task.model, folder, task.step, notes)
    _write_scene(task.model, folder, robot)
    for name, one in task.actions.items():
        if one.latency[1] > 0:
            notes.append(f"action {name}: runs without latency")
    arrays: dict[str, Any] = {
        f"{k}{i}": p[j] for i, p in enumerate(layers) for j, k in enumerate(_PARTS)
    }
    np.savez(folder / "policy.npz", activation=activation, **arrays)
    try:
        if layers:
            _write_onnx(folder / "policy.onnx", layers, activation)
    except ImportError:
        notes.append("policy.onnx: is left out, the package onnx is not installed")
    np.savez(folder / "mayfly.npz", **stored)
    (folder / "terms.py").write_text(carrier.text())
    (folder / "task.json").write_text(json.dumps(numbers, indent=1) + "\n")
    shutil.copyfile(_run_in_mujoco.__file__, folder / "run.py")
    return Export(folder, notes)
