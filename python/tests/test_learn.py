"""mayfly.learn against an implementation in NumPy and against finite differences."""

from __future__ import annotations

import pathlib
from typing import Any

import numpy as np
import pytest

import mayfly

gymnasium = pytest.importorskip("gymnasium")

CLIP, ENTROPY, AIM = 0.2, 0.01, 0.02


class Line(gymnasium.vector.VectorEnv):  # type: ignore[misc, name-defined]
    """A point on a line: the reward is high where the action is the observation."""

    metadata = {"autoreset_mode": gymnasium.vector.AutoresetMode.SAME_STEP}

    def __init__(self, robots: int = 16, seen: int = 5, actions: int = 2) -> None:
        box = gymnasium.spaces.Box
        self.num_envs, self.seen = robots, seen
        self.single_observation_space = box(-1, 1, (seen,), np.float32)
        self.single_action_space = box(-1, 1, (actions,), np.float32)
        self.bad: tuple[str, int] | None = None
        self.count = 0

    def _draw(self) -> np.ndarray:
        return self.rng.uniform(-1, 1, (self.num_envs, self.seen)).astype(np.float32)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        self.rng = np.random.default_rng(seed)
        self.now = self._draw()
        return self.now, {}

    def step(self, actions: np.ndarray) -> Any:
        reward = -((actions - self.now[:, : actions.shape[1]]) ** 2).sum(axis=1)
        self.now, self.count = self._draw(), self.count + 1
        if self.bad == ("reward", self.count):
            reward[3:5] = np.nan
        if self.bad == ("observations", self.count):
            self.now[2, 1] = np.inf
        over = np.full(self.num_envs, self.count % 5 == 0)
        return self.now, reward, over, ~over & (self.count % 7 == 0), {}


# ---- another implementation ----------------------------------------------------------------------


def bend(x: np.ndarray, kind: str) -> np.ndarray:
    if kind == "tanh":
        return np.tanh(x)
    return np.where(x > 0, x, np.expm1(np.minimum(x, 0)) if kind == "elu" else 0)


def forward(parts: list[np.ndarray], x: np.ndarray, kind: str) -> list[np.ndarray]:
    values = [x]
    for i in range(0, len(parts), 2):
        x = x @ parts[i] + parts[i + 1]
        x = bend(x, kind) if i < len(parts) - 2 else x
        values.append(x)
    return values


