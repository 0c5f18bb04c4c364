"""Makes "mayfly" a name of UniSim's factory.

UniSim has no registry: its factory chooses among the adapters that it ships. So this extends its
list of adapters, its tables of platforms and capabilities, and the function that constructs.
"""

from __future__ import annotations

import importlib.metadata
from collections.abc import Mapping
from typing import Any

import unisim
from unisim import adapters, factory, support
from unisim.adapters import AdapterSpec
from unisim.backend.base import TensorDataPlane, TensorExecution, TensorProcessTopology
from unisim.capabilities import (
    CapabilityCondition,
    CapabilityDeclaration,
    CapabilityReport,
    CapabilityScope,
    SupportLevel,
)

__all__ = ["register"]

NAME = "mayfly"

_OTHERS = ("drake", "genesis", "isaacgym", "isaacsim", "mjwarp", "motrix", "newton", "superdex")

_EXACT, _APPROXIMATE = SupportLevel.EXACT, SupportLevel.APPROXIMATE
_DECLARED: dict[str, tuple[SupportLevel, str]] = {
    "asset.mjcf": (_EXACT, "What is ignored or dropped is an error or logged, with file and line"),
    "entity.single_articulation": (_EXACT, "One scene file"),
    "root.free": (_EXACT, "Also several free bodies"),
    "root.fixed": (_EXACT, "Trees fixed in the world"),
    "joint.hinge": (_EXACT, "MJCF hinges"),
    "joint.slide": (_EXACT, "MJCF slides"),
    "joint.ball": (_EXACT, "MJCF ball joints"),
    "actuator.motor": (_EXACT, "MJCF motors"),
    "actuator.position": (_EXACT, "MJCF position actuators"),
    "collision.rigid": (_EXACT, "MuJoCo's law of contact"),
    "collision.self": (_EXACT, "As the file allows it"),
    "contact.query": (_EXACT, "MJCF contact sensors: found, dist, pos, normal; not force, torque"),
    "sensor.gyro": (_EXACT, "State at the end of the step"),
    "sensor.imu": (_APPROXIMATE, "Accelerometers measure the change of velocity in a substep"),
    "reset.state": (_EXACT, "Selected environments"),
    "state.final_refresh": (_EXACT, "Sensors belong to the state at the end of the step"),
    "state.callback_refresh": (_EXACT, "Likewise before each substep of a callback"),
    "tensor.execution": (_EXACT, "HOST_BRIDGE"),
    "tensor.process_topology": (_EXACT, "in_process"),
    "tensor.data_plane": (_EXACT, "host_bridge"),
    "tensor.torch_devices": (_EXACT, "CPU and CUDA"),
    "tensor.state_views": (_EXACT, "Copies"),
    "tensor.state_fields": (_EXACT, "qpos, qvel and ctrl"),
    "tensor.sensor_views": (_EXACT, "Copies"),
    "tensor.stepping": (_EXACT, "step_tensor"),
    "tensor.selected_reset": (_EXACT, "Rows and masks"),
    "tensor.selected_reset_publication": (_EXACT, "AUTHORITATIVE_VIEWS"),
    "tensor.packed_host_bridge": (_EXACT, "One table for each read"),
    "tensor.reset_randomization": (_EXACT, "Inertia, joints and gains"),
    "tensor.device_reset_randomization": (_EXACT, "Inertia, joints and gains"),
    "tensor.packed_reset": (_EXACT, "Inertia, joints and gains"),
    "tensor.stream_event_ownership": (_EXACT, "The caller's stream, synchronized at transfers"),
}


def register() -> None:
    """Lets `unisim.create_backend("mayfly", ...)` construct a MayflyBackend.

    A second call does nothing.

    Raises:
        RuntimeError: this version of unisim-core is built in another way.

    """
    if any(spec.name == NAME for spec in adapters.ADAPTER_SPECS):
        return
    needed = (
        (factory, "_create_backend"),
        (support, "get_adapter_capabilities"),
        (support, "_TENSOR_PLATFORM_BOUNDARIES"),
        (support, "_TENSOR_WORKER_REQUIREMENTS"),
    )
    for module, name in needed:
        if not hasattr(module, name):
            version = importlib.metadata.version("unisim-core")
            raise RuntimeError(f"mayfly_unisim: unisim-core {version} has no {name}; need 2.2")
    specs = (*adapters.ADAPTER_SPECS, AdapterSpec(NAME, "", "available"))
    for module in (adapters, support, unisim):
        module.ADAPTER_SPECS = specs
    support._TENSOR_PLATFORM_BOUNDARIES[NAME] = support._TensorPlatformBoundary(
        TensorExecution.HOST_BRIDGE,
        TensorProcessTopology.IN_PROCESS,
        TensorDataPlane.HOST_BRIDGE,
        ("cpu", "cuda"),
    )
    support._TENSOR_WORKER_REQUIREMENTS[NAME] = "In-process; no external Python worker"
    _extend_capabilities()
    _extend_factory()


def _extend_capabilities() -> None:
    shipped = support.get_adapter_capabilities

    def get_adapter_capabilities(name: str, profile: str = "default") -> CapabilityReport:
        return _report(profile) if name == NAME else shipped(name, profile)

    support.get_adapter_capabilities = get_adapter_capabilities


def _report(profile: str) -> CapabilityReport:
    """Declarations of everything that UniSim lists: what is not said here is not supported."""
    declared = _DECLARED if profile == "default" else {}
    rest = SupportLevel.UNSUPPORTED if profile == "default" else SupportLevel.UNKNOWN
    made = []
    for feature in support.FEATURES:
        level, reason = declared.get(feature, (rest, "Not supported by mayfly"))
        conditions: tuple[CapabilityCondition, ...] = ()
        if feature == "dr.interval.body_force":
            level, reason = _EXACT, "Of the free root"
            conditions = (CapabilityCondition("body", "free_root"),)
        made.append(CapabilityDeclaration(feature, level, reason, conditions))
    version = importlib.metadata.version("unisim-core")
    scope = CapabilityScope(NAME, profile, version, importlib.metadata.version("mayfly-sim"))
    return CapabilityReport(scope, tuple(made))


def _extend_factory() -> None:
    shipped = factory._create_backend

    def create(backend_type: str, scene: Any, num_envs: int, sim_dt: float, **settings: Any) -> Any:
        if backend_type != NAME:
            return shipped(backend_type, scene, num_envs, sim_dt, **settings)
        from mayfly_unisim.backend import MayflyBackend

        if scene is None:
            raise ValueError("mayfly: need a SceneCfg")
        scene.validate_composition(num_envs)
        return MayflyBackend(scene, num_envs, sim_dt, **_own(settings))

    factory._create_backend = create


def _own(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Without those of other backends, which UniLab passes to each."""
    own = {name: value for name, value in settings.items() if name.partition("_")[0] not in _OTHERS}
    own.pop("refresh_pre_step_body_state", None)  # sensors are those of the state in any case
    if own.pop("body_state_required", False):
        own["add_body_sensors"] = True
    if "mayfly_precision" in own:
        own["precision"] = own.pop("mayfly_precision")
    return own
