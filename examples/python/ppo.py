"""A learner in NumPy: proximal policy optimization (Schulman et al. 2017), for the vector
environments of this folder's examples. No other library is needed.

    from ppo import PPO

    learner = PPO(envs)             # made with autoreset_mode="SameStep"
    for log in learner.learn(300):  # means over the episodes that ended in an iteration
        print(log["return"])
    actions = learner.act(observations)
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # more of them compete with those of robots

import numpy as np  # noqa: E402

# %%
# Parameters of an update.
Array = Any
DISCOUNT, TRACE = 0.99, 0.95
CLIP, EPOCHS, PARTS = 0.2, 4, 4  # passes over the samples, and batches per pass
ENTROPY, DIVERGENCE = 0.005, 0.01  # weight of the entropy, and divergence that an update aims at


# %%
# A network, and how its parts move.
class Network:
    """Layers with hyperbolic tangents between them; gradients by hand."""

    def __init__(self, sizes: list[int], last: float, rng: np.random.Generator) -> None:
        self.parts: list[Array] = []
        for i, (a, b) in enumerate(zip(sizes[:-1], sizes[1:])):
            square = np.linalg.qr(rng.normal(size=(max(a, b), max(a, b))))[0][:a, :b]
            gain = last if i == len(sizes) - 2 else 2**0.5
            self.parts += [(gain * square).astype(np.float32), np.zeros(b, np.float32)]

    def __call__(self, x: Array) -> Array:
        self.inputs = [x]
        for i in range(0, len(self.parts), 2):
            x = x @ self.parts[i] + self.parts[i + 1]
            if i < len(self.parts) - 2:
                np.tanh(x, out=x)
                self.inputs.append(x)
        return x

    def gradient(self, slope: Array) -> list[Array]:
        """Of the parts, for the slope of the last output."""
        found: list[Array] = []
        for i in range(len(self.parts) - 2, -1, -2):
            x = self.inputs[i // 2]
            found = [x.T @ slope, slope.sum(axis=0), *found]
            if i > 0:
                slope = slope @ self.parts[i].T
                slope *= 1 - x * x
        return found


class Adam:
    """Steps along gradients (Kingma and Ba 2015) of limited length."""

    def __init__(self, parts: list[Array]) -> None:
        self.parts, self.count = parts, 0
        self.first, self.second = ([np.zeros_like(p) for p in parts] for _ in range(2))

    def step(self, slopes: list[Array], rate: float) -> None:
        self.count += 1
        short = min(1.0, 1.0 / (1e-8 + sum(float((s * s).sum()) for s in slopes) ** 0.5))
        rate *= (1 - 0.999**self.count) ** 0.5 / (1 - 0.9**self.count)
        for part, slope, first, second in zip(self.parts, slopes, self.first, self.second):
            first += 0.1 * (short * slope - first)
            second += 0.001 * ((short * slope) ** 2 - second)
            part -= np.float32(rate) * first / (np.sqrt(second) + 1e-8)


# %%
# The policy and its training.
class PPO:
    """A policy and its training.

    Args:
        envs: a vector environment with AutoresetMode.SAME_STEP. If it has `observation_groups` with
            a group "critic", the estimate of the return reads that group.
        horizon: [step] between two updates.
        width: of both hidden layers.
        seed: of all random numbers.

    """

    def __init__(
        self, envs: Any, horizon: int = 24, width: int = 128, seed: int = 0, spread: float = 1.0
    ) -> None:
        self.envs, self.horizon = envs, horizon
        self.rng = np.random.default_rng(seed)
        self.seen, _ = envs.reset(seed=seed)
        if getattr(envs, "max_episode_length", 0):  # so that episodes end at different times
            length = envs.episode_length_buf
            length[:] = self.rng.integers(0, envs.max_episode_length, len(length))
        actions = envs.single_action_space.shape[0]
        sizes = [width, width]
        self.actor = Network([self.seen.shape[1], *sizes, actions], 0.01, self.rng)
        self.critic = Network([self._privileged().shape[1], *sizes, 1], 1.0, self.rng)
        self.spread = np.full(actions, np.log(spread), np.float32)  # logarithms
        self.steps = [Adam([*self.actor.parts, self.spread]), Adam(self.critic.parts)]
        self.rate = 1e-3

    def act(self, seen: Array) -> Array:
        """Actions without noise, (robots, actions)."""
        return self.actor(seen)

    def _privileged(self) -> Array:
        return getattr(self.envs, "observation_groups", {}).get("critic", self.seen)

    def _density(self, mean: Array, action: Array) -> Array:
        off = (action - mean) * np.exp(-self.spread)
        return (-0.5 * off * off - self.spread - 0.919).sum(axis=1)

    def learn(self, iterations: int) -> Iterator[dict[str, float]]:
        """Trains; yields what was logged in each iteration."""
        for _ in range(iterations):
            begin = time.perf_counter()
            samples, log = self._collect()
            log["collected"] = time.perf_counter() - begin  # [s]
            self._update(*samples)
            log["seconds"] = time.perf_counter() - begin
            yield log

    def _collect(self) -> tuple[list[Array], dict[str, float]]:
        rows, ends, logs = [], [], {}
        returns: list[float] = []
        for _ in range(self.horizon):
            seen, more = self.seen, self._privileged()
            mean, value = self.actor(seen), self.critic(more)[:, 0]
            noise = self.rng.standard_normal(mean.shape, np.float32)
            action = mean + np.exp(self.spread) * noise
            self.seen, reward, ended, cut, infos = self.envs.step(action)
            for name, column in infos.get("final_info", {}).items():
                if not name.startswith("_"):
                    logs.setdefault(name, []).append(column[infos["final_info"]["_" + name]])
            returns.append(float(reward.mean()))
            reward = np.float32(reward + DISCOUNT * value * (cut & ~ended))
            rows.append((seen, more, action, self._density(mean, action), value, mean))
            ends.append((reward, ended | cut))
        ahead, gain = self.critic(self._privileged())[:, 0], np.float32(0)
        gains = []
        for (reward, over), row in zip(reversed(ends), reversed(rows)):
            surprise = reward + DISCOUNT * ahead * ~over - row[4]
            gain, ahead = surprise + DISCOUNT * TRACE * gain * ~over, row[4]
            gains.insert(0, np.float32(gain))
        samples = [np.concatenate(column) for column in zip(*rows)]
        log = {name: float(np.concatenate(parts).mean()) for name, parts in logs.items()}
        return [*samples, np.concatenate(gains)], {"reward": float(np.mean(returns)), **log}

    def _update(
        self, seen: Array, more: Array, action: Array, chance: Array, value: Array, old: Array,
        gain: Array,
    ) -> None:  # fmt: skip
        order = [self.rng.permutation(len(seen)) for _ in range(EPOCHS)]
        parts = [part for one in order for part in np.array_split(one, PARTS)]
        target, gain = gain + value, (gain - gain.mean()) / (gain.std() + 1e-8)
        with ThreadPoolExecutor(1) as other:  # the networks have nothing in common
            done = other.submit(self._estimate, parts, more, target, self.rate)
            self._improve(parts, seen, action, chance, old, gain)
            done.result()

    def _estimate(self, parts: list[Array], more: Array, target: Array, rate: float) -> None:
        """Fits the critic to the returns."""
        for part in parts:
            miss = self.critic(more[part])[:, 0] - target[part]
            slopes = self.critic.gradient(miss[:, None] / np.float32(len(part)))
            self.steps[1].step(slopes, rate)

    def _improve(
        self, parts: list[Array], seen: Array, action: Array, chance: Array, old: Array, gain: Array
    ) -> None:
        """Makes actions of positive gain more likely, within the clip range."""
        was = np.array(self.spread)
        for part in parts:
            mean, size = self.actor(seen[part]), np.float32(len(part))
            off = (action[part] - mean) * np.exp(-self.spread)
            ratio = np.exp(self._density(mean, action[part]) - chance[part])
            move = (mean - old[part]) * np.exp(-self.spread)
            apart = np.exp(2 * (was - self.spread)) + move * move
            divergence = float((self.spread - was + 0.5 * apart - 0.5).sum(axis=1).mean())
            if divergence > 2 * DIVERGENCE:
                self.rate = max(1e-5, self.rate / 1.5)
            elif 0 < divergence < DIVERGENCE / 2:
                self.rate = min(3e-3, self.rate * 1.5)
            free = np.where(gain[part] > 0, ratio < 1 + CLIP, ratio > 1 - CLIP)
            slope = (-gain[part] * ratio * free / size)[:, None]  # of the chance's logarithm
            slopes = self.actor.gradient(slope * off * np.exp(-self.spread))
            slopes.append((slope * (off * off - 1)).sum(axis=0) - np.float32(ENTROPY))
            self.steps[0].step(slopes, self.rate)
