"""What the vector environments of robots in this process share: checks of arguments, seeds, ends of
episodes, pictures.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium.spaces import Box
from gymnasium.vector import AutoresetMode, VectorEnv

from mayfly import errors
from mayfly._log import log
from mayfly._sealed import Sealed
from mayfly.arrays import Array, as_array, whole
from mayfly.envs import rendering
from mayfly.envs.frameworks import aligned
from mayfly.envs.rendering import MODES, Onlooker, check_mode
from mayfly.group import Group
from mayfly.task import near
from mayfly.viewer import Viewer
from mayfly.world import World

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["Batch", "ClosedEnvironmentError", "Spare"]

_SPARE = 3  # arrays of one kind that are kept for another use
_probe = [np.zeros(1)]
_UNUSED = sys.getrefcount(_probe[0])  # of an array that only a list holds


class ClosedEnvironmentError(errors.ClosedError, gymnasium.error.ClosedEnvironmentError):
    """Used after close()."""


class RenderModeError(errors.UnsupportedError, TypeError):
    """A render_mode was requested; libraries that try one continue without it after a TypeError."""


def mode_of(value: object) -> AutoresetMode:
    if isinstance(value, AutoresetMode):
        return value
    try:
        return AutoresetMode(value)
    except ValueError:
        names = ", ".join(repr(mode.value) for mode in AutoresetMode)
        raise ValueError(
            f"autoreset_mode: need a gymnasium.vector.AutoresetMode or one of {names}, "
            f"got {value!r}"
        ) from None


class Spare:
    """Arrays for reuse, because the first access to new memory is slow."""

    def __init__(self) -> None:
        self.arrays: list[Array] = []

    def like(self, array: Array) -> Array:
        """An unused array of this shape and type with undefined values."""
        for i in range(len(self.arrays)):
            if sys.getrefcount(self.arrays[i]) == _UNUSED:
                return self.arrays[i]
        made = aligned(array.shape, array.dtype)
        self.arrays = [*self.arrays[1 - _SPARE :], made]
        return made


class Batch(Sealed, VectorEnv[Array, Array, Array]):
    """Robots that are stepped together. A subclass has `group`, `world`, `dt`, `title`, reset() and
    step().

    Attributes:
        episode_steps: an episode is truncated after this number; None: never.
        team: robots that share one space and their episodes: rows [0, team), [team, 2 team), ...
        copy: whether returned arrays are copies.

    """

    _replaceable = True
    single_observation_space: Box
    single_action_space: Box
    episode_steps: int | None = None
    team: int = 1
    copy: bool = True

    def _prepare(
        self,
        num_envs: int,
        autoreset_mode: AutoresetMode | str,
        render_mode: str | None,
        render_robots: Sequence[int] | None,
        size: tuple[int, int],
    ) -> None:
        """First part of a constructor."""
        try:
            self.render_mode = check_mode(render_mode)
        except errors.UnsupportedError as failure:
            raise RenderModeError(str(failure)) from None
        self._onlooker = Onlooker(*size)
        self._viewer: Viewer | None = None
        self.autoreset_mode = mode_of(autoreset_mode)
        self.num_envs = whole(num_envs, "num_envs", 1, 2**26 + 1)
        self._robots = rendering.chosen(render_robots, self.num_envs, self.team)
        self._over = np.zeros(self.num_envs, np.bool_)
        self._seeded = np.zeros(self.num_envs, np.bool_)
        self._last_seeds = np.full(self.num_envs, -1, object)

    def _describe(self) -> None:
        """Last part: what others ask."""
        self.metadata = {
            "render_modes": MODES,
            "render_fps": max(round(1.0 / self.dt), 1),
            "autoreset_mode": self.autoreset_mode,
        }

    def _use(self) -> Any:
        """Raises ClosedEnvironmentError after close()."""
        raise NotImplementedError

    @property
    def group(self) -> Group:
        """The robots, with all their fields."""
        raise NotImplementedError

    @property
    def world(self) -> World:
        """Their world."""
        raise NotImplementedError

    @property
    def dt(self) -> float:
        """[s] of one step."""
        raise NotImplementedError

    @property
    def title(self) -> str:
        """Its name for people."""
        raise NotImplementedError

    # ---- checks ----------------------------------------------------------------------------------

    def _mask(self, options: Mapping[str, Any] | None) -> npt.NDArray[np.bool_] | None:
        if options is None:
            return None
        if not isinstance(options, Mapping):
            raise TypeError(f"options: need a dict or None, got {options!r}")
        for name in options:
            if name != "reset_mask":
                hint = near(str(name), ["reset_mask"])
                raise ValueError(f"options: there is no option {name!r}{hint}; known: 'reset_mask'")
        if "reset_mask" not in options:
            return None
        mask = options["reset_mask"]
        if not isinstance(mask, np.ndarray) or mask.dtype != np.bool_:
            kind = mask.dtype if isinstance(mask, np.ndarray) else type(mask).__name__
            raise TypeError(f"reset_mask: need an array of numpy.bool_, got {kind}")
        if mask.shape != (self.num_envs,):
            raise ValueError(f"reset_mask: need shape ({self.num_envs},), got {mask.shape}")
        if not mask.any():
            raise ValueError("reset_mask: need at least one True")
        return np.array(mask, order="C")

    def _seeds(self, seed: object) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.bool_]]:
        """Seeds of all robots, and a mask of those that are given."""
        n = self.num_envs
        if isinstance(seed, (list, tuple, np.ndarray)):
            if len(seed) != n:
                raise ValueError(f"seed: need {n}, one for each robot, got {len(seed)}")
            given = np.array([item is not None for item in seed], np.bool_)
            values = [0 if item is None else whole(item, "seed", 0, 2**64) for item in seed]
            return np.array(values, np.uint64), given
        first = whole(seed, "seed", 0, 2**64 - n + 1)
        return np.arange(n, dtype=np.uint64) + np.uint64(first), np.ones(n, np.bool_)

    def _fresh_seeds(
        self, chosen: npt.NDArray[np.bool_], seed: object
    ) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.bool_]]:
        """Seeds for a reset of the chosen robots, and a mask of those that get one: where it is
        given, and where there never was one.
        """
        if seed is None:
            seeds, given = np.zeros(self.num_envs, np.uint64), np.zeros(self.num_envs, np.bool_)
        else:
            seeds, given = self._seeds(seed)
        VectorEnv.reset(self, seed=int(seeds[0]) if seed is not None and given[0] else None)
        fresh = chosen & ~given & ~self._seeded
        if fresh.any():
            drawn = self.np_random.integers(0, 2**63, self.num_envs, np.uint64)
            seeds[fresh], given[fresh] = drawn[fresh], True
        return seeds, given

    def _started(
        self,
        chosen: npt.NDArray[np.bool_],
        given: npt.NDArray[np.bool_],
        seeds: npt.NDArray[np.uint64],
    ) -> None:
        """Remembers that episodes of the chosen robots have begun."""
        self._seeded |= chosen
        self._last_seeds[chosen & given] = seeds[chosen & given].tolist()
        self._over[chosen] = False

    def _check_begun(self) -> None:
        if not self._seeded.all():
            raise gymnasium.error.ResetNeeded("call reset() before the first step()")

    def _check_ended(self) -> None:
        if self.autoreset_mode == AutoresetMode.DISABLED and self._over.any():
            at = int(np.flatnonzero(self._over)[0])
            raise gymnasium.error.ResetNeeded(
                f"the episode of robot {at} is over: call reset(options={{'reset_mask': "
                "terminated | truncated}) before step()"
            )

    @property
    def np_random_seed(self) -> tuple[int, ...]:  # type: ignore[override]
        """The last seed of each robot, as in SyncVectorEnv; -1: none."""
        return tuple(self._last_seeds.tolist())

    def _actions(self, actions: Any) -> npt.NDArray[np.float32]:
        given = as_array(actions)
        shape = (self.num_envs, self.single_action_space.shape[0])
        if given.dtype.kind != "f":
            raise TypeError(
                f"actions: need float32, got {given.dtype}: use actions.astype(numpy.float32)"
            )
        if given.shape != shape:
            raise ValueError(f"actions: need shape {shape} (robots, actions), got {given.shape}")
        with np.errstate(over="ignore"):  # becomes infinite, which C rejects
            return np.ascontiguousarray(given, np.float32)

    # ---- pictures ------------------------------------------------------------------------------

    def _look(self) -> None:
        """With render_mode="human" every step is shown, as Gymnasium wants it."""
        if self.render_mode == "human":
            self.render()

    def _page(self) -> Viewer:
        if self._viewer is None:
            self._viewer = Viewer(self.world, title=self.title, open=True, restart=False)
            log.info("see it at %s", self._viewer.address)
        return self._viewer

    def render(self) -> tuple[npt.NDArray[np.uint8], ...] | None:
        """Shows the robots, or takes pictures of them.

        "rgb_array": pictures (height, width, 3) of the robots `render_robots`, or of the first
        sixteen robots or teams, from behind. "human": shows all on a page of the browser, in real
        time, and returns None; the page's pause and steps hold this call.

        UnsupportedError: the environment was made without a render_mode.
        """
        self._use()
        if self.render_mode is None:
            raise errors.UnsupportedError(
                "render: make it with render_mode='rgb_array', or 'human' for a page"
            )
        if self.render_mode == "human":
            self._page().update()
            return None
        return self._onlooker.frames(self.group, self._robots)

    def tile(self, columns: int | None = None) -> npt.NDArray[np.uint8]:
        """One picture of those of render(), row by row, of render_mode="rgb_array".

        `columns`: None: as many as rows, or one more.
        """
        frames = self.render() if self.render_mode == "rgb_array" else None
        if not frames:
            raise errors.UnsupportedError("tile: make it with render_mode='rgb_array'")
        return rendering.tile(frames, columns)

    def _close_pictures(self) -> None:
        self._onlooker.close()
        if self._viewer is not None:
            self._viewer.close()
            self._viewer = None

    def __enter__(self) -> Self:
        self._use()
        return self

    def __exit__(self, *failure: object) -> None:
        self.close()

    def __del__(self) -> None:
        pass  # memory is released without close(), in any state of the interpreter
