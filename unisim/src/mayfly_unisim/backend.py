"""The backend `mayfly` of UniSim's SimBackend contract.

What the contract allows and Mayfly cannot do keeps the answer of the base class,
NotImplementedError.
"""

from __future__ import annotations

import logging
import os
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from unisim.backend.base import (
    PhysicsStateLayout,
    PlayCapabilities,
    PlayRenderPlan,
    SelectedResetPublication,
    TensorDataPlane,
    TensorExecution,
    TensorLifecycleCapabilities,
    normalize_play_render_mode,
)
from unisim.dr._host import interval_payload_to_host, reset_payload_to_host_dict
from unisim.dr.types import (
    INTERVAL_TERM_BODY_ANGULAR_VELOCITY_DELTA,
    INTERVAL_TERM_BODY_FORCE,
    INTERVAL_TERM_BODY_LINEAR_VELOCITY_DELTA,
    INTERVAL_TERM_BODY_TORQUE,
    INTERVAL_TERM_PUSH,
    DomainRandomizationCapabilities,
    TensorIntervalPayload,
    TensorResetRandomizationPayload,
    require_op_body_ids,
)
from unisim.scene import SceneCfg, require_scene_composition_support

import mayfly
from mayfly.parts import Body
from mayfly_unisim import tensors
from mayfly_unisim.names import Names
from mayfly_unisim.numbers import Numbers
from mayfly_unisim.scene import TRACKED, Columns, load, padded, state_columns

__all__ = ["MayflyBackend"]

Array = npt.NDArray[Any]
_log = logging.getLogger(__name__)


