"""The same scene, state and controls in UniSim's backend `mujoco`.

Tolerances are some three times the largest difference seen: what the solvers leave (MuJoCo stops at
a relative change of the cost of 1e-8) and, in float, rounding, both grown by the motion.
"""

from __future__ import annotations

import pathlib
import shutil
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from unisim.scene import SceneCfg

from conftest import Maker, write_scene

pytest.importorskip("mjbatch", reason="UniSim's backend mujoco needs mujoco and mjbatch-uni")

STEPS, DECIMATION = 50, 2
BODIES = ["FL_shin", "trunk"]


def pair(make: Maker, scene: SceneCfg, precision: str = "double", **more: Any) -> tuple[Any, Any]:
    """Mayfly, and MuJoCo in double precision, both as after materialize."""
    ours = make("mayfly", scene, mayfly_precision=precision, **more)
    theirs = make("mujoco", scene, np_dtype=np.float64, **more)
    ours.materialize()
    theirs.materialize()
    return ours, theirs


def start(backends: Sequence[Any], key: str, seed: int = 1) -> np.ndarray:
    """The same state, which differs between environments; returns the controls of the pose."""
    ours = backends[0]
    rng, count = np.random.default_rng(seed), ours.num_envs
    qpos = np.tile(np.asarray(ours.get_keyframe_qpos(key), np.float64), (count, 1))
    qpos[:, 7:] += rng.uniform(-0.05, 0.05, qpos[:, 7:].shape)
    qvel = rng.uniform(-0.3, 0.3, (count, len(ours.get_init_qvel())))
    for backend in backends:
        backend._host_set_state(np.arange(count), qpos, qvel)
    order = ours.get_joint_dof_pos_indices(ours.get_actuator_joint_names())
    return qpos[0, 7:][order]


def differences(ours: Any, theirs: Any, pose: np.ndarray) -> tuple[float, float]:
    """The largest of qpos and of qvel while the controls swing; both stay on the ground."""
    worst = np.zeros(2)
    for k in range(STEPS):
        phase = 0.3 * k + np.arange(len(pose)) + np.arange(ours.num_envs)[:, None]
        control = pose + 0.2 * np.sin(phase)
        for backend in (ours, theirs):
            backend._host_step(control.astype(np.float32), DECIMATION)
        a, b = ours._host_get_state(), theirs._host_get_state()
        worst = np.maximum(worst, [abs(a[f] - b[f]).max() for f in ("qpos", "qvel")])
    assert ours.group.faults == 0
    return float(worst[0]), float(worst[1])


@pytest.mark.parametrize("integrator", ["Euler", "implicitfast"])
@pytest.mark.parametrize("precision, allowed", [("double", (1e-5, 1e-3)), ("float", (1e-5, 1e-3))])
def test_states_are_those_of_mujoco(
    make: Maker, tmp_path: pathlib.Path, integrator: str, precision: str, allowed: Any
) -> None:
    scene = SceneCfg(model_file=write_scene(tmp_path, integrator))
    ours, theirs = pair(make, scene, precision)
    found = differences(ours, theirs, start((ours, theirs), "stand"))
    print(integrator, precision, found)
    assert found[0] < allowed[0] and found[1] < allowed[1]


# With primitives: of meshes that touch, both have other points. The files let MuJoCo stop early.
# In float the Go2 of that file (pyramidal cones with impratio 100) leaves MuJoCo at once.
@pytest.mark.parametrize(
    "robot, precision",
    [("unitree_go2", "double"), ("unitree_g1", "double"), ("unitree_g1", "float")],
)
def test_real_robots(
    make: Maker, shared: pathlib.Path, tmp_path: pathlib.Path, robot: str, precision: str
) -> None:
    folder = shutil.copytree(shared / "models" / robot, tmp_path / robot)
    path = folder / "converged.xml"
    path.write_text(
        '<mujoco><include file="scene_mjx.xml"/>'
        '<option iterations="100" ls_iterations="50"/></mujoco>'
    )
    ours, theirs = pair(make, SceneCfg(model_file=str(path)), precision, count=2, step=0.002)
    key = ours.model.keyframes.names[0]
    found = differences(ours, theirs, start((ours, theirs), key))
    print(robot, precision, found)
    assert found[0] < 1e-5 and found[1] < 1e-3


