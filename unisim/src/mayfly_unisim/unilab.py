"""Lets UniLab run its tasks with Mayfly: UniLab imports this module in each of its processes.

Every task that is registered for UniLab's backend `mujoco` gets the backend `mayfly`.
"""

from __future__ import annotations

from unilab.base import registry

from mayfly_unisim.registration import NAME, register

__all__ = ["extend"]


def extend() -> None:
    """Adds the backend to UniLab's names and tasks; what is there already stays."""
    register()
    if NAME not in registry._SUPPORTED_SIM_BACKENDS:
        registry._SUPPORTED_SIM_BACKENDS = (*registry._SUPPORTED_SIM_BACKENDS, NAME)
    for name, task in registry._envs.items():
        factory = task.env_factory_dict.get("mujoco")
        if factory is not None and NAME not in task.env_factory_dict:
            registry.register_env(name, factory, NAME)


extend()
