"""PyTorch at the boundary: checks, copies, and UniSim's plan of transfers.

Physics is on the CPU. A plan packs what a task reads of a step into one table of float32, which
crosses to the device of the learner at once. PyTorch is imported where it is used, as in UniSim.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from unisim.backend.base import HostBodyPoseViews, HostBridgeTransferPlan, TensorIOSpec

from mayfly_unisim.scene import Columns, padded

if TYPE_CHECKING:
    from mayfly_unisim.backend import MayflyBackend

__all__ = ["TransferPlan", "control", "masked", "picked", "rows", "state", "to_device"]

Array = npt.NDArray[Any]
_BODY_FIELDS = {"pos_w": 3, "quat_w": 4}


def _torch() -> Any:
    import torch

    return torch


def to_device(values: Array, device: Any | None) -> Any:
    """A copy of an array as a tensor; None: on the CPU."""
    torch = _torch()
    made = torch.from_numpy(np.ascontiguousarray(values)).to(torch.device(device or "cpu"))
    _finish(made)
    return made


def _finish(tensor: Any) -> None:
    if tensor.device.type == "cuda":
        torch = _torch()
        torch.cuda.current_stream(tensor.device).synchronize()


def _need(tensor: Any, name: str, shape: tuple[int, ...], kind: str, device: Any = None) -> Any:
    torch = _torch()
    dtype = getattr(torch, kind)
    if not isinstance(tensor, torch.Tensor):
        raise TypeError(f"mayfly: {name}: need a torch.Tensor, got {type(tensor).__name__}")
    if tensor.dtype != dtype or not tensor.is_contiguous():
        raise TypeError(f"mayfly: {name}: need a contiguous tensor of {dtype}, got {tensor.dtype}")
    if tuple(tensor.shape) != shape:
        raise ValueError(f"mayfly: {name}: need shape {shape}, got {tuple(tensor.shape)}")
    if device is not None and tensor.device != device:
        raise ValueError(f"mayfly: {name}: need a tensor on {device}, got {tensor.device}")
    _finish(tensor)
    return tensor


def _finite(tensor: Any, name: str) -> Array:
    values: Array = tensor.detach().cpu().numpy()
    if not np.isfinite(values).all():
        raise ValueError(f"mayfly: {name}: need finite values")
    return values


def control(ctrl: Any, shape: tuple[int, int], device: Any = None) -> Array:
    """Controls of all environments as an array."""
    return _finite(_need(ctrl, "ctrl", shape, "float32", device), "ctrl")


def rows(env_indices: Any, count: int) -> npt.NDArray[np.intp]:
    """Distinct environments as an array."""
    size = env_indices.shape[0] if getattr(env_indices, "ndim", 0) == 1 else -1
    _need(env_indices, "env_indices", (size,), "int64")
    found: npt.NDArray[np.intp] = env_indices.detach().cpu().numpy()
    if size and (found.min() < 0 or found.max() >= count or len(np.unique(found)) < size):
        raise ValueError(f"mayfly: env_indices: need distinct values in [0, {count})")
    return found


def masked(reset_mask: Any, count: int) -> npt.NDArray[np.intp]:
    """The environments of a mask."""
    _need(reset_mask, "reset_mask", (count,), "bool")
    return np.flatnonzero(reset_mask.detach().cpu().numpy())


def state(qpos: Any, qvel: Any, count: int, widths: Any, device: Any) -> tuple[Array, Array]:
    """Positions and velocities as arrays."""
    q = _need(qpos, "qpos", (count, widths.nq), "float32", device)
    v = _need(qvel, "qvel", (count, widths.nv), "float32", device)
    return _finite(q, "qpos"), _finite(v, "qvel")


def picked(payload: Any, robots: npt.NDArray[np.intp]) -> Any:
    """The rows of a payload of all environments."""
    tables = {f.name: getattr(payload, f.name) for f in fields(payload)}
    index = _torch().from_numpy(robots)
    return type(payload)(
        **{
            name: None if table is None else table.index_select(0, index.to(table.device))
            for name, table in tables.items()
        }
    )


class TransferPlan(HostBridgeTransferPlan):
    """State, sensors and body poses of a task in one table."""

    def __init__(self, backend: MayflyBackend, spec: TensorIOSpec) -> None:
        torch = _torch()
        self._backend, self._spec = backend, spec
        self.last_timing: dict[str, float] = {}
        self._stats = dict.fromkeys(
            ("d2h_count", "h2d_count", "d2h_bytes", "h2d_bytes", "synchronization_count"), 0
        )
        self.device = _device(spec.device)
        self._slots: dict[str, tuple[int, int]] = {}
        self._columns: list[tuple[int, Columns]] = []
        self._width = 0
        for name, parts in _requested(backend, spec):
            first = self._width
            for part in parts:
                self._columns.append((self._width, part))
                self._width += part.width
            self._slots[name] = first, self._width
        count = backend.num_envs
        pin = self.device.type == "cuda"
        self._host = torch.empty((padded(count), self._width), dtype=torch.float32, pin_memory=pin)
        self._packet = (
            torch.empty((count, self._width), dtype=torch.float32, device=self.device)
            if pin
            else self._host[:count]
        )
        self._control: Array | None = None
        self._reset: npt.NDArray[np.intp] | None = None
        self._published = self._closed = False

    @property
    def spec(self) -> TensorIOSpec:
        return self._spec

    @property
    def transfer_stats(self) -> dict[str, int]:
        return dict(self._stats)

    def _open(self) -> None:
        if self._closed:
            raise RuntimeError("mayfly: the transfer plan is closed")

    def _count(self, direction: str, label: str, size: int, begin: float) -> None:
        elapsed = 1e3 * (time.perf_counter() - begin)
        self._stats[f"{direction}_count"] += 1
        self._stats[f"{direction}_bytes"] += size
        self._stats["synchronization_count"] += self.device.type == "cuda"
        name = f"tensor_{label}_packed_{direction}"
        self.last_timing |= {
            f"{name}_ms": elapsed,
            f"{name}_bytes": float(size),
            f"{name}_count": 1.0,
        }

    def write_control(self, ctrl: Any) -> None:
        self._open()
        self.last_timing, begin = {}, time.perf_counter()
        self._control = None
        shape = (self._backend.num_envs, self._backend.num_actuators)
        self._control = control(ctrl, shape, self.device).copy()
        self._count("d2h", "control", self._control.nbytes, begin)

    def step(self, nsteps: int = 1) -> dict[str, Any]:
        self._open()
        values, self._control = self._control, None
        if values is None:
            raise RuntimeError("mayfly: step: write_control() comes first")
        if self._backend._pre_step_control_fn is not None:
            raise NotImplementedError("mayfly: packed steps: no pre-step control callbacks")
        result = self._backend._host_step(values, nsteps)
        result["timing"] |= self.last_timing
        return result

    def read_state_sensors(self) -> Mapping[str, Any]:
        self._open()
        self.last_timing, begin = {}, time.perf_counter()
        table = self._host.numpy()
        for first, columns in self._columns:
            columns.copy(table, first)
        if self.device.type == "cuda":
            self._packet.copy_(self._host[: len(self._packet)], non_blocking=True)
            _finish(self._packet)
        self._count("h2d", "state", 4 * self._packet.numel(), begin)
        return self._views()

    def apply_reset(
        self, env_indices: Any, qpos: Any, qvel: Any, randomization: Any | None = None
    ) -> dict[str, Any]:
        self._open()
        self._reset, self.last_timing, begin = None, {}, time.perf_counter()
        robots = rows(env_indices, self._backend.num_envs)
        widths = self._backend.get_public_state_widths()
        values = state(qpos, qvel, len(robots), widths, self.device)
        self._count("d2h", "reset", sum(v.nbytes for v in values), begin)
        result = self._backend._host_set_state(robots, *values, randomization)
        result["timing"] |= self.last_timing
        self._reset = robots
        return result

    def read_selected_state_sensors(self) -> Mapping[str, Any]:
        self._open()
        if self._reset is None or not len(self._reset):
            raise RuntimeError("mayfly: selected read: apply_reset() of some rows comes first")
        torch = _torch()
        self.last_timing, begin = {}, time.perf_counter()
        table = np.empty((len(self._reset), self._width), np.float32)
        for first, columns in self._columns:
            columns.rows(self._reset, table, first)
        index = torch.from_numpy(self._reset).to(self.device)
        self._packet.index_copy_(0, index, torch.from_numpy(table).to(self.device))
        _finish(self._packet)
        self._count("h2d", "post_reset", table.nbytes, begin)
        return self._views()

    def _views(self) -> dict[str, Any]:
        self._published = True
        return {name: self._packet[:, a:b] for name, (a, b) in self._slots.items()}

    def get_body_pose_views(self) -> HostBodyPoseViews:
        self._open()
        if not self._spec.body_names or not self._published:
            raise RuntimeError("mayfly: body poses: need body_names in the plan, and a read before")
        made: dict[str, Any] = dict.fromkeys(_BODY_FIELDS)
        for field in self._spec.body_fields:
            a, b = self._slots[f"body_{field}"]
            table = self._packet[:, a:b]
            made[field] = table.reshape(len(table), len(self._spec.body_names), -1)
        return HostBodyPoseViews(self._spec.body_names, **made)

    def close(self) -> None:
        self._control = self._reset = None
        self._published, self._closed = False, True


def _device(requested: Any | None) -> Any:
    torch = _torch()
    device = torch.device(requested or "cpu")
    if device.type not in ("cpu", "cuda"):
        raise ValueError(f"mayfly: device: need cpu or cuda, got {device}")
    if device.type == "cuda" and device.index is None:
        device = torch.device("cuda", torch.cuda.current_device())
    return device


def _requested(backend: MayflyBackend, spec: TensorIOSpec) -> Any:
    """Names of blocks of columns with their parts."""
    for name in spec.state_fields:
        if name not in ("qpos", "qvel"):
            raise ValueError(f"mayfly: packed state: need qpos or qvel, got {name!r}")
        yield name, [backend._qpos if name == "qpos" else backend._qvel]
    for name in spec.sensor_names:
        yield name, [backend.sensor_columns(name)]
    for field in spec.body_fields:
        yield f"body_{field}", [backend.body_columns(body, field) for body in spec.body_names]
