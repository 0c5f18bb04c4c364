"""Environments for reinforcement learning: robots of one task, stepped together in C.

    import gymnasium
    import mayfly

    envs = gymnasium.make_vec("Mayfly/Ant-v5", num_envs=4096)
    observations, infos = envs.reset(seed=1)
    observations, rewards, terminations, truncations, infos = envs.step(envs.action_space.sample())

TASKS lists the tasks; ids() their names in Gymnasium. Adapters for other libraries are in
mayfly.envs.sb3, mayfly.envs.rsl_rl and mayfly.envs.pool. RemoteVectorEnv makes an environment of a
world in another process.
"""

from mayfly.envs.frameworks import jax_step
from mayfly.envs.native import NativeEnvironment
from mayfly.envs.registration import ids, register
from mayfly.envs.remote import RemoteEnv, RemoteVectorEnv
from mayfly.envs.settings import TASKS, task_id
from mayfly.envs.single import MayflyEnv
from mayfly.envs.task import TaskVectorEnv
from mayfly.envs.vector import ClosedEnvironmentError, MayflyVectorEnv

__all__ = [
    "TASKS",
    "ClosedEnvironmentError",
    "MayflyEnv",
    "MayflyVectorEnv",
    "NativeEnvironment",
    "RemoteEnv",
    "RemoteVectorEnv",
    "TaskVectorEnv",
    "ids",
    "jax_step",
    "register",
    "task_id",
]
