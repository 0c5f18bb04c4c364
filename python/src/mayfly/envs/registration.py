"""Registration of the tasks in Gymnasium when mayfly is imported."""

from __future__ import annotations

from mayfly._native import lib
from mayfly.envs.settings import TASKS, in_teams, task_id, task_info

__all__ = ["ids", "register"]


def ids() -> tuple[str, ...]:
    """Names of all environments: "Mayfly/Ant-v5", ..."""
    return tuple(task_id(task) for task in TASKS)


def register() -> None:
    """Registers all names that Gymnasium does not know yet."""
    import gymnasium

    for task in TASKS:
        name, steps = task_id(task), int(task_info(task).episode_steps)
        if name not in gymnasium.registry:
            gymnasium.register(
                id=name,
                # Robots of a team cannot be created one by one: a team is one environment.
                entry_point="mayfly.envs.single:"
                + ("MayflyTeamEnv" if in_teams(task) else "MayflyEnv"),
                vector_entry_point="mayfly.envs.vector:MayflyVectorEnv",
                max_episode_steps=None if steps == lib.MF_NONE else steps,
                kwargs={"task": task},
            )