def test_identities_are_those_of_mujoco(make: Maker, scene: SceneCfg) -> None:
    ours, theirs = pair(make, scene)
    bodies, joints = ["trunk", "RR_shin", "FL_thigh"], ["RL_knee", "FL_hip"]
    assert ours.get_body_ids(bodies).tolist() == theirs.get_body_ids(bodies).tolist()
    for name in ("dof", "dof_pos", "dof_vel", "state_qpos", "state_qvel"):
        ask = f"get_joint_{name}_indices"
        assert getattr(ours, ask)(joints).tolist() == getattr(theirs, ask)(joints).tolist()
    assert ours.get_body_subtree_ids(2).tolist() == theirs.get_body_subtree_ids(2).tolist()
    assert ours.get_root_state_layout("trunk") == theirs.get_root_state_layout("trunk")
    for name in ("actuator_names", "actuator_joint_names", "public_state_widths"):
        assert getattr(ours, f"get_{name}")() == getattr(theirs, f"get_{name}")()
    for name in (
        *("body_mass", "body_ipos", "gravity", "default_qpos", "default_dof_pos", "init_qvel"),
        *("actuator_ctrl_range", "joint_range", "actuator_gains"),
    ):
        a, b = getattr(ours, f"get_{name}")(), getattr(theirs, f"get_{name}")()
        np.testing.assert_allclose(a, b, atol=1e-12, err_msg=name)
    np.testing.assert_allclose(
        ours.get_joint_range(names=joints), theirs.get_joint_range(names=joints), atol=1e-12
    )
    assert ours.num_dof_vel == theirs.num_dof_vel


def test_sensors_and_bodies_after_a_reset(make: Maker, scene: SceneCfg) -> None:
    ours, theirs = pair(make, scene, body_state_required=True, base_name="trunk")
    start((ours, theirs), "stand")
    for name in ("gyro", "velocity", "up", "place", "touch", "track_pos_b_RL_shin"):
        a, b = ours._host_read_sensor(name), theirs._host_read_sensor(name)
        np.testing.assert_allclose(a, b, atol=1e-9, err_msg=name)
    ids = ours.get_body_ids(BODIES)
    for what in ("pos", "quat", "lin_vel", "ang_vel"):
        ask = f"_host_get_body_{what}_w"
        np.testing.assert_allclose(
            getattr(ours, ask)(ids), getattr(theirs, ask)(ids), atol=1e-9, err_msg=what
        )


BOX = """<body name="box" pos="0.05 0 0.06" quat="0.9 0.3 0.1 0.2">
  <inertial pos="0.01 0 0.02" mass="1.5" diaginertia="0.01 0.02 0.025" quat="0.8 0.1 0.5 0.2"/>
</body>"""


def with_box(folder: pathlib.Path, integrator: str) -> SceneCfg:
    """The scene with a body without joints on the trunk."""
    path = pathlib.Path(write_scene(folder, integrator))
    site = '<site name="imu"'
    path.write_text(path.read_text().replace(site, BOX + site))
    return SceneCfg(model_file=str(path))


def drawn(rng: np.random.Generator, theirs: Any, term: str, rows: int) -> np.ndarray:
    """Values of a reset term for some environments."""
    if term == "base_mass_delta":
        return rng.uniform(-2, 2, rows)
    if term == "base_com_offset":
        return rng.uniform(-0.05, 0.05, (rows, 3))
    now = theirs.get_reset_term_default(term)[:rows]
    if term == "body_ipos":
        moved = (np.arange(11) > 0)[:, None]
        return np.asarray(now + moved * rng.uniform(-0.03, 0.03, now.shape))
    if term == "body_iquat":
        rotated = now + (np.arange(11) > 0)[:, None] * rng.uniform(-0.3, 0.3, now.shape)
        return np.asarray(rotated / np.linalg.norm(rotated, axis=-1, keepdims=True))
    return np.asarray(now * rng.uniform(0.6, 1.4, now.shape))


