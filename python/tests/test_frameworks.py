"""Tasks with arrays of PyTorch and JAX: the same numbers, in the same memory."""

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

pytest.importorskip("gymnasium", reason="environments need gymnasium")

import mayfly  # noqa: E402
from mayfly.envs.batch import Spare  # noqa: E402
from mayfly.envs.frameworks import aligned  # noqa: E402
from mayfly.envs.pool import Pool  # noqa: E402


def make_task(model: mayfly.Model) -> mayfly.Task:
    return mayfly.tasks.velocity(model, feet="tibia*").replace(episode_length_s=0.1)


def address(array: np.ndarray) -> int:
    return int(array.__array_interface__["data"][0])


POINTERS: dict[str, Callable[[Any], int]] = {
    "torch": lambda tensor: tensor.data_ptr(),
    "jax": lambda array: array.unsafe_buffer_pointer(),
}
KINDS = {"torch": "Tensor", "jax": "Array"}


@pytest.mark.parametrize("framework", ["torch", "jax"])
def test_the_same_numbers_in_the_same_memory(hexapod: mayfly.Model, framework: str) -> None:
    library = pytest.importorskip("jax.numpy" if framework == "jax" else framework)
    kind = getattr(importlib.import_module(framework), KINDS[framework])
    task, rng = make_task(hexapod), np.random.default_rng(1)
    with (
        task.make(37, autoreset_mode="SameStep") as plain,
        task.make(37, autoreset_mode="SameStep", framework=framework) as envs,
    ):
        expected, _ = plain.reset(seed=1)
        seen, _ = envs.reset(seed=1)
        kept = [(seen, expected.copy())]
        for _ in range(12):
            action = rng.normal(0, 0.5, (37, 18)).astype(np.float32)
            rows = envs.step(library.asarray(action))
            others = plain.step(action)
            assert all(isinstance(one, kind) for one in rows[:4])
            for one, other in zip(rows[1:4], others[1:4]):
                np.testing.assert_array_equal(np.asarray(one), other.astype(np.asarray(one).dtype))
            kept.append((rows[0], others[0].copy()))
            where = POINTERS[framework](rows[0])
            assert where in [address(one) for one in envs._spares["policy"].arrays]
        for one, other in kept:  # what is kept does not change
            np.testing.assert_array_equal(np.asarray(one), other)
        critic = envs.observation_groups["critic"]
        assert isinstance(critic, kind)
        np.testing.assert_array_equal(np.asarray(critic), plain.observation_groups["critic"])
        angles = envs.tensor("joint.angle")
        assert isinstance(angles, kind)
        np.testing.assert_array_equal(np.asarray(angles), plain["joint.angle"])
        with pytest.raises(ValueError, match="needs an environment made with framework='numpy'"):
            Pool(envs, 37, 37)


def test_torch_shares_fields(hexapod: mayfly.Model) -> None:
    torch = pytest.importorskip("torch")
    with make_task(hexapod).make(20, framework="torch") as envs:
        envs.reset(seed=1)
        angles = envs.tensor("joint.angle")
        assert angles.data_ptr() == address(envs["joint.angle"])
        action = torch.zeros((20, 18), requires_grad=True)
        envs.step(action * 2.0)  # a network's output
        assert envs.action.sum() == 0


def test_mistakes(hexapod: mayfly.Model, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="need one of numpy, torch, jax, got 'pytorch', did you"):
        make_task(hexapod).make(2, framework="pytorch")

    def missing(name: str) -> Any:
        raise ImportError(name)

    monkeypatch.setattr(importlib, "import_module", missing)
    with pytest.raises(ImportError, match="framework='torch' needs"):
        make_task(hexapod).make(2, framework="torch")


def test_memory_is_reused_when_nobody_has_it() -> None:
    """Also slices keep it."""
    for shape in ((5,), (3, 7), (64, 48)):
        array = aligned(shape, np.float32)
        assert array.shape == shape and address(array) % 64 == 0 and array.flags.c_contiguous
    spare, like = Spare(), np.zeros((4, 3), np.float32)
    first = spare.like(like)
    part = first[1:]
    first[...] = 1.0
    del first
    other = spare.like(like)
    assert not np.shares_memory(other, part)
    where = address(other)
    del other
    assert address(spare.like(like)) == where


def test_steps_in_compiled_jax(hexapod: mayfly.Model) -> None:
    """A scan over steps gives what the steps give."""
    jax = pytest.importorskip("jax")
    task = make_task(hexapod)
    actions = np.random.default_rng(1).normal(0, 0.5, (12, 37, 18)).astype(np.float32)
    with (
        task.make(37, autoreset_mode="SameStep") as envs,
        task.make(37, autoreset_mode="SameStep") as plain,
    ):
        for one in (envs, plain):
            one.reset(seed=1)
        step = mayfly.envs.jax_step(envs)

        @jax.jit
        def rollout(actions: Any) -> Any:
            return jax.lax.scan(lambda carry, action: (carry, step(action)), None, actions)[1]

        made = [np.asarray(one) for one in rollout(actions)]
        expected = [plain.step(action)[:4] for action in actions]
        ends = 0
        for i, rows in enumerate(expected):
            for one, other in zip(made, rows):
                assert one[i].shape == other.shape
                np.testing.assert_array_equal(one[i], other.astype(one.dtype))
            ends += int(rows[3].sum())
        assert ends > 0 and envs.common_step_counter == 12
        with pytest.raises(Exception, match="actions: that of robot 3 is not a finite number"):
            jax.block_until_ready(rollout(np.where(np.arange(37)[:, None] == 3, np.nan, actions)))
    with (
        task.make(2, framework="jax") as jaxed,
        pytest.raises(mayfly.ArgumentError, match="need an environment with framework"),
    ):
        mayfly.envs.jax_step(jaxed)
