"""Reinforcement learning: proximal policy optimisation (Schulman et al. 2017) in JAX.

    pip install jax gymnasium mujoco
    python ant_by_ppo.py --task Ant-v5 --seconds 600 --target 2000

Learns a task in Mayfly on a processor alone, then does it in Gymnasium's own MuJoCo environment
too, with the same policy: mean returns of both are printed.
"""

from __future__ import annotations

import argparse
import time
from functools import partial
from typing import Any, NamedTuple

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np

import mayfly  # noqa: F401  (Gymnasium then knows its environments)

ROBOTS, HORIZON = 256, 64
EPOCHS, PARTS = 4, 16  # passes over what was seen, and pieces of each
RATE, CLIP, DISCOUNT, TRACE = 4e-4, 0.2, 0.99, 0.95
WIDTH = 64
Array = Any


class Batch(NamedTuple):
    """What robots saw and did; first axis time, second robots."""

    seen: Array
    action: Array
    chance: Array  # logarithm of the action's density
    value: Array
    reward: Array
    ended: Array  # by the task
    over: Array  # ended or cut off
    real: Array  # 0: this step only started an episode


# ---- networks ------------------------------------------------------------------------------------


def layers(rng: np.random.Generator, sizes: list[int], last: float) -> list[tuple[Array, Array]]:
    made = []
    for i, (inputs, outputs) in enumerate(zip(sizes[:-1], sizes[1:])):
        square = rng.normal(size=(max(inputs, outputs), min(inputs, outputs)))
        turn = np.linalg.qr(square)[0]
        turn = turn if inputs >= outputs else turn.T
        scale = last if i == len(sizes) - 2 else 2**0.5
        made.append((jnp.float32(scale * turn), jnp.zeros(outputs, jnp.float32)))
    return made


def run(network: list[tuple[Array, Array]], x: Array) -> Array:
    for weight, bias in network[:-1]:
        x = jnp.tanh(x @ weight + bias)
    return x @ network[-1][0] + network[-1][1]


def density(parameters: dict[str, Any], mean: Array, action: Array) -> Array:
    spread = parameters["spread"]
    off = (action - mean) * jnp.exp(-spread)
    return (-0.5 * off**2 - spread - 0.5 * jnp.log(2 * jnp.pi)).sum(-1)


@jax.jit
def act(parameters: dict[str, Any], seen: Array, key: Array) -> tuple[Array, Array, Array]:
    mean, value = run(parameters["actor"], seen), run(parameters["critic"], seen)[..., 0]
    action = mean + jnp.exp(parameters["spread"]) * jax.random.normal(key, mean.shape)
    return action, density(parameters, mean, action), value


# ---- learning ------------------------------------------------------------------------------------


def loss(parameters: dict[str, Any], part: tuple[Array, ...]) -> Array:
    seen, action, chance, real, gain, target = part
    mean = run(parameters["actor"], seen)
    ratio = jnp.exp(density(parameters, mean, action) - chance)
    gain = (gain - gain.mean()) / (gain.std() + 1e-8)
    worth = jnp.minimum(ratio * gain, jnp.clip(ratio, 1 - CLIP, 1 + CLIP) * gain)
    miss = (run(parameters["critic"], seen)[..., 0] - target) ** 2
    return (real * (0.25 * miss - worth)).mean()


def improve(state: tuple[Any, ...], part: tuple[Array, ...], rate: Array) -> tuple[Any, None]:
    """One step of Adam (Kingma and Ba 2015) with the gradient's length limited."""
    parameters, first, second, count = state
    slope = jax.grad(loss)(parameters, part)
    length = jnp.sqrt(sum((g**2).sum() for g in jax.tree.leaves(slope)))
    slope = jax.tree.map(lambda g: g * jnp.minimum(1, 0.5 / (length + 1e-8)), slope)
    first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, first, slope)
    second = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g**2, second, slope)
    count += 1
    step = rate * jnp.sqrt(1 - 0.999**count) / (1 - 0.9**count)
    parameters = jax.tree.map(
        lambda p, m, v: p - step * m / (jnp.sqrt(v) + 1e-7), parameters, first, second
    )
    return (parameters, first, second, count), None


@partial(jax.jit, donate_argnums=0)
def learn(
    state: tuple[Any, ...], batch: Batch, last: Array, key: Array, rate: Array
) -> tuple[Any, ...]:
    def back(ahead: tuple[Array, Array], now: Batch) -> tuple[tuple[Array, Array], Array]:
        gain, value = ahead
        surprise = now.reward + DISCOUNT * value * (1 - now.ended) - now.value
        gain = surprise + DISCOUNT * TRACE * gain * (1 - now.over)
        return (gain, now.value), gain

    _, gain = jax.lax.scan(back, (jnp.zeros_like(last), last), batch, reverse=True)
    rows = (batch.seen, batch.action, batch.chance, batch.real, gain, gain + batch.value)
    flat = [row.reshape(-1, *row.shape[2:]) for row in rows]
    for turn in jax.random.split(key, EPOCHS):
        order = jax.random.permutation(turn, len(flat[0])).reshape(PARTS, -1)
        parts = tuple(row[order] for row in flat)
        state, _ = jax.lax.scan(partial(improve, rate=rate), state, parts)
    return state


