"""The contract, by UniSim's own checks, and what is refused."""

from __future__ import annotations

import pathlib
import warnings
from typing import Any

import numpy as np
import pytest
import unisim
from unisim.backend.base import PreStepControlOutput, TensorIOSpec
from unisim.capabilities import SupportLevel
from unisim.conformance import assert_backend_conformance
from unisim.scene import SceneCfg, TerrainSceneCfg
from unisim.support import get_tensor_platform_profiles
from unisim.validation import SemanticRequirements, SemanticValidationError

from conftest import Maker, write_scene

STAND = np.tile([0.6, -1.2], 4).astype(np.float32)


@pytest.mark.parametrize("count", [1, 16, 21])
@pytest.mark.parametrize("integrator", ["Euler", "implicitfast", "RK4"])
def test_conformance(make: Maker, tmp_path: pathlib.Path, integrator: str, count: int) -> None:
    scene = SceneCfg(model_file=write_scene(tmp_path, integrator))
    assert_backend_conformance(make("mayfly", scene, count))


def test_capabilities(make: Maker, scene: SceneCfg) -> None:
    assert get_tensor_platform_profiles()["mayfly"].fixed_variants is SupportLevel.UNSUPPORTED
    report = make("mayfly", scene, base_name="trunk").get_capabilities()
    levels = {item.feature: item.support for item in report.declarations}
    assert levels["dr.reset.kp"] is SupportLevel.EXACT
    assert levels["dr.reset.body_mass"] is SupportLevel.EXACT
    assert levels["dr.reset.geom_friction"] is SupportLevel.UNSUPPORTED
    assert levels["dr.interval.push"] is SupportLevel.EXACT
    assert levels["terrain.heightfield"] is SupportLevel.UNSUPPORTED
    with pytest.raises(SemanticValidationError, match="terrain.heightfield' rejected: unsupported"):
        unisim.create_backend(
            "mayfly",
            scene,
            semantic_requirements=SemanticRequirements(features=("terrain.heightfield",)),
        )


def test_what_is_refused(make: Maker, scene: SceneCfg) -> None:
    with pytest.raises(NotImplementedError, match="scene.terrain: generated terrain"):
        make("mayfly", SceneCfg(model_file=scene.model_file, terrain=TerrainSceneCfg()))
    with pytest.raises(TypeError, match="unknown_setting"):
        make("mayfly", scene, unknown_setting=1)
    with pytest.raises(ValueError, match="no keyframe 'sit'; there are: stand"):
        make("mayfly", scene).get_keyframe_qpos("sit")
    backend = make("mayfly", scene, base_name="trunk")
    with pytest.raises(NotImplementedError, match="only of the free root .'trunk'., got body ids"):
        backend.apply_body_force(np.array([2]), np.zeros((3, 1, 3)))
    with pytest.raises(NotImplementedError, match="gravity is not supported: it is a constant"):
        backend.get_reset_term_default("gravity")
    with pytest.raises(NotImplementedError, match="geom_friction is not supported: environments"):
        backend.get_reset_term_default("geom_friction")
    with pytest.raises(NotImplementedError, match="base_mass_delta is not supported: no base_name"):
        make("mayfly", scene).get_reset_term_default("base_mass_delta")
    with pytest.raises(ValueError, match="need finite values of shape"):
        backend._host_step(np.full((3, 8), np.nan), 1)
    with pytest.raises(NotImplementedError, match="geom ids"):
        backend.get_geom_id("hull")
    with pytest.raises(KeyError, match="not tracked: pass body_state_required"):
        backend._host_get_body_pos_w(np.array([1]))


def test_rows_that_are_not_reset_go_on(make: Maker, scene: SceneCfg) -> None:
    ours, other = (make("mayfly", scene, 20) for _ in range(2))
    control = np.tile(STAND, (20, 1))
    qpos = np.tile(ours.get_keyframe_qpos("stand"), (20, 1))
    for backend in (ours, other):
        backend._host_set_state(np.arange(20), qpos, np.zeros((20, 14)))
        backend._host_step(control, 5)
    ours._host_set_state(np.array([18, 3]), qpos[:2] + 0.0, np.zeros((2, 14)))
    np.testing.assert_array_equal(ours._host_get_state("qpos")["qpos"][[3, 18]], qpos[:2])
    assert ours.get_physics_state()[[3, 4], 0] == pytest.approx([0.0, 0.02])
    for backend in (ours, other):
        backend._host_step(control, 5)
    rest = np.setdiff1d(np.arange(20), [3, 18])
    a, b = ours.get_physics_state(), other.get_physics_state()
    np.testing.assert_array_equal(a[rest], b[rest])
    assert not np.array_equal(a[3], b[3])


