"""Robots as a ParallelEnv of PettingZoo: every robot is an agent."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium.spaces import Box
from gymnasium.vector import AutoresetMode

from mayfly import errors
from mayfly._sealed import Sealed
from mayfly.arrays import Array, as_array
from mayfly.envs.adapting import Source, adopt
from mayfly.envs.rendering import MODES
from mayfly.envs.settings import in_teams
from mayfly.envs.vector import MayflyVectorEnv
from mayfly.group import Group
from mayfly.task import Task
from mayfly.world import World

try:
    from pettingzoo import ParallelEnv
except ImportError as failure:
    raise ImportError("mayfly.envs.parallel needs: pip install pettingzoo") from failure

__all__ = ["MayflyParallelEnv"]


class MayflyParallelEnv(Sealed, ParallelEnv):  # type: ignore[misc]
    """One team of robots that share one space; or robots of a mayfly.Task, each by itself.

    Args:
        task: one of robots in teams, such as "swarm"; a mayfly.Task; or a vector environment with
            AutoresetMode.DISABLED.
        agents: robots; None: 8, or those of the environment that is given.
        arguments: of the environment that is made.

    All agents begin together, and those of a team end together. Agents whose episodes have ended
    leave `agents`.

    """

    _replaceable = True
    _settable = frozenset({"max_cycles"})  # by the tests of PettingZoo

    def _in_brief(self) -> str:
        return f"{len(self.possible_agents)} agents, {self.envs!r}"

    def __init__(self, task: Source = "swarm", agents: int | None = None, **arguments: Any) -> None:
        mode, name = AutoresetMode.DISABLED, "task"
        count = agents
        if isinstance(task, str):
            if not in_teams(task):
                raise errors.ArgumentError(f"task {task}: its robots are alone, it has no teams")
            name, team = task, 8 if agents is None else agents
            settings = {**arguments, "agents": team, "autoreset_mode": mode}
            self.envs: Any = MayflyVectorEnv(task, team, **settings)
        else:
            if agents is None and isinstance(task, Task):
                count = 8
            self.envs = adopt(task, count, mode, "PettingZoo", **arguments)
        self.metadata = {"name": f"mayfly_{name}_v0", "render_modes": MODES}
        self.render_mode = self.envs.render_mode
        self.possible_agents = [f"robot_{i}" for i in range(self.envs.num_envs)]
        self.agents: list[str] = []
        self.observation_spaces = {
            agent: self._copy(self.envs.single_observation_space) for agent in self.possible_agents
        }
        self.action_spaces = {
            agent: self._copy(self.envs.single_action_space) for agent in self.possible_agents
        }
        self._seal()

    @property
    def group(self) -> Group:
        """The robots, with all their fields."""
        found: Group = self.envs.group
        return found

    @property
    def world(self) -> World:
        """Their world."""
        found: World = self.envs.world
        return found

    @staticmethod
    def _copy(space: Box) -> Box:
        return Box(space.low, space.high, dtype=space.dtype.type)  # each agent samples on its own

    def observation_space(self, agent: str) -> Box:
        """The observation space of an agent."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Box:
        """The action space of an agent."""
        return self.action_spaces[agent]

    def _infos(self, infos: dict[str, Any]) -> dict[str, dict[str, Any]]:
        names = [name for name in infos if not name.startswith("_")]
        return {
            agent: {name: infos[name][i] for name in names if infos["_" + name][i]}
            for i, agent in enumerate(self.possible_agents)
        }

    def _rows(self, rows: Array) -> dict[str, Any]:
        return dict(zip(self.possible_agents, rows))

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Array], dict[str, dict[str, Any]]]:
        """Starts an episode of the team; without a seed the random numbers continue."""
        seen, infos = self.envs.reset(seed=seed)
        self.agents = list(self.possible_agents)
        return self._rows(seen), self._infos(infos)

    def step(self, actions: dict[str, Any]) -> tuple[dict[str, Any], ...]:
        """One step of all agents: observations, rewards, terminations, truncations, infos."""
        if not self.agents:
            raise errors.BusyError("the episode is over: call reset()")
        missing = [agent for agent in self.agents if agent not in actions]
        if missing:
            raise errors.ArgumentError(f"actions: {', '.join(missing)}: need one for each agent")
        table = np.zeros(self.envs.action_space.shape, np.float32)
        here = [i for i, agent in enumerate(self.possible_agents) if agent in self.agents]
        table[here] = np.stack([as_array(actions[agent]) for agent in self.agents])
        if len(here) < len(table):  # those that have ended go on unseen
            gone = np.ones(len(table), np.bool_)
            gone[here] = False
            self.envs.reset(options={"reset_mask": gone})
        seen, reward, ended, cut, infos = self.envs.step(table)
        results: list[dict[str, Any]] = [
            dict(zip(self.agents, column[here].tolist())) for column in (reward, ended, cut)
        ]
        rows, reported, agents = self._rows(seen), self._infos(infos), self.agents
        self.agents = [a for a, i in zip(agents, here) if not (ended[i] or cut[i])]
        return (
            {agent: rows[agent] for agent in agents},
            *results,
            {agent: reported[agent] for agent in agents},
        )

    def render(self) -> Any:
        """A picture of the team, of render_mode="rgb_array"; "human" shows it on a page."""
        frames = self.envs.render()
        return None if frames is None else frames[0]

    def close(self) -> None:
        """Releases the memory."""
        self.envs.close()
