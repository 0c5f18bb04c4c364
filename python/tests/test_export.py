"""Tasks and policies in MuJoCo: the same observations, and what is not carried over."""

import importlib.util
import os
import pathlib
import shutil
from typing import Any

import numpy as np
import pytest

pytest.importorskip("gymnasium", reason="environments need gymnasium")

import mayfly  # noqa: E402
from conftest import ROOT  # noqa: E402
from mayfly import mdp  # noqa: E402
from mayfly.mdp import Observation, Reward, Termination  # noqa: E402

SHARED = pathlib.Path(os.environ.get("MAYFLY_SHARED", ROOT.parent / "shared"))
GO2 = SHARED / "models" / "unitree_go2" / "go2_mjx.xml"
WIDTH = {"base_ang_vel": 0.25, "joint_vel": 0.05}  # factors of these observations


def make_task(robot: str) -> mayfly.Task:
    if robot == "go2":
        if not GO2.exists():
            pytest.skip("needs the public robots")
        return mayfly.tasks.velocity(mayfly.Model.from_file(GO2), feet="*_calf")
    return mayfly.tasks.velocity(
        mayfly.Model.from_file("hexapod.urdf"), feet="tibia*", action_scale=0.3, std=0.15,
        lin_vel_x=(-0.1, 0.3), lin_vel_y=(-0.1, 0.1), ang_vel_z=(-0.5, 0.5), push=0.2,
    )  # fmt: skip


def network(inputs: int, actions: int) -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    sizes = (inputs, 32, actions)
    return [
        part
        for a, b in zip(sizes, sizes[1:])
        for part in (rng.normal(0, 0.1, (a, b)), rng.normal(0, 0.1, b))
    ]


# Largest differences in the first second: [rad/s] of the base, [1] of gravity's direction, [rad]
# and [rad/s] of joints. Measured without and with motion: 0.04 and 0.09, 0.012 and 0.023, 0.023 and
# 0.031, 0.19 and 0.28 (Go2); 0.001 and 0.19, 0.0001 and 0.002, 0.002 and 0.019, 0.26 and 1.1
# (hexapod, whose contacts have another law than MuJoCo's: single joints are fast when feet land).
LIMITS = {"base_ang_vel": 0.4, "projected_gravity": 0.05, "joint_pos": 0.06, "joint_vel": 2.2}


@pytest.mark.parametrize("robot", ["go2", "hexapod"])
@pytest.mark.parametrize("moves", [False, True])
def test_observations_in_mujoco(robot: str, moves: bool, tmp_path: pathlib.Path) -> None:
    pytest.importorskip("mujoco")
    task = make_task(robot)
    policy = network(45 if robot == "go2" else 63, 12 if robot == "go2" else 18) if moves else None
    made = mayfly.export(task, "mujoco", policy=policy, out=tmp_path, seconds=1.0)
    assert "action joint_pos: runs without latency" in made.notes
    found = made.check()
    for name, limit in LIMITS.items():
        apart = found["first_second"][name] / WIDTH.get(name, 1.0)
        assert 0 < apart < limit, (name, apart)
    assert found["first_second"]["velocity_commands"] == 0
    means = found["means"]
    assert means["seconds"]["mujoco"] == means["seconds"]["mayfly"] == pytest.approx(1.0)
    for name, close in (("return", 0.02), ("base_velocity/error_vel_xy", 0.02)):
        assert means[name]["mujoco"] == pytest.approx(means[name]["mayfly"], abs=close)


def test_a_wrong_gain_is_seen(tmp_path: pathlib.Path) -> None:
    """The check is sensitive: a robot in MuJoCo whose servos are fifteen times as soft sags."""
    pytest.importorskip("mujoco")
    made = mayfly.export(make_task("hexapod"), "mujoco", out=tmp_path, seconds=1.0)
    path = tmp_path / "robot.xml"
    path.write_text(path.read_text().replace('kp="15"', 'kp="1"'))
    assert made.check()["first_second"]["joint_pos"] > LIMITS["joint_pos"]


def own(env: Any) -> Any:
    return mdp_total(np.abs(env.joint_vel)) * FACTOR


def reads_other(env: Any) -> Any:
    return env.random(1)[:, 0]