class Scale:
    """Mean and spread of what was seen so far."""

    def __init__(self, width: int) -> None:
        self.count, self.mean, self.variance = 1e-4, np.zeros(width), np.ones(width)

    def add(self, rows: Array) -> None:
        mean, variance, count = rows.mean(0), rows.var(0), len(rows)
        total, off = self.count + count, mean - self.mean
        self.variance = (
            self.variance * self.count + variance * count + off**2 * self.count * count / total
        ) / total
        self.mean, self.count = self.mean + off * count / total, total

    def __call__(self, rows: Array) -> Array:
        return np.float32(np.clip((rows - self.mean) / np.sqrt(self.variance + 1e-8), -10, 10))


def evaluate(name: str, parameters: dict[str, Any], scale: Scale, episodes: int) -> float:
    """Mean return of the policy without noise."""
    mode = {"vectorization_mode": "sync"} if not name.startswith("Mayfly/") else {}
    envs = gymnasium.make_vec(name, num_envs=episodes, **mode)
    seen, _ = envs.reset(seed=10_000)
    total, alive = np.zeros(episodes), np.ones(episodes, bool)
    decide = jax.jit(lambda x: run(parameters["actor"], x))
    while alive.any():
        seen, reward, ended, cut, _ = envs.step(np.asarray(decide(scale(seen))))
        total += reward * alive
        alive &= ~(ended | cut)
    envs.close()
    return float(total.mean())


def main(task: str, seconds: float, target: float, seed: int, most: int = 10**9) -> list[float]:
    envs = gymnasium.make_vec(f"Mayfly/{task}", num_envs=ROBOTS, dtype=np.float32)
    rng, key = np.random.default_rng(seed), jax.random.key(seed)
    width, actions = envs.single_observation_space.shape[0], envs.single_action_space.shape[0]
    parameters = {
        "actor": layers(rng, [width, WIDTH, WIDTH, actions], 0.01),
        "critic": layers(rng, [width, WIDTH, WIDTH, 1], 1.0),
        "spread": jnp.full(actions, -0.5, jnp.float32),
    }
    zeros = jax.tree.map(jnp.zeros_like, parameters)
    state = (parameters, zeros, jax.tree.map(jnp.zeros_like, parameters), 0)
    scale, size = Scale(width), Scale(1)
    raw, _ = envs.reset(seed=1000 * seed)
    over, total, discounted = np.zeros(ROBOTS, bool), np.zeros(ROBOTS), np.zeros(ROBOTS)
    begin, steps, recent, shown = time.monotonic(), 0, [0.0], 0.0
    while time.monotonic() - begin < seconds and np.mean(recent[-100:]) < target and steps < most:
        scale.add(raw)
        rows = []
        for _ in range(HORIZON):
            key, now = jax.random.split(key)
            seen, real = scale(raw), ~over
            action, chance, value = act(state[0], seen, now)
            raw, reward, ended, cut, _ = envs.step(np.asarray(action))
            over = ended | cut
            discounted = DISCOUNT * discounted + reward
            size.add(discounted[:, None])
            discounted[over] = 0
            total += reward
            recent += total[over].tolist()
            total[over] = 0
            scaled = np.float32(reward / np.sqrt(size.variance + 1e-8))
            rows.append((seen, action, chance, value, scaled, ended, over, real))
        scale.add(np.concatenate([raw]))
        batch = Batch(*(np.stack(column).astype(np.float32) for column in zip(*rows)))
        key, now = jax.random.split(key)
        last = act(state[0], scale(raw), now)[2]
        rate = RATE * max(0.1, 1 - (time.monotonic() - begin) / seconds)
        state = learn(state, batch, last, now, jnp.float32(rate))
        steps += ROBOTS * HORIZON
        if time.monotonic() - begin - shown > 10:
            shown = time.monotonic() - begin
            print(f"{shown:5.0f} s  {steps:9d} steps  return {np.mean(recent[-100:]):8.1f}", flush=True)
    envs.close()
    spent = time.monotonic() - begin
    print(f"learned for {spent:.0f} s, {steps} steps: return {np.mean(recent[-100:]):.1f} with noise")
    names = (f"Mayfly/{task}", task)
    returns = [evaluate(name, state[0], scale, 20) for name in names]
    for name, value in zip(names, returns):
        print(f"{name:20s} mean return of 20 episodes without noise {value:8.1f}")
    return returns


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--task", default="Ant-v5")
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--target", type=float, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    main(given.task, given.seconds, given.target, given.seed)
