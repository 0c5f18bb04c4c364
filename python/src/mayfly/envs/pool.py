"""Asynchronous sending of actions and receiving of results, as in EnvPool: while one batch of
robots is simulated, the policy computes actions of another.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium.vector import VectorEnv

from mayfly import errors
from mayfly._sealed import Sealed
from mayfly.arrays import Array, as_array, whole
from mayfly.envs.adapting import Source, need_numpy
from mayfly.envs.task import TaskVectorEnv
from mayfly.envs.vector import MayflyVectorEnv
from mayfly.task import Task

__all__ = ["Pool"]

_QUIT = -1


class Pool(Sealed):
    """Robots in batches that are stepped one after the other by a separate thread.

    Args:
        task: such as "ant", a mayfly.Task, or a list of vector environments of batch_size robots.
        num_envs: robots; of all environments together.
        batch_size: robots returned by one recv(); divides num_envs. None: all robots.
        arguments: of the environments that are made.

    A batch is always the same robots, [0, batch_size), [batch_size, 2 batch_size), ..., in the
    order in which they were sent; robot i with seed s behaves as in a MayflyVectorEnv.

    """

    _replaceable = True

    def __init__(
        self,
        task: Source | Sequence[Any],
        num_envs: int,
        batch_size: int | None = None,
        **arguments: Any,
    ) -> None:
        self.num_envs = whole(num_envs, "num_envs", 1, 2**26 + 1)
        size = self.num_envs if batch_size is None else whole(batch_size, "batch_size", 1, 2**26)
        if self.num_envs % size != 0:
            raise ValueError(f"batch_size: need a divisor of num_envs={num_envs}, got {size}")
        self.batch_size = size
        count = self.num_envs // size
        if isinstance(task, (str, Task)):
            kind = MayflyVectorEnv if isinstance(task, str) else TaskVectorEnv
            self._batches: list[Any] = [kind(task, size, **arguments) for _ in range(count)]  # type: ignore[arg-type]
        else:
            self._batches = [task] if isinstance(task, VectorEnv) else list(task)
            if arguments or [envs.num_envs for envs in self._batches] != count * [size]:
                raise TypeError(
                    f"task: need {count} environments of {size} robots and no arguments, got "
                    f"{[envs.num_envs for envs in self._batches]}"
                )
        for envs in self._batches:
            need_numpy(envs, type(self).__name__)
        first = self._batches[0]
        self.single_observation_space = first.single_observation_space
        self.single_action_space = first.single_action_space
        self.metadata = first.metadata
        self._waiting: queue.SimpleQueue[tuple[int, Any]] = queue.SimpleQueue()
        self._ready: queue.SimpleQueue[tuple[int, Any]] = queue.SimpleQueue()
        self._sent = [False] * len(self._batches)
        self._thread = threading.Thread(target=self._work, name="mayfly pool", daemon=True)
        self._thread.start()
        self.closed = False
        self._seal()

    def _work(self) -> None:
        while True:
            at, job = self._waiting.get()
            if at == _QUIT:
                return
            try:
                self._ready.put((at, job(self._batches[at])))
            except BaseException as failure:  # it is raised by recv()
                self._ready.put((at, failure))

    def _check(self) -> None:
        if self.closed:
            raise errors.ClosedError("Pool is closed: make a new one")

    def _put(self, at: int, job: Any) -> None:
        if self._sent[at]:
            raise errors.BusyError(
                f"robots {at * self.batch_size} .. are still on their way: call recv() first"
            )
        self._sent[at] = True
        self._waiting.put((at, job))

    def async_reset(self, seed: int | Sequence[int] | None = None) -> None:
        """Starts all robots; recv() returns their first observations, batch by batch."""
        self._check()
        for at in range(len(self._batches)):
            first = at * self.batch_size
            part: Any = seed
            if isinstance(seed, (list, tuple, np.ndarray)):
                if len(seed) != self.num_envs:
                    raise ValueError(f"seed: need {self.num_envs} of them, got {len(seed)}")
                part = list(seed[first : first + self.batch_size])
            elif seed is not None:
                part = whole(seed, "seed", 0, 2**64 - self.num_envs) + first
            self._put(at, lambda batch, part=part: _begin(batch, part))

    def send(self, actions: Any, env_id: npt.ArrayLike | None = None) -> None:
        """Sends actions of the robots `env_id` of one batch; None: of all robots."""
        self._check()
        given = as_array(actions)
        size = self.batch_size
        if env_id is None:
            starts = list(range(0, self.num_envs, size))
            if given.shape[:1] != (self.num_envs,):
                raise ValueError(f"actions: need {self.num_envs} rows, got shape {given.shape}")
        else:
            rows = np.asarray(env_id)
            if rows.size == 0 or not np.array_equal(rows, np.arange(size) + rows.flat[0]):
                raise ValueError('env_id: need one batch as recv() gave it: infos["env_id"]')
            starts = [int(rows.flat[0])]
            if starts[0] % size != 0 or not 0 <= starts[0] < self.num_envs:
                raise ValueError('env_id: need one batch as recv() gave it: infos["env_id"]')
        for i, start in enumerate(starts):
            part = given[i * size : (i + 1) * size]
            self._put(start // size, lambda batch, part=part: batch.step(part))

    def recv(self) -> tuple[Array, Array, Array, Array, dict[str, Any]]:
        """Waits for the next batch; infos["env_id"] are its robots."""
        self._check()
        if not any(self._sent):
            raise errors.BusyError("nothing is on its way: call async_reset() or send() first")
        at, result = self._ready.get()
        self._sent[at] = False
        if isinstance(result, BaseException):
            raise result
        result[4]["env_id"] = np.arange(self.batch_size) + at * self.batch_size
        return tuple(result)

    def close(self) -> None:
        """Waits for pending batches and releases the memory; may be called twice."""
        if self.closed:
            return
        self.closed = True
        self._waiting.put((_QUIT, None))
        self._thread.join()
        for batch in self._batches:
            batch.close()

    def __enter__(self) -> Pool:
        self._check()
        return self

    def __exit__(self, *failure: object) -> None:
        self.close()


def _begin(batch: Any, seed: Any) -> tuple[Array, Array, Array, Array, dict[str, Any]]:
    observation, infos = batch.reset(seed=seed)
    n = batch.num_envs
    return observation, np.zeros(n), np.zeros(n, np.bool_), np.zeros(n, np.bool_), infos