def reads_field(env: Any) -> Any:
    return env["contact.load"][:, 0]


mdp_total = mdp.total
FACTOR = 0.5


def test_terms_that_are_not_carried_over(hexapod: mayfly.Model, tmp_path: pathlib.Path) -> None:
    offset = np.float32(0.0)

    def closure(env: Any) -> Any:
        return env.joint_pos[:, 0] + offset

    task = make_task("hexapod")
    task = task.replace(
        rewards={
            "own": Reward(own, -1.0),
            "closure": closure,
            "unnamed": lambda env: env.joint_pos[:, 0],
            "other": reads_other,
            "field": reads_field,
            "loads": Reward(lambda env, x: x, x=hexapod),
        },
        terminations={
            **task.terminations,
            "never": Termination(lambda env: env.joint_pos[:, 0] > 9),
        },
    )
    made = mayfly.export(task, "mujoco", out=tmp_path, seconds=0.2)
    notes = "\n".join(made.notes)
    for text in (
        "reward closure: is not carried over: closure uses variables of the function",
        "reward unnamed: is not carried over: need a function that def makes, got <lambda>",
        "reward other: is not carried over: reads_other uses env.random",
        "reward field: is not carried over: reads_field reads the field contact.load",
        "reward loads: is not carried over: parameter x is not a number",
        "termination never: is not carried over",
    ):
        assert text in notes
    assert "own" not in notes and repr(made).count("\n") == len(made.notes)
    text = (tmp_path / "terms.py").read_text()
    assert "def own(" in text and "def total(" in text and "FACTOR = 0.5" in text
    assert "reads_other" not in text
    with pytest.raises(mayfly.UnsupportedError, match="observation a: is not carried over"):
        mayfly.export(
            task.replace(observations={"policy": {"a": reads_other}}), out=tmp_path / "other"
        )
    assert not (tmp_path / "other").exists()


def test_onnx_is_the_policy(tmp_path: pathlib.Path) -> None:
    onnx = pytest.importorskip("onnx.reference")
    policy = [part.astype(np.float32) for part in network(63, 18)]
    mayfly.export(make_task("hexapod"), policy=policy, out=tmp_path, activation="elu", seconds=0.1)
    seen = np.random.default_rng(1).normal(0, 1, (5, 63)).astype(np.float32)
    hidden = seen @ policy[0] + policy[1]
    action = np.where(hidden > 0, hidden, np.expm1(hidden)) @ policy[2] + policy[3]
    session = onnx.ReferenceEvaluator(str(tmp_path / "policy.onnx"))
    np.testing.assert_allclose(session.run(None, {"observation": seen})[0], action, atol=1e-5)
    stored = np.load(tmp_path / "policy.npz")
    np.testing.assert_array_equal(stored["weight1"], policy[2])


def test_torch_policies(tmp_path: pathlib.Path) -> None:
    torch = pytest.importorskip("torch")
    layers = [torch.nn.Linear(63, 8), torch.nn.ELU(), torch.nn.Linear(8, 18)]
    mayfly.export(
        make_task("hexapod"), policy=torch.nn.Sequential(*layers), out=tmp_path, seconds=0.1
    )
    stored = np.load(tmp_path / "policy.npz")
    assert str(stored["activation"]) == "elu" and stored["weight0"].shape == (63, 8)
    layers[1] = torch.nn.Softplus()
    with pytest.raises(mayfly.UnsupportedError, match="got Softplus"):
        mayfly.export(make_task("hexapod"), policy=torch.nn.Sequential(*layers), out=tmp_path)


def test_a_learner(tmp_path: pathlib.Path) -> None:
    """With its activation and normalization: the stored layers compute its actions."""
    task = make_task("hexapod")
    learner = mayfly.learn.PPO(task.make(4, autoreset_mode="SameStep"), normalize=True, seed=1)
    learner.train(96)
    mayfly.export(task, policy=learner, out=tmp_path, seconds=0.1)
    stored = np.load(tmp_path / "policy.npz")
    assert str(stored["activation"]) == "elu" and stored["weight1"].shape == (64, 64)
    x = seen = np.random.default_rng(1).normal(size=(5, 63)).astype(np.float32)
    for i in range(3):
        x = x @ stored[f"weight{i}"] + stored[f"bias{i}"]
        x = x if i == 2 else np.where(x > 0, x, np.expm1(np.minimum(x, 0)))
    np.testing.assert_allclose(x, learner.act(seen), atol=1e-5)