def test_fragments_and_gains_of_the_program(make: Maker, scene: SceneCfg) -> None:
    folder = pathlib.Path(scene.model_file).parent
    (folder / "more.xml").write_text(
        '<mujoco><sensor><gyro name="second" site="imu"/></sensor></mujoco>'
    )
    scene.fragment_files = ["more.xml"]
    gains = {"kp": 80.0, "kd": 2.0}
    backend = make("mayfly", scene, position_actuator_gains=gains, body_state_required=True)
    assert "second" in backend.get_sensor_names()
    assert sorted(path.name for path in folder.glob("*.xml")) == ["Euler.xml", "more.xml"]
    assert backend.get_actuator_gains()[0].tolist() == [80.0] * 8
    assert backend.tracked_body_names[0] == "trunk" and len(backend.tracked_body_names) == 9


def test_callbacks_before_each_substep(make: Maker, scene: SceneCfg) -> None:
    backend = make("mayfly", scene)
    seen: list[Any] = []

    def convert(caller: Any, control: np.ndarray) -> np.ndarray:
        seen.append(caller._host_read_sensor("place")[0])
        return control + 0.01

    backend.set_pre_step_control(convert)
    backend._host_step(np.tile(STAND, (3, 1)), 4)
    assert len(seen) == 4 and len(np.unique(np.array(seen), axis=0)) == 4
    assert backend._host_get_state("ctrl")["ctrl"][0] == pytest.approx(STAND + 0.01)
    force = np.zeros((3, 1, 3))
    backend.set_pre_step_control(lambda b, c: PreStepControlOutput(c, np.array([1]), force))
    with pytest.raises(NotImplementedError, match="pre-step control wrenches"):
        backend._host_step(np.tile(STAND, (3, 1)), 1)


def test_faults_are_reported(make: Maker, scene: SceneCfg) -> None:
    backend = make("mayfly", scene)
    velocity = np.zeros((3, 14))
    velocity[1, 6] = 1e30
    backend._host_set_state(np.arange(3), np.tile(backend.get_default_qpos(), (3, 1)), velocity)
    with pytest.warns(UserWarning, match="1 environments are frozen .* environment 1: "):
        backend._host_step(np.tile(STAND, (3, 1)), 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        backend._host_step(np.tile(STAND, (3, 1)), 2)  # said once
        backend._host_reset(np.array([1]))
        backend._host_step(np.tile(STAND, (3, 1)), 2)
    assert backend.group.faults == 0


def test_packed_transfers(make: Maker, scene: SceneCfg) -> None:
    torch = pytest.importorskip("torch")
    backend = make("mayfly", scene, 19, body_state_required=True)
    spec = TensorIOSpec(
        state_fields=("qvel", "qpos"),
        sensor_names=("up", "gyro"),
        body_names=("FR_shin", "trunk"),
        body_fields=("quat_w", "pos_w"),
    )
    plan = backend.bind_host_bridge_io(spec)
    with pytest.raises(RuntimeError, match="write_control"):
        plan.step()
    plan.write_control(torch.tensor(np.tile(STAND, (19, 1))))
    plan.step(3)
    views = plan.read_state_sensors()
    state = backend.get_state_views(("qpos", "qvel"))
    rows = torch.tensor([17, 2])

    def check() -> None:
        state = backend.get_state_views(("qpos", "qvel"))
        for name in ("qpos", "qvel"):
            assert torch.equal(views[name], state[name])
        for name in spec.sensor_names:
            assert torch.equal(views[name], backend.get_sensor_view(name))
        poses = plan.get_body_pose_views()
        ids = backend.get_body_ids(spec.body_names)
        assert np.array_equal(poses.pos_w, backend._host_get_body_pos_w(ids))
        assert np.array_equal(poses.quat_w, backend._host_get_body_quat_w(ids))

    check()
    with pytest.raises(RuntimeError, match="apply_reset"):
        plan.read_selected_state_sensors()
    lifted = state["qpos"][rows].clone()
    lifted[:, 2] += 0.5
    plan.apply_reset(rows, lifted, state["qvel"][rows])
    plan.read_selected_state_sensors()
    check()
    with pytest.raises(ValueError, match="distinct values"):
        plan.apply_reset(torch.tensor([1, 1]), lifted, state["qvel"][rows])
    plan.close()
    with pytest.raises(RuntimeError, match="closed"):
        plan.read_state_sensors()
