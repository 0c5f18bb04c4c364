"""Reinforcement learning: proximal policy optimization (Schulman et al. 2017) in JAX.

    pip install jax gymnasium mujoco
    python ant_by_ppo.py --task Ant-v5 --target 2000

Trains a policy in Mayfly on a CPU, then runs it in Gymnasium's own MuJoCo environment. Prints the
mean returns of both.
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

import mayfly  # noqa: F401  (registers the environments of Gymnasium)

# %%
# Steps between two updates, and parameters of an update.
ROBOTS, HORIZON, WIDTH = 256, 64, 64
EPOCHS, PARTS = 4, 16  # passes over the samples, and batches per pass
RATE, CLIP, DISCOUNT, TRACE = 4e-4, 0.2, 0.99, 0.95
Array = Any


class Batch(NamedTuple):
    """Observations and actions; first axis time, second robots."""

    seen: Array
    action: Array
    chance: Array  # logarithm of the action's density
    value: Array
    reward: Array
    ended: Array  # by the task
    over: Array  # ended or cut off
    real: Array  # 0: this step only started an episode


# %%
# Two networks: the actor computes actions, the critic estimates the remaining return.
def layers(key: Array, sizes: list[int], last: float) -> list[tuple[Array, Array]]:
    made = []
    for i, shape in enumerate(zip(sizes[:-1], sizes[1:])):
        make = jax.nn.initializers.orthogonal(last if i == len(sizes) - 2 else 2**0.5)
        made.append((make(jax.random.fold_in(key, i), shape), jnp.zeros(shape[1])))
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
    mean = run(parameters["actor"], seen)
    action = mean + jnp.exp(parameters["spread"]) * jax.random.normal(key, mean.shape)
    return action, density(parameters, mean, action), run(parameters["critic"], seen)[..., 0]


decide = jax.jit(lambda parameters, seen: run(parameters["actor"], seen))


# %%
# The update: increase the probability of actions with a positive advantage, within the clip range.
def loss(parameters: dict[str, Any], part: tuple[Array, ...]) -> Array:
    seen, action, chance, real, gain, target = part
    ratio = jnp.exp(density(parameters, run(parameters["actor"], seen), action) - chance)
    gain = (gain - gain.mean()) / (gain.std() + 1e-8)
    worth = jnp.minimum(ratio * gain, jnp.clip(ratio, 1 - CLIP, 1 + CLIP) * gain)
    miss = (run(parameters["critic"], seen)[..., 0] - target) ** 2
    return (real * (0.25 * miss - worth)).mean()


def improve(state: tuple[Any, ...], part: tuple[Array, ...]) -> tuple[Any, None]:
    """One step of Adam (Kingma and Ba 2015) with the gradient's length limited."""
    parameters, first, second, count = state
    slope = jax.grad(loss)(parameters, part)
    length = jnp.sqrt(sum((g**2).sum() for g in jax.tree.leaves(slope)))
    short = jnp.minimum(1, 0.5 / (length + 1e-8))
    first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * short * g, first, slope)
    second = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * (short * g) ** 2, second, slope)
    count += 1
    step = RATE * jnp.sqrt(1 - 0.999**count) / (1 - 0.9**count)
    change = jax.tree.map(lambda m, v: step * m / (jnp.sqrt(v) + 1e-7), first, second)
    parameters = jax.tree.map(jnp.subtract, parameters, change)
    return (parameters, first, second, count), None


@partial(jax.jit, donate_argnums=0)
def learn(state: tuple[Any, ...], batch: Batch, last: Array, key: Array) -> tuple[Any, ...]:
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
        state, _ = jax.lax.scan(improve, state, tuple(row[order] for row in flat))
    return state