TERMS = ("body_mass", "body_ipos", "body_iquat", "body_inertia", "base_mass_delta")
TERMS += ("base_com_offset", "dof_armature", "dof_damping", "dof_frictionloss", "kp", "kd")


# UniSim's backend computes the constants of MuJoCo that depend on these numbers again, so its
# environments are those of edited files, as Mayfly's.
@pytest.mark.parametrize(
    "terms, integrator",
    [*(((term,), "Euler") for term in TERMS), (("kp", "kd"), "implicitfast")]
    + [(TERMS, "Euler"), (TERMS, "implicitfast")],
)
def test_numbers_of_environments(
    make: Maker, tmp_path: pathlib.Path, integrator: str, terms: tuple[str, ...]
) -> None:
    torch = pytest.importorskip("torch")
    from unisim.dr.types import TensorResetRandomizationPayload

    ours, theirs = pair(make, with_box(tmp_path, integrator), base_name="trunk")
    pose = start((ours, theirs), "stand")
    qpos, qvel = (theirs._host_get_state()[name] for name in ("qpos", "qvel"))
    rng = np.random.default_rng(2)
    assert set(TERMS) == ours.get_dr_capabilities().supported_reset_terms
    for rows in (np.arange(3), np.array([2, 0])):  # the second keeps what is not drawn again
        values = {term: torch.from_numpy(drawn(rng, theirs, term, len(rows))) for term in terms}
        for backend in (ours, theirs):
            payload = TensorResetRandomizationPayload(**values)
            backend._host_set_state(rows, qpos[rows], qvel[rows], payload)
    for term in TERMS:
        a, b = ours.get_reset_term_default(term), theirs.get_reset_term_default(term)
        np.testing.assert_allclose(a, np.broadcast_to(b, a.shape), atol=1e-15, err_msg=term)
    np.testing.assert_allclose(ours.get_body_ipos([2, 1]), theirs.get_body_ipos([2, 1]), atol=1e-15)
    found = differences(ours, theirs, pose)
    print(integrator, *terms, found)
    assert found[0] < 1e-5 and found[1] < 1e-3
    plain = make("mayfly", with_box(tmp_path, integrator), mayfly_precision="double")
    for backend in (ours, plain):  # this reset leaves the numbers
        backend._host_set_state(np.arange(3), qpos, qvel)
    assert differences(plain, ours, pose)[0] > 5e-5


def test_loads_on_the_root(make: Maker, scene: SceneCfg) -> None:
    ours, theirs = pair(make, scene, base_name="trunk")
    pose = start((ours, theirs), "stand").astype(np.float32)
    rng = np.random.default_rng(3)
    for k in range(20):
        force, torque = rng.uniform(-40, 40, (3, 1, 3)), rng.uniform(-4, 4, (3, 1, 3))
        for backend in (ours, theirs):
            if k < 5:
                backend.apply_body_force(np.array([1]), force, torque)
            backend._host_step(np.tile(pose, (3, 1)), DECIMATION)
    a, b = ours._host_get_state(), theirs._host_get_state()
    assert abs(a["qpos"] - b["qpos"]).max() < 1e-5
    assert abs(a["qvel"] - b["qvel"]).max() < 1e-3


def test_kicks_of_the_root(make: Maker, scene: SceneCfg) -> None:
    torch = pytest.importorskip("torch")
    from unisim.dr.types import IntervalRandomizationPlan, IntervalTermOp

    ours, theirs = pair(make, scene, base_name="trunk")
    start((ours, theirs), "stand")
    change = torch.tensor(np.random.default_rng(4).uniform(-1, 1, (3, 1, 3)))
    change[1] = 0.0
    ids = torch.tensor([1])
    ops = tuple(
        IntervalTermOp(term=f"body_{which}_velocity_delta", payload=change, body_ids=ids)
        for which in ("linear", "angular")
    )
    for backend in (ours, theirs):
        backend.apply_interval_randomization(IntervalRandomizationPlan(ops))
    a, b = ours._host_get_state(), theirs._host_get_state()
    np.testing.assert_allclose(a["qvel"], b["qvel"], atol=1e-12)
    np.testing.assert_allclose(
        ours._host_read_sensor("velocity"), theirs._host_read_sensor("velocity"), atol=1e-9
    )