class MayflyBackend(Names):
    """Robots of one MJCF scene, each on its own copy of the ground.

    Args:
        scene: with an MJCF file and fragments; terrain, variants and entities are refused.
        num_envs: robots.
        sim_dt: [s] physics step, rounded to nanoseconds.
        base_name: body of the root, whose velocity and load intervals may change.
        push_body_name: body that pushes act on; it must be the root.
        precision: of the state, "float" or "double".
        add_body_sensors: adds sensors of bodies, named as those of the backend `mujoco`.
        tracked_body_names: the bodies that have them; None: all.
        position_actuator_gains: `kp`, `kd` and `actuator_ids` instead of the file's gains.
        iterations: of the constraint solver; None: the file's.
        cpu_ids: their number is that of threads; threads are not pinned. None: all processors.

    """

    backend_type = "mayfly"

    def __init__(
        self,
        scene: SceneCfg,
        num_envs: int,
        sim_dt: float,
        *,
        base_name: str | None = None,
        push_body_name: str | None = None,
        precision: str = "float",
        add_body_sensors: bool = False,
        tracked_body_names: Sequence[str] | None = None,
        position_actuator_gains: Mapping[str, Any] | None = None,
        iterations: int | None = None,
        cpu_ids: Sequence[int] | None = None,
    ) -> None:
        require_scene_composition_support(scene, "mayfly")
        bodies = (tracked_body_names or ()) if add_body_sensors else None
        self._model, self._tracked = load(scene, iterations, bodies, base_name)
        self._scene = scene
        self._num_envs, self._sim_dt = num_envs, float(sim_dt)
        threads = None if cpu_ids is None else len(cpu_ids)
        self._world = mayfly.World.for_model(self._model, threads=threads, step=sim_dt)
        sensing: bool | dict[str, object] = {"noise": False} if len(self._model.sensors) else False
        self._group = self._world.add_group(
            self._model, num_envs, motion="articulated", sensors=sensing, precision=precision
        )
        for note in self._group.notes:
            _log.warning("%s: %s", scene.model_file, note)
        self._dtype = np.dtype(np.float64 if precision == "double" else np.float32)
        self._qpos, self._qvel = state_columns(self._group)
        self._sensors = {s.name: s for s in self._model.sensors if s.name}
        base = None if base_name is None else self._body(base_name).index + 1
        self._numbers = Numbers(self._group, base)
        self._time = np.zeros(num_envs)
        self._wrench = np.zeros((num_envs, 6))  # on the root at its center of mass, world axes
        self._pushed = self._materialized = False
        self._faults = 0
        self._plans: list[tensors.TransferPlan] = []
        self._root = self._find_root(base_name)
        self._push_body = self._find_push_body(push_body_name or base_name)
        self._set_all(np.asarray(self._model.start_position))
        self._gains = self._numbers.file("kp"), self._numbers.file("kd")
        if position_actuator_gains is not None:
            self._apply_gains(**position_actuator_gains)

    # ---- the model -------------------------------------------------------------------------------

    @property
    def num_envs(self) -> int:
        return self._num_envs

    @property
    def model(self) -> mayfly.Model:
        return self._model

    @property
    def group(self) -> mayfly.Group:
        """The robots: fields, warnings and faults of Mayfly."""
        return self._group

    def get_actuator_gains(self) -> tuple[Array, Array]:
        return self._gains[0].copy(), self._gains[1].copy()

    def get_body_ipos(self, env_ids: Sequence[int] | Array | None = None) -> Array:
        if env_ids is None:
            return self._numbers.file("body_ipos")
        return self._numbers.table("body_ipos")[self._validate_env_ids(env_ids)]

    def get_body_mass(self) -> Array:
        return self._numbers.file("body_mass")

    def get_dof_armature(self) -> Array:
        return self._numbers.file("dof_armature")

    def get_dof_damping(self) -> Array:
        return self._numbers.file("dof_damping")

    def get_dof_frictionloss(self) -> Array:
        return self._numbers.file("dof_frictionloss")

    # ---- capabilities ----------------------------------------------------------------------------

    def get_tensor_execution(self) -> TensorExecution:
        return TensorExecution.HOST_BRIDGE

    def get_tensor_capabilities(self) -> TensorLifecycleCapabilities:
        terms = self._numbers.terms
        return TensorLifecycleCapabilities(
            execution=TensorExecution.HOST_BRIDGE,
            state_views=True,
            state_fields=frozenset({"qpos", "qvel", "ctrl"}),
            sensor_views=True,
            stepping=True,
            selected_reset=True,
            reset_randomization=bool(terms),
            device_reset_randomization=bool(terms),
            packed_reset=bool(terms),
            packed_reset_fields=terms,
            packed_host_bridge=True,
            data_plane=TensorDataPlane.HOST_BRIDGE,
            stream_event_ownership="caller's stream, synchronized at each transfer",
            torch_devices=("cpu", "cuda"),
            selected_reset_publication=SelectedResetPublication.AUTHORITATIVE_VIEWS,
            mask_selected_reset=True,
            mask_selected_reset_full_refresh=True,
        )

    def get_dr_capabilities(self) -> DomainRandomizationCapabilities:
        intervals: set[str] = set()
        if self._root is not None:
            intervals = {
                INTERVAL_TERM_BODY_FORCE,
                INTERVAL_TERM_BODY_TORQUE,
                INTERVAL_TERM_BODY_LINEAR_VELOCITY_DELTA,
                INTERVAL_TERM_BODY_ANGULAR_VELOCITY_DELTA,
            }
            if self._push_body:
                intervals.add(INTERVAL_TERM_PUSH)
        terms, steps = self._numbers.terms, frozenset(intervals)
        return DomainRandomizationCapabilities(
            supported_reset_terms=terms,
            supported_device_reset_terms=terms,
            supported_interval_terms=steps,
            supported_device_interval_terms=steps,
        )

    def get_reset_term_default(self, term: str) -> Array:
        self._numbers.require([term])
        table = self._numbers.table(term)
        return table if self._materialized else table[0]

    # ---- state -----------------------------------------------------------------------------------

    def _host_get_state(self, fields: tuple[str, ...] | str | None = None) -> Mapping[str, Array]:
        requested = ("qpos", "qvel") if fields is None else fields
        requested = (requested,) if isinstance(requested, str) else tuple(requested)
        made: dict[str, Array] = {}
        for name in requested:
            if name not in ("qpos", "qvel", "ctrl"):
                raise KeyError(f"mayfly: no state field {name!r}; there are: qpos, qvel, ctrl")
            if name == "ctrl":
                made[name] = self._group["actuator.control"].read()
            else:
                columns = self._qpos if name == "qpos" else self._qvel
                made[name] = columns.read(self._num_envs, self._dtype)
        return made

    def _host_reset(self, env_ids: Array | None = None) -> None:
        self._host_reset_default(env_ids)

    def _host_set_state(
        self,
        env_indices: Array,
        qpos: Array,
        qvel: Array,
        randomization: TensorResetRandomizationPayload | None = None,
    ) -> dict[str, Any]:
        begin = time.perf_counter()
        terms = {} if randomization is None else reset_payload_to_host_dict(randomization)
        rows = np.asarray(env_indices, np.intp)
        tables = self._numbers.check(rows, terms)
        if len(rows):
            self._numbers.set(rows, tables)
            self._put(rows, qpos, qvel)
        return {"timing": {"set_state_ms": 1e3 * (time.perf_counter() - begin)}}

    def _put(self, rows: npt.NDArray[np.intp], qpos: Array, qvel: Array) -> None:
        """State of robots whose controls, loads, warnings and faults are cleared."""
        group = self._group
        group.reset(rows)
        group.set_state(qpos, qvel, robots=rows)
        if self.num_actuators:
            group["actuator.control"][rows] = 0.0
        self._wrench[rows] = 0.0
        self._time[rows] = 0.0
        group.measure(rows)
        self._faults = group.faults

    def _set_all(self, qpos: Array) -> None:
        rows = np.arange(self._num_envs)
        table = np.broadcast_to(qpos, (self._num_envs, len(qpos)))
        self._put(rows, table, np.zeros((self._num_envs, self._model.velocity_count)))

    def _apply_gains(self, kp: Any, kd: Any, actuator_ids: Any = slice(None)) -> None:
        self._gains[0][actuator_ids], self._gains[1][actuator_ids] = kp, kd
        rows = np.arange(self._num_envs)
        tables = {
            term: np.tile(gains, (self._num_envs, 1))
            for term, gains in zip(("kp", "kd"), self._gains, strict=True)
            if not np.array_equal(gains, self._numbers.file(term))
        }
        self._numbers.set(rows, self._numbers.check(rows, tables))

    def get_state_views(
        self, fields: tuple[str, ...] | str | None = None, device: Any | None = None
    ) -> Mapping[str, Any]:
        state = self._host_get_state(fields)
        return {name: tensors.to_device(value, device) for name, value in state.items()}

    def step_tensor(self, ctrl: Any, nsteps: int = 1) -> dict[str, Any]:
        if self._pre_step_control_fn is not None:
            raise NotImplementedError("mayfly: step_tensor: no pre-step control callbacks")
        return self._host_step(tensors.control(ctrl, (self._num_envs, self.num_actuators)), nsteps)

    def set_state_tensor(
        self,
        env_indices: Any,
        qpos: Any,
        qvel: Any,
        randomization: TensorResetRandomizationPayload | None = None,
    ) -> dict[str, Any]:
        widths = self.get_public_state_widths()
        rows = tensors.rows(env_indices, self._num_envs)
        state = tensors.state(qpos, qvel, len(rows), widths, env_indices.device)
        return self._host_set_state(rows, *state, randomization)

    def set_state_tensor_mask(
        self,
        reset_mask: Any,
        qpos: Any,
        qvel: Any,
        randomization: TensorResetRandomizationPayload | None = None,
        *,
        full_refresh: bool = False,
    ) -> dict[str, Any]:
        widths = self.get_public_state_widths()
        rows = tensors.masked(reset_mask, self._num_envs)
        state = tensors.state(qpos, qvel, self._num_envs, widths, reset_mask.device)
        if randomization is not None:
            randomization = tensors.picked(randomization, rows)
        return self._host_set_state(rows, state[0][rows], state[1][rows], randomization)

    def bind_host_bridge_io(self, spec: Any) -> tensors.TransferPlan:
        plan = tensors.TransferPlan(self, spec)
        self._plans.append(plan)
        return plan

    def bind_packed_reset(self, *, device: Any | None = None) -> Any:
        from unisim.backend.packed_reset import PackedResetTransaction

        return PackedResetTransaction(self, device=device)

    # ---- steps -----------------------------------------------------------------------------------

    def materialize(self) -> None:
        if self._materialized:
            raise RuntimeError("mayfly: the backend is materialized already")
        self._materialized = True

    def _host_step(self, ctrl: Array, nsteps: int = 1) -> dict[str, Any]:
        shape = (self._num_envs, self.num_actuators)
        if np.shape(ctrl) != shape or not np.isfinite(ctrl).all():
            raise ValueError(f"mayfly: ctrl: need finite values of shape {shape}")
        if isinstance(nsteps, bool) or not isinstance(nsteps, (int, np.integer)) or nsteps < 1:
            raise ValueError(f"mayfly: nsteps: need an integer >= 1, got {nsteps!r}")
        begin = time.perf_counter()
        if self._pre_step_control_fn is None and not self._pushed:
            self._control(ctrl)
            self._world.step(int(nsteps))
        else:
            for _ in range(int(nsteps)):
                self._substep(ctrl)
        self._time += nsteps * self._sim_dt
        if self._pushed:
            self._wrench[...] = 0.0
            self._load_root()
            self._pushed = False
        self._report_faults()
        return {"timing": {"physics_ms": 1e3 * (time.perf_counter() - begin)}}

    def _substep(self, ctrl: Array) -> None:
        self._pre_step_control_active = True
        try:
            ctrl = self._apply_pre_step_control(np.asarray(ctrl))
        finally:
            self._pre_step_control_active = False
        self._control(ctrl)
        if self._pushed:
            self._load_root()
        self._world.step(1)

    def _control(self, values: Array) -> None:
        if self.num_actuators:
            self._group["actuator.control"] = values

    def _report_faults(self) -> None:
        faults = self._group.faults
        if faults > self._faults:
            robot = int(np.flatnonzero(self._group.fault)[0])
            names = ", ".join(self._group.fault_names(robot))
            warnings.warn(
                f"mayfly: {faults} environments are frozen until they are reset; environment "
                f"{robot}: {names}",
                stacklevel=4,
            )
        self._faults = faults

    # ---- loads and kicks of the root -------------------------------------------------------------

    def _find_root(self, base_name: str | None) -> Body | None:
        """The body of the free base; None: the scene has none, or base_name is another body."""
        if self._model.fixed_base:
            return None
        root = self._model.bodies[0]
        return root if base_name in (None, root.name) else None

    def _find_push_body(self, name: str | None) -> bool:
        if name is None:
            return False
        body = self._body(name)
        return self._root is not None and body.index == self._root.index

    def _load_root(self) -> None:
        """From the center of mass of the root's body to its origin."""
        assert self._root is not None
        center = self._numbers.table("body_ipos")[:, self._root.index + 1]
        arm = _rotate(self._group["base.orientation"].read(), center)
        force, torque = self._wrench[:, :3], self._wrench[:, 3:]
        self._group["base.force"] = force
        self._group["base.torque"] = torque + np.cross(arm, force)

    def _need_root(self, body_ids: Array, what: str) -> None:
        ids = np.atleast_1d(np.asarray(body_ids)).tolist()
        if self._root is None or ids != [self._root.index + 1]:
            name = "none" if self._root is None else repr(self._root.name)
            raise NotImplementedError(
                f"mayfly: {what}: only of the free root ({name}), got body ids {ids}"
            )

    def _interval_term_handlers(self) -> dict[str, Callable[[Any], None]]:
        host = interval_payload_to_host

        def load(column: int) -> Callable[[Any], None]:
            return lambda op: self._add_wrench(
                host(require_op_body_ids(op)), host(op.payload), column
            )

        def kick(angular: bool) -> Callable[[Any], None]:
            return lambda op: self._kick(host(require_op_body_ids(op)), host(op.payload), angular)

        return {
            INTERVAL_TERM_PUSH: lambda op: self._push(op.payload),
            INTERVAL_TERM_BODY_FORCE: load(0),
            INTERVAL_TERM_BODY_TORQUE: load(3),
            INTERVAL_TERM_BODY_LINEAR_VELOCITY_DELTA: kick(False),
            INTERVAL_TERM_BODY_ANGULAR_VELOCITY_DELTA: kick(True),
        }

    def apply_interval_randomization(self, plan: Any) -> None:
        if plan.is_empty():
            return
        self._reject_wrench_write_inside_pre_step_control("apply_interval_randomization")
        self._wrench[...] = 0.0
        super().apply_interval_randomization(plan)

    def _push(self, payload: Any) -> None:
        if isinstance(payload, TensorIntervalPayload):
            payload = payload.push_force
        if payload is None:
            raise ValueError("interval term 'push' requires a producer-sampled payload")
        if not self._push_body:
            raise NotImplementedError("mayfly: push: only of the free root")
        force = interval_payload_to_host(payload)
        self._wrench[...] = 0.0
        self._add_wrench(np.array([1]), force[:, None], 0)

    def apply_body_force(self, body_ids: Array, force: Array, torque: Array | None = None) -> None:
        self._reject_wrench_write_inside_pre_step_control("apply_body_force")
        self._add_wrench(body_ids, force, 0)
        if torque is not None:
            self._add_wrench(body_ids, torque, 3)

    def _add_wrench(self, body_ids: Array, values: Array, column: int) -> None:
        self._need_root(body_ids, "loads on bodies")
        values = np.asarray(values, np.float64)
        if values.shape != (self._num_envs, 1, 3) or not np.isfinite(values).all():
            raise ValueError(f"mayfly: loads: need finite values of shape {(self._num_envs, 1, 3)}")
        self._wrench[:, column : column + 3] += values[:, 0]
        self._pushed = True

    def _kick(self, body_ids: Array, change: Array, angular: bool) -> None:
        """Changes the velocity of the root, world axes, and measures the sensors again."""
        self._need_root(body_ids, "velocity kicks")
        if change.shape != (self._num_envs, 1, 3) or not np.isfinite(change).all():
            raise ValueError(f"mayfly: kicks: need finite values of shape {(self._num_envs, 1, 3)}")
        rows = np.flatnonzero((change[:, 0] != 0.0).any(axis=1))
        if not len(rows):
            return
        delta = np.asarray(change[rows, 0], np.float64)
        field = self._group["base.angular_velocity" if angular else "base.linear_velocity"]
        if angular:
            rotation = self._group["base.orientation"][rows] * np.array([1.0, -1.0, -1.0, -1.0])
            delta = _rotate(rotation, delta)
        field[rows] = field[rows] + delta
        self._group.measure(rows)

    # ---- sensors ---------------------------------------------------------------------------------

    def get_sensor_names(self) -> tuple[str, ...]:
        return tuple(self._sensors)

    def sensor_columns(self, name: str) -> Columns:
        """Where the values of a sensor are."""
        if name not in self._sensors:
            known = ", ".join(self._sensors) or "none"
            raise KeyError(f"mayfly: no sensor {name!r}; there are: {known}")
        sensor = self._sensors[name]
        return Columns([(self._group["sensor.value"], sensor.address, sensor.count, 0)])

    def _host_read_sensor(self, name: str) -> Array:
        return self.sensor_columns(name).read(self._num_envs, self._dtype)

    def get_sensor_view(self, name: str, device: Any | None = None) -> Any:
        return tensors.to_device(self._host_read_sensor(name), device)

    def _bind_sensor_data_reader(self, names: tuple[str, ...]) -> Callable[[], Array]:
        for name in names:
            self.sensor_columns(name)
        return lambda: np.concatenate([self._host_read_sensor(name) for name in names], axis=1)

    @property
    def tracked_body_names(self) -> tuple[str, ...]:
        """Bodies that have sensors: the values of those sensors are their poses and velocities."""
        return self._tracked

    def body_columns(self, name: str, field: str) -> Columns:
        """Where "pos_w", "quat_w", "linvel_w" or "angvel_w" of a tracked body are."""
        if name not in self._tracked:
            raise KeyError(f"mayfly: body {name!r} is not tracked: pass body_state_required=True")
        return self.sensor_columns(f"track_{field}_{name}")

    def _body_state(self, body_ids: Array, prefix: str) -> Array:
        names = [self._model.bodies[int(i) - 1].name for i in np.atleast_1d(body_ids)]
        columns = [self.body_columns(name, prefix.removeprefix("track_")) for name in names]
        out = np.empty((padded(self._num_envs), len(names) * TRACKED[prefix][1]), self._dtype)
        for i, column in enumerate(columns):
            column.copy(out, i * column.width)
        return out[: self._num_envs].reshape(self._num_envs, len(names), -1)

    def _host_get_body_pos_w(self, body_ids: Array) -> Array:
        return self._body_state(body_ids, "track_pos_w")

    def _host_get_body_quat_w(self, body_ids: Array) -> Array:
        return self._body_state(body_ids, "track_quat_w")

    def _host_get_body_lin_vel_w(self, body_ids: Array) -> Array:
        return self._body_state(body_ids, "track_linvel_w")

    def _host_get_body_ang_vel_w(self, body_ids: Array) -> Array:
        return self._body_state(body_ids, "track_angvel_w")

    # ---- playback --------------------------------------------------------------------------------

    def get_play_capabilities(self) -> PlayCapabilities:
        return PlayCapabilities(supports_physics_state_playback=True, supports_debug_overlay=True)

    def get_physics_state_layout(self) -> PhysicsStateLayout:
        return PhysicsStateLayout(self._model.position_count, self._model.velocity_count)

    def get_physics_state(self) -> Array:
        state = self._host_get_state()
        return np.concatenate(
            [self._time[:, None].astype(self._dtype), state["qpos"], state["qvel"]], axis=1
        )

    def set_physics_state(self, state: Array) -> None:
        parts = self.get_physics_state_layout().split_state(np.asarray(state))
        self._put(np.arange(self._num_envs), parts.qpos, parts.qvel)
        self._time[...] = parts.time

    def get_playback_model(self, env_index: int | None = None) -> Any:
        """The path of the scene's file, which MuJoCo loads to render it."""
        return self.get_scene_visual_model_file()

    def resolve_play_render_plan(
        self,
        *,
        play_render_mode: str | None,
        play_steps: int | None,
        output_video: str | os.PathLike[str] | None,
    ) -> PlayRenderPlan:
        mode = normalize_play_render_mode(play_render_mode)
        mode = "record" if mode == "auto" else mode
        if mode == "none":
            return PlayRenderPlan(mode, True, False, None, None)
        if mode != "record":
            raise NotImplementedError("mayfly: play: need record or none, got interactive")
        if play_steps is None or output_video is None:
            raise ValueError("mayfly: play: record needs play_steps and the path of a video")
        return PlayRenderPlan(mode, True, True, int(play_steps), output_video)

    def run_playback(self, *, render_offset_mode: str | None = None, **settings: Any) -> str | None:
        """Steps here; MuJoCo renders the recorded states."""
        from unisim.backend.mujoco.playback import run_mujoco_playback

        del render_offset_mode
        record = settings.pop("record_video", None)
        record = settings.get("output_video") is not None if record is None else bool(record)
        headless = settings.pop("headless", None)
        settings.setdefault("output_video", None)
        settings.setdefault("render_spacing", None)
        settings.setdefault("frame_state_getter", None)
        settings.setdefault("camera_kwargs", None)
        return run_mujoco_playback(
            headless=record if headless is None else bool(headless), record_video=record, **settings
        )

    def close(self) -> None:
        for plan in self._plans:
            plan.close()
        self._plans.clear()
        self._world.close()


def _rotate(quaternion: Array, vector: Array) -> Array:
    """Vectors from the body into the world."""
    w, axis = quaternion[:, :1], quaternion[:, 1:]
    vector = np.broadcast_to(vector, axis.shape)
    half = 2.0 * np.cross(axis, vector)
    return np.asarray(vector + w * half + np.cross(axis, half))