# %%
# Observations are normalized; a policy is evaluated without noise.
class Scale:
    """Mean and standard deviation of all observations so far."""

    def __init__(self, width: int) -> None:
        self.count, self.mean, self.variance = 1e-4, np.zeros(width), np.ones(width)

    def add(self, rows: Array) -> None:
        mean, variance, count = rows.mean(0), rows.var(0), len(rows)
        total, off = self.count + count, mean - self.mean
        shift = off**2 * self.count * count / total
        self.variance = (self.variance * self.count + variance * count + shift) / total
        self.mean, self.count = self.mean + off * count / total, total

    def __call__(self, rows: Array) -> Array:
        return np.float32(np.clip((rows - self.mean) / np.sqrt(self.variance + 1e-8), -10, 10))


def evaluate(name: str, parameters: dict[str, Any], scale: Scale, episodes: int = 20) -> float:
    """Mean return of the policy without noise."""
    envs = gymnasium.make_vec(name, num_envs=episodes)
    seen, _ = envs.reset(seed=10_000)
    total, alive = np.zeros(episodes), np.ones(episodes, bool)
    while alive.any():
        seen, reward, ended, cut, _ = envs.step(np.asarray(decide(parameters, scale(seen))))
        total += reward * alive
        alive &= ~(ended | cut)
    envs.close()
    return float(total.mean())


# %%
# Collect samples, update, evaluate from time to time; finally in Gymnasium's own environment.
def main(task: str, seconds: float, target: float, seed: int) -> tuple[float, float]:
    envs = gymnasium.make_vec(f"Mayfly/{task}", num_envs=ROBOTS, dtype=np.float32)
    key, first, second = jax.random.split(jax.random.key(seed), 3)
    width, actions = envs.single_observation_space.shape[0], envs.single_action_space.shape[0]
    parameters = {
        "actor": layers(first, [width, WIDTH, WIDTH, actions], 0.01),
        "critic": layers(second, [width, WIDTH, WIDTH, 1], 1.0),
        "spread": jnp.full(actions, -0.5),
    }
    state = (parameters, *(jax.tree.map(jnp.zeros_like, parameters) for _ in range(2)), 0)
    scale, size = Scale(width), Scale(1)
    raw, _ = envs.reset(seed=1000 * seed)
    over, discounted = np.zeros(ROBOTS, bool), np.zeros(ROBOTS)
    begin, steps, shown, ours = time.monotonic(), 0, 0.0, 0.0
    while (spent := time.monotonic() - begin) < seconds and ours < target:
        rows = []
        for _ in range(HORIZON):
            key, now = jax.random.split(key)
            scale.add(raw)
            seen, real = scale(raw), ~over
            action, chance, value = act(state[0], seen, now)
            raw, reward, ended, cut, _ = envs.step(np.asarray(action))
            over = ended | cut
            discounted = DISCOUNT * discounted + reward
            size.add(discounted[:, None])
            discounted[over] = 0
            reward = reward / np.sqrt(size.variance + 1e-8)
            rows.append((seen, action, chance, value, reward, ended, over, real))
        batch = Batch(*(np.stack(column).astype(np.float32) for column in zip(*rows)))
        state = learn(state, batch, act(state[0], scale(raw), key)[2], key)
        steps += ROBOTS * HORIZON
        if spent - shown > 20:
            shown, ours = spent, evaluate(f"Mayfly/{task}", state[0], scale)
            print(f"{spent:5.0f} s  {steps:9d} steps  mean return {ours:8.1f}", flush=True)
    envs.close()
    print(f"learned for {spent:.0f} s, {steps} steps; 20 episodes without noise, mean return:")
    ours, theirs = (evaluate(name, state[0], scale) for name in (f"Mayfly/{task}", task))
    print(f"Mayfly {ours:.1f}, Gymnasium's own {theirs:.1f} ({100 * theirs / ours:.0f} %)")
    return ours, theirs


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    for name, value in {"task": "Ant-v5", "seconds": 1200.0, "target": 2000.0, "seed": 1}.items():
        parser.add_argument(f"--{name}", type=type(value), default=value)
    main(**vars(parser.parse_known_args()[0]))  # a notebook has arguments of its own