def backward(
    parts: list[np.ndarray], values: list[np.ndarray], slope: np.ndarray, kind: str
) -> list[np.ndarray]:
    found: list[np.ndarray] = []
    for i in range(len(parts) - 2, -1, -2):
        x = values[i // 2]
        found = [x.T @ slope, slope.sum(axis=0), *found]
        steep = 1 - x**2 if kind == "tanh" else np.where(x > 0, 1, x + 1 if kind == "elu" else 0)
        slope = slope @ parts[i].T * steep
    return found


def density(mean: np.ndarray, spread: np.ndarray, action: np.ndarray) -> np.ndarray:
    return (-0.5 * ((action - mean) * np.exp(-spread)) ** 2 - spread).sum(axis=1)


def actor_loss(
    parts: list[np.ndarray], rows: tuple[np.ndarray, ...], was: np.ndarray, kind: str
) -> float:
    """The clipped loss as it is written in the paper; the last part is the deviations."""
    seen, action, old, gain = rows
    mean = forward(parts[:-1], seen, kind)[-1]
    ratio = np.exp(density(mean, parts[-1], action) - density(old, was, action))
    worth = np.minimum(ratio * gain, np.clip(ratio, 1 - CLIP, 1 + CLIP) * gain)
    return float(-worth.mean() - ENTROPY * parts[-1].sum())


def actor_slopes(
    parts: list[np.ndarray], rows: tuple[np.ndarray, ...], was: np.ndarray, kind: str
) -> tuple[list[np.ndarray], float, float]:
    """Also the divergence and the share of clipped samples."""
    seen, action, old, gain = rows
    values = forward(parts[:-1], seen, kind)
    off = (action - values[-1]) * np.exp(-parts[-1])
    ratio = np.exp(density(values[-1], parts[-1], action) - density(old, was, action))
    free = np.where(gain > 0, ratio < 1 + CLIP, ratio > 1 - CLIP)
    slope = (-gain * ratio * free / len(gain))[:, None]
    slopes = backward(parts[:-1], values, slope * off * np.exp(-parts[-1]), kind)
    slopes.append((slope * (off**2 - 1)).sum(axis=0) - ENTROPY)
    move = (values[-1] - old) * np.exp(-parts[-1])
    apart = parts[-1] - was + 0.5 * (np.exp(2 * (was - parts[-1])) + move**2) - 0.5
    return slopes, float(apart.sum(axis=1).mean()), 1 - float(free.mean())


class Adam:
    def __init__(self, parts: list[np.ndarray]) -> None:
        self.count = 0
        self.first, self.second = ([np.zeros_like(p) for p in parts] for _ in range(2))

    def step(self, parts: list[np.ndarray], slopes: list[np.ndarray], rate: float) -> None:
        self.count += 1
        short = min(1.0, 1.0 / (1e-8 + sum(float((s**2).sum()) for s in slopes) ** 0.5))
        for i, slope in enumerate(slopes):
            self.first[i] = 0.9 * self.first[i] + 0.1 * short * slope
            self.second[i] = 0.999 * self.second[i] + 0.001 * (short * slope) ** 2
            first = self.first[i] / (1 - 0.9**self.count)
            second = self.second[i] / (1 - 0.999**self.count)
            # The moments are corrected after the small number is added.
            small = 1e-8 / (1 - 0.999**self.count) ** 0.5
            parts[i] -= rate * first / (np.sqrt(second) + small)


def make(envs: Line, **settings: Any) -> mayfly.learn.PPO:
    return mayfly.learn.PPO(
        envs, hidden=(40, 17), entropy=ENTROPY, divergence=AIM, clip=CLIP, **settings
    )


def parts_of(network: Any) -> list[np.ndarray]:
    return [np.array(p, np.float64) for both in zip(network.weights, network.biases) for p in both]


def samples(learner: mayfly.learn.PPO, count: int, rng: np.random.Generator) -> list[np.ndarray]:
    """Observations, actions and means near those of the policy, advantages, returns."""
    seen = rng.normal(size=(count, 5)).astype(np.float32)
    mean = learner.act(seen) + 0.1 * rng.normal(size=(count, 2))
    action = mean + learner.deviation * rng.normal(size=mean.shape)
    gain, target = rng.normal(size=(2, count, 1))
    return [np.float32(x) for x in (seen, seen, action, mean, gain, target)]


@pytest.mark.parametrize("kind", ["tanh", "elu", "relu"])
def test_update(kind: str) -> None:
    """Six steps of both networks, of batches that are no whole blocks and several parts."""
    learner = make(Line(), activation=kind, epochs=2, batches=3, seed=3, deviation=0.7)
    rng = np.random.default_rng(1)
    rows = samples(learner, 2999, rng)
    actor, critic = learner._both
    for network in learner._both:  # not next to the start, where the last layer is small
        for weight, bias in zip(network.weights, network.biases):
            weight += 0.1 * rng.normal(size=weight.shape).astype(np.float32)
            bias += 0.1 * rng.normal(size=bias.shape).astype(np.float32)
    parts = [*parts_of(actor), np.array(actor.deviations, np.float64)]
    values, was, rate = parts_of(critic), np.array(actor.deviations, np.float64), learner.rate
    steps, logs = (Adam(parts), Adam(values)), []
    drawn = np.random.default_rng()
    drawn.bit_generator.state = learner._rng.bit_generator.state
    orders = [drawn.permutation(2999) for _ in range(2)]
    seen, _, action, old, gain, target = (np.float64(x) for x in rows)
    gain = ((gain - gain.mean()) / gain.std())[:, 0]
    for order in orders:
        for b in range(3):
            chosen = order[2999 * b // 3 : 2999 * (b + 1) // 3]
            batch = (seen[chosen], action[chosen], old[chosen], gain[chosen])
            slopes, apart, clipped = actor_slopes(parts, batch, was, kind)
            rate = rate / 1.5 if apart > 2 * AIM else rate * 1.5 if apart < AIM / 2 else rate
            rate = min(max(rate, 1e-5), 3e-3)
            layers = forward(values, seen[chosen], kind)
            miss = layers[-1] - target[chosen]
            steps[1].step(values, backward(values, layers, miss / len(chosen), kind), rate)
            steps[0].step(parts, slopes, rate)
            logs.append((apart, clipped, 0.5 * float((miss**2).mean())))
    log = learner._update(*rows)
    found = [log["divergence"], log["clipped"], log["value_loss"], log["rate"]]
    np.testing.assert_allclose(found, [*np.mean(logs, axis=0), rate], rtol=1e-4, atol=1e-3)
    for network, expected in ((actor, parts), (critic, values)):
        for one, other in zip(parts_of(network), expected):
            np.testing.assert_allclose(one, other, atol=2e-5)
    np.testing.assert_allclose(actor.deviations, parts[-1], atol=2e-6)


@pytest.mark.parametrize("kind", ["tanh", "elu"])
def test_gradient(kind: str) -> None:
    """After one step the first moment is a tenth of the gradient: that of finite differences."""
    learner = mayfly.learn.PPO(
        Line(), hidden=(6, 4), activation=kind, epochs=1, batches=1, entropy=ENTROPY, seed=2
    )
    rng = np.random.default_rng(5)
    rows = samples(learner, 200, rng)
    rows[2] = rows[3] + 1.5 * rng.normal(size=rows[2].shape).astype(np.float32)  # some are clipped
    actor, critic = learner._both
    actor.weights[-1][...] = 0.5 * rng.normal(size=(4, 2))
    gain = np.float64(rows[4][:, 0])
    batch = (
        *(np.float64(x) for x in (rows[0], rows[2], rows[3])),
        (gain - gain.mean()) / gain.std(),
    )
    parts, was = [*parts_of(actor), np.zeros(2)], np.zeros(2)
    values = parts_of(critic)

    def critic_loss(now: list[np.ndarray]) -> float:
        return 0.5 * float(((forward(now, batch[0], kind)[-1] - rows[5]) ** 2).mean())

    losses = {0: lambda now: actor_loss(now, batch, was, kind), 1: critic_loss}
    expected = {0: [np.zeros_like(p) for p in parts], 1: [np.zeros_like(p) for p in values]}
    for which, now in ((0, parts), (1, values)):
        for part, slope in zip(now, expected[which]):
            for index in np.ndindex(part.shape):
                here = part[index]
                part[index] = here + 1e-6
                above = losses[which](now)
                part[index] = here - 1e-6
                slope[index] = (above - losses[which](now)) / 2e-6
                part[index] = here
    learner._update(*rows)
    for which, network in enumerate(learner._both):
        length = sum(float((s**2).sum()) for s in expected[which]) ** 0.5
        network.state[0][:] = network.state[1]  # so that the views show the moment
        found = [*parts_of(network), *([np.array(network.deviations)] if which == 0 else [])]
        for one, other in zip(found, expected[which]):
            np.testing.assert_allclose(10 * one, other * min(1, 1 / length), atol=3e-6)


# ---- training ------------------------------------------------------------------------------------


@pytest.mark.parametrize("normalize", [False, True])
def test_trains(normalize: bool, tmp_path: pathlib.Path) -> None:
    learner = make(Line(64), horizon=8, deviation=0.5, normalize=normalize, seed=1)
    logs = learner.train(64 * 8 * 60)
    assert len(logs) == 60 and learner.samples == 64 * 8 * 60 == logs[-1]["samples"]
    before, after = (np.mean([log["reward"] for log in part]) for part in (logs[:5], logs[-5:]))
    assert before < -0.8 and after > -0.2, (before, after)
    seen = np.random.default_rng(3).uniform(-1, 1, (100, 5)).astype(np.float32)
    np.testing.assert_allclose(learner.act(seen), seen[:, :2], atol=0.35)
    np.testing.assert_allclose(
        forward(learner.policy, seen, learner.activation)[-1], learner.act(seen), atol=1e-5
    )

    learner.save(tmp_path / "policy.npz")
    other = make(Line(64), horizon=8, normalize=normalize, seed=9)
    other.load(tmp_path / "policy.npz")
    assert (other.act(seen) == learner.act(seen)).all() and other.samples == learner.samples
    for one in (learner, other):  # both go on from the same
        one._seen = one.envs.reset(seed=4)[0]
        one.envs.count = 0
        one.train(1000)
    assert (other.act(seen) == learner.act(seen)).all() and other.rate == learner.rate
    with pytest.raises(ValueError, match=r"policy.npz: is of 5 - 40 - 17 - 2 and .*, need 5 - 8"):
        mayfly.learn.PPO(Line(), hidden=[8]).load(tmp_path / "policy.npz")


def test_threads() -> None:
    found = []
    for threads in (1, 2):
        learner = make(Line(512), context=mayfly.Context(threads=threads), seed=1)
        learner.train(512 * 24 * 2)
        found.append(np.concatenate([part for n in learner._both for part in n.state]))
    assert (found[0] == found[1]).all()


def test_train_ends_where_each_says() -> None:
    logs: list[float] = []

    def each(log: dict[str, float]) -> bool:
        logs.append(log["seconds"])
        return len(logs) == 2

    assert len(make(Line()).train(1e9, each=each)) == 2


def test_mistakes() -> None:
    envs = Line()
    envs.bad = ("reward", 3)
    with pytest.raises(ValueError, match=r"^reward: need finite numbers, robot 3 \(and 1 more\)"):
        make(envs).train(1e4)
    envs = Line()
    envs.bad = ("observations", 3)
    with pytest.raises(ValueError, match="^observations: need finite numbers, robot 2 gets inf$"):
        make(envs).train(1e4)
    with pytest.raises(mayfly.ArgumentError, match="need one of tanh, elu, relu, got 'gelu'"):
        make(Line(), activation="gelu")
    with pytest.raises(ValueError, match=r"discount: need 0 .. 1, got 1.5"):
        make(Line(), discount=1.5)
    with pytest.raises(ValueError, match=r"batches: need 1 .. 384, got 385"):
        make(Line(), batches=385)
    with pytest.raises(ValueError, match=r"hidden: number of layers: need 0 .. 7, got 8"):
        mayfly.learn.PPO(Line(), hidden=[4] * 8)
    with pytest.raises(ValueError, match=r"observations: need shape \(n, 5\), got \(3, 4\)"):
        make(Line()).act(np.zeros((3, 4)))
    envs = Line()
    envs.metadata = {"autoreset_mode": gymnasium.vector.AutoresetMode.NEXT_STEP}
    with pytest.raises(mayfly.ArgumentError, match='need autoreset_mode="SameStep", got NextStep'):
        make(envs)
    with pytest.raises(AttributeError, match="read-only"):
        make(Line()).rate = 1.0
