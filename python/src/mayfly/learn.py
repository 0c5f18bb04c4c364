"""Learning policies: proximal policy optimization (Schulman et al. 2017), its update in C.

    learner = mayfly.learn.PPO(task.make(1024, autoreset_mode="SameStep"))
    learner.train(5_000_000, each=lambda log: print(log["reward"]))
    actions = learner.act(observations)

The update gives the same bits with every number of threads and every instruction set.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mayfly import errors
from mayfly._native import call, ffi, lib, real_number
from mayfly._sealed import Sealed
from mayfly.arrays import Array, whole
from mayfly.context import Context, default_context

__all__ = ["PPO"]

_ACTIVATIONS = {"tanh": lib.MF_LEARNER_TANH, "elu": lib.MF_LEARNER_ELU, "relu": lib.MF_LEARNER_RELU}
_RATES = (1e-5, 3e-3)  # [1] range of the learning rate
_RANGES = {
    "rate": _RATES, "discount": (0.0, 1.0), "trace": (0.0, 1.0), "clip": (1e-6, 1.0),
    "entropy": (0.0, 1.0), "divergence": (1e-6, 1.0), "deviation": (1e-6, 1e6),
}  # fmt: skip
Log = dict[str, float]


def _aligned(count: int) -> Array:
    """Zeros in whole cache lines, as C reads parameters."""
    raw = np.zeros(count + 16, np.float32)
    first = -raw.ctypes.data % 64 // 4
    return raw[first : first + count]


def _floats(rows: Array) -> Any:
    return ffi.from_buffer("float[]", rows)


class _Network:
    """The parameters of a multilayer perceptron and the moments of its optimizer."""

    def __init__(self, context: Context, sizes: Sequence[int], activation: str) -> None:
        self.context, self.sizes = context, list(sizes)
        native = self.native = ffi.new("mf_LearnerNetwork *")
        native.layers, native.activation = len(sizes) - 1, _ACTIVATIONS[activation]
        native.sizes[0 : len(sizes)] = self.sizes
        self.state = [_aligned(lib.mf_learner_count(native)) for _ in range(3)]
        native.parameters, native.first, native.second = (
            ffi.cast("float *", part.ctypes.data) for part in self.state
        )
        self.weights: list[Array] = []
        self.biases: list[Array] = []
        for k, (inputs, units) in enumerate(zip(sizes, sizes[1:])):
            begin, end = lib.mf_learner_offset(native, k), lib.mf_learner_offset(native, k + 1)
            rows = self.state[0][begin:end].reshape(-1, lib.mf_learner_stride(units))
            self.weights.append(rows[:inputs, :units])
            self.biases.append(rows[-1, :units])
        begin = lib.mf_learner_offset(native, len(self.weights))
        self.deviations = self.state[0][begin : begin + sizes[-1]]  # logarithms

    def start(self, rng: np.random.Generator, last: float) -> None:
        """Orthogonal weights, those of the last layer times `last`, the others times sqrt(2)."""
        for k, weight in enumerate(self.weights):
            square = np.linalg.qr(rng.normal(size=(max(weight.shape), max(weight.shape))))[0]
            gain = last if k == len(self.weights) - 1 else 2**0.5
            weight[...] = gain * square[: weight.shape[0], : weight.shape[1]]

    def __call__(self, rows: Array) -> Array:
        rows = np.ascontiguousarray(rows, np.float32)
        out = np.empty((len(rows), self.sizes[-1]), np.float32)
        call(
            lib.mf_learner_run, self.context._use(), self.native, _floats(rows), len(rows),
            _floats(out),
        )  # fmt: skip
        return out


class _Scale:
    """The mean and standard deviation of all observations so far."""

    def __init__(self, width: int) -> None:
        self.count = np.zeros(1)
        self.mean, self.variance = np.zeros(width), np.ones(width)

    def add(self, rows: Array) -> None:
        mean, variance, count = rows.mean(0, np.float64), rows.var(0, np.float64), len(rows)
        total, off = self.count + count, mean - self.mean
        self.variance = (
            self.variance * self.count + variance * count + off**2 * self.count * count / total
        ) / total
        self.mean, self.count = self.mean + off * count / total, total

    @property
    def inverse(self) -> Array:
        return 1.0 / np.sqrt(self.variance + 1e-8)

    def __call__(self, rows: Array) -> Array:
        return (rows - np.float32(self.mean)) * np.float32(self.inverse)


def _finite(values: Array, what: str) -> None:
    good = np.isfinite(values).reshape(len(values), -1).all(axis=1)
    if good.all():
        return
    wrong = np.flatnonzero(~good)
    more = f" (and {len(wrong) - 1} more)" if len(wrong) > 1 else ""
    bad = values[wrong[0]].ravel()
    bad = bad[~np.isfinite(bad)][0]
    raise ValueError(f"{what}: need finite numbers, robot {wrong[0]}{more} gets {bad}")


class PPO(Sealed):
    """A policy for the robots of a vector environment, and its training.

    Actor and critic are multilayer perceptrons; actions are normally distributed about what the
    actor computes. After each step the learning rate follows the divergence of the policy from that
    which collected the samples: it falls above twice `divergence` and grows below half of it.

    Args:
        envs: a vector environment with AutoresetMode.SAME_STEP and rows of numbers as observations
            and actions, such as `task.make(1024, autoreset_mode="SameStep")`. If it has
            `observation_groups` with a group "critic", the critic reads that group.
        hidden: units of each hidden layer of both networks, up to 7 layers.
        activation: between layers: "tanh", "elu" or "relu".
        horizon: [step] of each robot between two updates.
        epochs: passes over the samples in an update.
        batches: parts of the samples in a pass, a step of the optimizer for each.
        rate: the learning rate at first, 1e-5 .. 3e-3; it stays in this range.
        discount: of rewards per step, 0 .. 1.
        trace: decay of generalized advantage estimation (Schulman et al. 2016), 0 .. 1.
        clip: the ratio of densities counts within 1 - clip .. 1 + clip.
        entropy: weight of the policy's entropy in the loss.
        divergence: of the policy from that before the update, at which the learning rate aims.
        deviation: standard deviation of actions at first. Too small a one finds less.
        normalize: divides observations by their standard deviation, after their mean is subtracted.
        seed: of all random numbers, and of the environment's first reset.
        context: memory and threads; None: the default context.

    Attributes:
        envs: the environment.
        horizon: steps of each robot between two updates.
        activation: between layers.

    """

    def __init__(
        self,
        envs: Any,
        *,
        hidden: Sequence[int] = (64, 64),
        activation: str = "elu",
        horizon: int = 24,
        epochs: int = 4,
        batches: int = 4,
        rate: float = 1e-3,
        discount: float = 0.99,
        trace: float = 0.95,
        clip: float = 0.2,
        entropy: float = 0.005,
        divergence: float = 0.01,
        deviation: float = 1.0,
        normalize: bool = False,
        seed: int = 0,
        context: Context | None = None,
    ) -> None:
        if activation not in _ACTIVATIONS:
            raise errors.ArgumentError(
                f"activation: need one of {', '.join(_ACTIVATIONS)}, got {activation!r}"
            )
        layers = [whole(units, "hidden", 1, 4097) for units in hidden]
        whole(len(layers), "hidden: number of layers", 0, lib.MF_LEARNER_LAYERS)
        given = (rate, discount, trace, clip, entropy, divergence, deviation)
        for (name, (low, high)), value in zip(_RANGES.items(), given):
            if not low <= real_number(value, name) <= high:
                raise ValueError(f"{name}: need {low:g} .. {high:g}, got {value!r}")
        mode = getattr(envs, "metadata", {}).get("autoreset_mode")
        if getattr(mode, "value", mode) != "SameStep":
            raise errors.ArgumentError(
                f'envs: need autoreset_mode="SameStep", got {getattr(mode, "value", mode)}'
            )
        self.envs, self.horizon = envs, whole(horizon, "horizon", 1, 2**20)
        self._epochs = whole(epochs, "epochs", 1, 1000)
        self._batches = whole(batches, "batches", 1, self.horizon * envs.num_envs + 1)
        self._rate, self._decayed = float(rate), [1.0, 1.0]
        self._discount, self._trace, self._normalize = discount, trace, normalize
        self._clip, self._entropy, self._divergence = clip, entropy, divergence
        self._rng, self._samples = np.random.default_rng(seed), 0
        self._context = default_context() if context is None else context
        self._seen = self._rows(envs.reset(seed=seed)[0], "observations")
        if getattr(envs, "max_episode_length", 0):  # so that episodes end at different times
            length = envs.episode_length_buf
            length[:] = self._rng.integers(0, envs.max_episode_length, len(length))
        widths = [self._seen.shape[1], self._privileged().shape[1]]
        outputs = [int(np.prod(envs.single_action_space.shape)), 1]
        self.activation = activation
        self._actor, self._critic = (
            _Network(self._context, [width, *layers, units], activation)
            for width, units in zip(widths, outputs)
        )
        self._actor.start(self._rng, 0.01)
        self._critic.start(self._rng, 1.0)
        self._actor.deviations[:] = np.log(deviation)
        self._scales = [_Scale(width) for width in widths]
        if normalize:
            self._adapt()
        self._seal()

    # ---- the policy ------------------------------------------------------------------------------

    def act(self, observations: Array) -> Array:
        """Actions without noise, (robots, actions), for observations (robots, observations)."""
        seen = self._rows(observations, "observations")
        if seen.shape[1] != self._actor.sizes[0]:
            raise ValueError(
                f"observations: need shape (n, {self._actor.sizes[0]}), got {seen.shape}"
            )
        return self._actor(self._scaled(seen, 0))

    @property
    def policy(self) -> list[Array]:
        """Weights (inputs, outputs) and biases (outputs,) of each layer, as mayfly.export takes.

        Normalization is contained in the first layer. The activation is `activation`.
        """
        parts = [np.array(p) for both in zip(self._actor.weights, self._actor.biases) for p in both]
        if self._normalize:
            first = parts[0] * self._scales[0].inverse[:, None]
            parts[1] = (parts[1] - self._scales[0].mean @ first).astype(np.float32)
            parts[0] = first.astype(np.float32)
        return parts

    @property
    def samples(self) -> int:
        """Steps of all robots so far."""
        return self._samples

    @property
    def rate(self) -> float:
        """The present learning rate."""
        return self._rate

    @property
    def deviation(self) -> Array:
        """Standard deviations of actions while it trains, (actions,)."""
        return np.exp(self._actor.deviations)

    # ---- training --------------------------------------------------------------------------------

    def train(self, samples: float, each: Callable[[Log], object] | None = None) -> list[Log]:
        """Trains for at least so many more samples, steps of all robots; returns all logs.

        Args:
            samples: at most so many and those of one update more.
            each: called after each update with its log; training ends where it returns True.

        A log has means over the steps of an update: `reward` per step, all of `infos` of episodes
        that ended, `divergence`, `clipped` (share of samples beyond the clip range) and
        `value_loss`; also `rate`, `deviation` (mean of all actions), `samples` so far, `seconds`
        of the update and `collected`, those of the environment and the policy.

        ValueError: a reward or observation is not finite.
        """
        logs: list[Log] = []
        end = self.samples + samples
        while self.samples < end:
            begin = time.perf_counter()
            rows, log = self._collect()
            log["collected"] = time.perf_counter() - begin
            log.update(self._update(*rows))
            log["seconds"] = time.perf_counter() - begin
            log["samples"] = float(self.samples)
            logs.append(log)
            if each is not None and each(log) is True:
                break
        return logs

    def _rows(self, values: Any, what: str) -> Array:
        rows = np.asarray(values)
        if rows.ndim != 2 or rows.dtype.kind not in "fiub":
            raise errors.ArgumentError(
                f"{what}: need rows of numbers, got shape {rows.shape} of {rows.dtype}"
            )
        return np.ascontiguousarray(rows, np.float32)

    def _privileged(self) -> Array:
        groups = getattr(self.envs, "observation_groups", {})
        return np.asarray(groups.get("critic", self._seen), np.float32)

    def _scaled(self, rows: Array, network: int) -> Array:
        return self._scales[network](rows) if self._normalize else rows

    def _adapt(self) -> None:
        for scale, rows in zip(self._scales, (self._seen, self._privileged())):
            scale.add(rows)

    def _collect(self) -> tuple[list[Array], Log]:
        """Samples in rows: inputs of both networks, actions, means, advantages, returns."""
        steps, robots = self.horizon, self.envs.num_envs
        inputs = [np.empty((steps, robots, n.sizes[0]), np.float32) for n in self._both]
        actions, means = np.empty((2, steps, robots, self._actor.sizes[-1]), np.float32)
        values = np.empty((steps + 1, robots), np.float32)
        rewards, over = np.empty((steps, robots), np.float32), np.empty((steps, robots), bool)
        ended: dict[str, list[Array]] = {}
        rewarded = 0.0
        shape = (robots, *self.envs.single_action_space.shape)
        for t in range(steps):
            _finite(self._seen, "observations")
            inputs[0][t] = self._scaled(self._seen, 0)
            inputs[1][t] = self._scaled(self._privileged(), 1)
            means[t], values[t] = self._actor(inputs[0][t]), self._critic(inputs[1][t])[:, 0]
            actions[t] = self._rng.standard_normal(means[t].shape, np.float32)
            actions[t] = means[t] + self.deviation * actions[t]
            seen, reward, failed, cut, infos = self.envs.step(actions[t].reshape(shape))
            reward = np.asarray(reward)
            _finite(reward, "reward")
            rewarded += float(reward.mean()) / steps
            self._seen = self._rows(seen, "observations")
            over[t] = failed | cut
            # What would have followed a cut is worth about what was expected before.
            rewards[t] = reward + self._discount * values[t] * (cut & ~failed)
            final = infos.get("final_info", {})
            for name, column in final.items():
                if "_" + name in final and np.asarray(column).dtype.kind in "fiub":
                    ended.setdefault(name, []).append(column[final["_" + name]])
            if self._normalize:
                self._adapt()
        values[-1] = self._critic(self._scaled(self._privileged(), 1))[:, 0]
        gains = self._gains(rewards, values, over)
        self._samples += steps * robots
        log = {name: float(np.concatenate(parts).mean()) for name, parts in ended.items()}
        rows = [*inputs, actions, means, gains, gains + values[:-1]]
        return [part.reshape(steps * robots, -1) for part in rows], {"reward": rewarded, **log}

    @property
    def _both(self) -> tuple[_Network, _Network]:
        return self._actor, self._critic

    def _gains(self, rewards: Array, values: Array, over: Array) -> Array:
        """Advantages of actions, by generalized advantage estimation."""
        gains = np.empty_like(rewards)
        gain = np.zeros_like(rewards[0])
        discount, decay = np.float32(self._discount), np.float32(self._discount * self._trace)
        for t in reversed(range(len(rewards))):
            on = ~over[t]
            gain = rewards[t] + discount * values[t + 1] * on - values[t] + decay * gain * on
            gains[t] = gain
        return gains

    def _update(
        self, seen: Array, more: Array, actions: Array, means: Array, gains: Array, returns: Array
    ) -> Log:
        count = len(seen)
        order = np.array([self._rng.permutation(count) for _ in range(self._epochs)], np.uint32)
        # Sums one by one: other orders depend on the processor.
        mean = np.add.accumulate(gains[:, 0], dtype=np.float64)[-1] / count
        square = np.add.accumulate((gains[:, 0] - mean) ** 2, dtype=np.float64)[-1] / count
        gains = ((gains - mean) / (np.sqrt(square) + 1e-8)).astype(np.float32)
        update = ffi.new("mf_LearnerUpdate *")
        update.actor, update.critic = self._actor.native[0], self._critic.native[0]
        update.samples, update.epochs, update.batches = count, self._epochs, self._batches
        update.order = alive = ffi.from_buffer("uint32_t[]", order)
        columns = [_floats(part) for part in (seen, more, actions, means, gains, returns)]
        update.actor_inputs, update.critic_inputs, update.actions, update.means = columns[:4]
        update.advantages, update.returns = columns[4:]
        update.clip, update.entropy, update.longest = self._clip, self._entropy, 1.0
        update.divergence, update.rate = self._divergence, self._rate
        update.least_rate, update.most_rate = _RATES
        update.decayed[0:2] = self._decayed
        call(lib.mf_learner_update, self._context._use(), update)
        del alive
        self._rate, self._decayed = float(update.rate), list(update.decayed)
        if not all(np.isfinite(network.state[0]).all() for network in self._both):
            raise errors.MayflyError(
                f"learner: parameters are not finite after {self.samples} samples"
            )
        return {
            "divergence": float(update.found_divergence), "clipped": float(update.clipped),
            "value_loss": float(update.value_loss), "rate": self._rate,
            "deviation": float(self.deviation.mean()),
        }  # fmt: skip

    # ---- files -----------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes networks, optimizer, normalization and random numbers to a file (.npz).

        The environment's state is not in it.
        """
        state = {
            "rate": self._rate, "decayed": self._decayed, "samples": self._samples,
            "random": self._rng.bit_generator.state, "layout": self._layout(),
        }  # fmt: skip
        arrays: dict[str, Any] = {"state": np.array(json.dumps(state))}
        for name, network, scale in zip(("actor", "critic"), self._both, self._scales):
            arrays[f"{name}.parameters"], arrays[f"{name}.first"], arrays[f"{name}.second"] = (
                network.state
            )
            arrays[f"{name}.count"] = scale.count
            arrays[f"{name}.mean"], arrays[f"{name}.variance"] = scale.mean, scale.variance
        with open(path, "wb") as file:
            np.savez(file, **arrays)

    def load(self, path: str | os.PathLike[str]) -> None:
        """Reads what save() wrote; the environment goes on from its present state.

        ValueError: the file is of other layers, activation or normalization.
        """
        with np.load(path) as arrays:
            if "state" not in arrays:
                raise ValueError(f"{os.fspath(path)}: need a file that PPO.save wrote")
            state = json.loads(str(arrays["state"]))
            if state["layout"] != self._layout():
                raise ValueError(
                    f"{os.fspath(path)}: is of {state['layout']}, need {self._layout()}"
                )
            for name, network, scale in zip(("actor", "critic"), self._both, self._scales):
                for part, field in zip(network.state, ("parameters", "first", "second")):
                    part[...] = arrays[f"{name}.{field}"]
                scale.count = arrays[f"{name}.count"]
                scale.mean, scale.variance = arrays[f"{name}.mean"], arrays[f"{name}.variance"]
        self._rate, self._decayed, self._samples = state["rate"], state["decayed"], state["samples"]
        self._rng.bit_generator.state = state["random"]

    def _layout(self) -> str:
        sizes = (" - ".join(map(str, network.sizes)) for network in self._both)
        more = ", normalized" if self._normalize else ""
        return f"{' and '.join(sizes)} units, {self.activation}{more}"

    def __repr__(self) -> str:
        return f"<PPO: {self._layout()}, {self.samples} samples>"