def test_mistakes(tmp_path: pathlib.Path) -> None:
    task = make_task("hexapod")
    for arguments, text in (
        ({"simulator": "mujko"}, "simulator: need 'mujoco', got 'mujko', did you mean"),
        ({"activation": "gelu"}, "activation: need one of identity, tanh"),
        ({"policy": network(3, 18)}, "policy: need 63 inputs and 18 actions, got layers .3, 32., "),
        ({"policy": [np.zeros((63, 18))]}, "policy: need a mayfly.learn.PPO, a list of weights"),
    ):
        with pytest.raises(ValueError, match=text):
            mayfly.export(task, **{"out": tmp_path / "a", **arguments})  # type: ignore[arg-type]
    assert not (tmp_path / "a").exists()


def test_the_robots_files(tmp_path: pathlib.Path) -> None:
    """A robot from a public file is that file, with its meshes."""
    task = make_task("go2")
    mayfly.export(task, out=tmp_path, seconds=0.1)
    assert (tmp_path / "go2_mjx.xml").read_bytes() == GO2.read_bytes()
    assert len(list((tmp_path / "assets").glob("*.obj"))) > 5
    if importlib.util.find_spec("mujoco"):
        mujoco = importlib.import_module("mujoco")
        model = mujoco.MjModel.from_xml_path(str(tmp_path / "scene.xml"))
        assert model.geom("ground").type == mujoco.mjtGeom.mjGEOM_PLANE


def test_a_scene_with_a_ground_of_its_own(tmp_path: pathlib.Path) -> None:
    """It stands in a file of the name of ours, includes the robot, and gets no second ground."""
    if not GO2.exists():
        pytest.skip("needs the public robots")
    given, out = tmp_path / "given", tmp_path / "out"
    given.mkdir()
    (given / "scene.xml").write_bytes((GO2.parent / "scene_mjx.xml").read_bytes())
    (given / "go2_mjx.xml").write_bytes(GO2.read_bytes())
    shutil.copytree(GO2.parent / "assets", given / "assets")
    task = mayfly.tasks.velocity(mayfly.Model.from_file(given / "scene.xml"), feet="*_calf")
    made = mayfly.export(task, out=out, seconds=0.5)
    assert 'name="ground"' not in (out / "scene.xml").read_text()
    if importlib.util.find_spec("mujoco"):
        assert made.check()["first_second"]["joint_pos"] < LIMITS["joint_pos"]


def test_robots_that_fall_in_one_simulator(tmp_path: pathlib.Path) -> None:
    """Episodes of different lengths are compared as far as both go."""
    pytest.importorskip("mujoco")
    task = make_task("hexapod")
    ends = {"fell": Termination(mdp.root_height_below_minimum, minimum_height=0.05)}
    made = mayfly.export(task.replace(terminations=ends), out=tmp_path, seconds=0.5)
    path = tmp_path / "task.json"
    path.write_text(path.read_text().replace('"minimum_height": 0.05', '"minimum_height": 9.0'))
    seconds = made.check()["means"]["seconds"]
    assert seconds["mujoco"] == pytest.approx(0.02) and seconds["mayfly"] == pytest.approx(0.5)


def test_observations_with_a_history(tmp_path: pathlib.Path) -> None:
    pytest.importorskip("mujoco")
    task = make_task("hexapod").replace(
        observations={
            "policy": {
                "joints": Observation(mdp.joint_pos, history_length=3, clip=(-0.5, 0.5), scale=2.0),
                "phase": Observation(mdp.projected_gravity, scale=(1.0, 2.0, 3.0), noise=0.1),
            }
        }
    )
    found = mayfly.export(task, out=tmp_path, seconds=0.5).check()
    assert found["first_second"]["joints"] < 2 * LIMITS["joint_pos"]
    assert found["first_second"]["phase"] < 3 * LIMITS["projected_gravity"]
