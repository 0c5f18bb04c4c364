"""What a task asks of the scene: names, identities, limits, defaults."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from unisim.backend.base import PublicStateWidths, RootStateLayout, SimBackend
from unisim.scene import SceneCfg

import mayfly
from mayfly.parts import Body, Joint

__all__ = ["Names"]

Array = npt.NDArray[Any]


class Names(SimBackend):
    """The part of the backend that reads the model alone.

    Identities are those of MuJoCo: bodies count from the world, 0; qpos and qvel have its order.
    """

    _model: mayfly.Model
    _scene: SceneCfg
    _dtype: np.dtype[Any]

    @property
    def num_actuators(self) -> int:
        return len(self._model.actuators)

    @property
    def num_dof_vel(self) -> int:
        return self._model.velocity_count - self._root_widths()[1]

    def _root_widths(self) -> tuple[int, int]:
        """Of the coordinates of a free joint that comes first."""
        joints = self._model.joints
        first = len(joints) > 0 and joints[0].type == "floating"
        return (7, 6) if first or not self._model.fixed_base else (0, 0)

    def get_actuator_ctrl_range(self) -> Array:
        rows = [(a.control_lower, a.control_upper) for a in self._model.actuators]
        ranges = np.array(rows, self._dtype).reshape(-1, 2)
        return np.where(np.isfinite(ranges), ranges, 0)  # as MuJoCo has it: 0, 0 is no range

    def get_actuator_names(self) -> tuple[str, ...]:
        return tuple(a.name or f"#{a.index}" for a in self._model.actuators)

    def get_actuator_joint_names(self) -> tuple[str, ...]:
        names = []
        for actuator in self._model.actuators:
            joint = None if actuator.joint is None else self._model.joints[actuator.joint]
            if actuator.drive != "joint" or joint is None or joint.type not in ("hinge", "slide"):
                raise NotImplementedError(
                    f"mayfly: actuator {actuator.name!r}: need one that drives a hinge or slide"
                )
            names.append(joint.name)
        return tuple(names)

    def get_scene_model_file(self) -> str | None:
        return self._scene.model_file

    def get_scene_visual_model_file(self) -> str | None:
        return self._scene.visual_model_file or self._scene.model_file

    def get_keyframe_qpos(self, name: str) -> Array:
        if name not in self._model.keyframes:
            known = ", ".join(self._model.keyframes.names) or "none"
            raise ValueError(f"mayfly: no keyframe {name!r}; there are: {known}")
        return np.array(self._model.keyframe(name).position, self._dtype)

    def get_default_qpos(self) -> Array:
        return np.array(self._model.start_position, np.float64)

    def get_default_dof_pos(self) -> Array:
        return self.get_default_qpos()[self._root_widths()[0] :].astype(self._dtype)

    def get_init_qvel(self) -> Array:
        return np.zeros(self._model.velocity_count, self._dtype)

    def get_public_state_widths(self) -> PublicStateWidths:
        return PublicStateWidths(nq=self._model.position_count, nv=self._model.velocity_count)

    def get_root_state_layout(self, root_body_name: str) -> RootStateLayout:
        body = self._body(root_body_name)
        at = to = None
        if body.link == 0 and body.parent is None and not self._model.fixed_base:
            at, to = 0, 0
        for joint in self._model.joints:
            if joint.type == "floating" and joint.body == body.index:
                at, to = joint.position_address, joint.velocity_address
        if at is None or to is None:
            raise ValueError(f"mayfly: body {root_body_name!r} has no free joint")
        return RootStateLayout(tuple(range(at, at + 7)), tuple(range(to, to + 6)))

    def _body(self, name: str) -> Body:
        if name not in self._model.bodies:
            raise ValueError(f"mayfly: the scene has no body {name!r}")
        return self._model.body(name)

    def get_body_ids(self, names: Sequence[str]) -> npt.NDArray[np.int32]:
        ids = [0 if name == "world" else self._body(name).index + 1 for name in names]
        return np.array(ids, np.int32)

    def get_motion_body_ids(self, names: Sequence[str]) -> npt.NDArray[np.int32]:
        return self.get_body_ids(names)

    def get_body_subtree_ids(self, root_body_id: int) -> npt.NDArray[np.int32]:
        inside = {int(root_body_id)}
        for body in self._model.bodies:  # parents come first
            if (0 if body.parent is None else body.parent + 1) in inside:
                inside.add(body.index + 1)
        return np.array(sorted(inside), np.int32)

    def get_gravity(self) -> Array:
        return np.array(self._model.gravity)

    def _joint(self, name: str, single: bool = True) -> Joint:
        if name not in self._model.joints:
            raise ValueError(f"mayfly: the scene has no joint {name!r}")
        joint = self._model.joint(name)
        if single and joint.type not in ("hinge", "slide"):
            raise ValueError(f"mayfly: joint {name!r}: need a hinge or slide, got {joint.type}")
        return joint

    def get_joint_dof_indices(self, names: Sequence[str]) -> npt.NDArray[np.int32]:
        return np.array([self._joint(n, False).velocity_address for n in names], np.int32)

    def get_joint_state_qpos_indices(self, names: Sequence[str]) -> npt.NDArray[np.int32]:
        return np.array([self._joint(name).position_address for name in names], np.int32)

    def get_joint_state_qvel_indices(self, names: Sequence[str]) -> npt.NDArray[np.int32]:
        return np.array([self._joint(name).velocity_address for name in names], np.int32)

    def get_joint_dof_pos_indices(self, names: Sequence[str]) -> npt.NDArray[np.int32]:
        return self.get_joint_state_qpos_indices(names) - np.int32(self._root_widths()[0])

    def get_joint_dof_vel_indices(self, names: Sequence[str]) -> npt.NDArray[np.int32]:
        return self.get_joint_dof_indices(names) - np.int32(self._root_widths()[1])

    def get_joint_range(self, *, names: Sequence[str] | None = None) -> Array:
        joints = [joint for joint in self._model.joints if joint.type != "floating"]
        if names is not None:
            joints = [self._joint(name) for name in names]
        return np.array([(j.lower, j.upper) for j in joints], self._dtype).reshape(-1, 2)
