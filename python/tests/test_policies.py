"""Messages and policies: deliveries, percepts, actions, memory, pickles and mistakes."""

import numpy as np
import pytest
from test_docks import world_of_modules
from test_docs import blocks

import mayfly
from conftest import ROOT, goes_on_alike


def count_hops(policy):
    """The first robot sends once; others add one to what they hear, and pass it on."""
    heard = policy.receive("back")
    if heard is not None:
        policy.memory[0] = np.frombuffer(heard.content, np.uint32)[0] + 1
        policy.memory[1] = policy.time
    if heard is not None or (policy.time == 0 and policy.robot == 0):
        policy.send("front", 7, np.array([policy.memory[0]], np.uint32).tobytes())
    policy.memory[2] = policy.percept("base.position")[0]


@pytest.fixture
def world(tmp_path):
    world = world_of_modules(tmp_path, 0.01, [[0.1 * i, 0, 1] for i in range(4)])
    (modules,) = world.groups
    world.add_messages(size=8, capacity=2)
    for i in range(3):
        world.docks.connect((modules, i, "front"), (modules, i + 1, "back"), move=False)
    return world


def test_messages_arrive_one_step_later(world):
    modules = world.groups[0]
    world.messages.send(modules, 0, "front", 3, b"hello")
    assert world.messages.receive(modules, 1) is None
    world.step(1)
    got = world.messages.receive(modules, 1, "back")
    assert got == mayfly.Message(dock=1, type=3, content=b"hello\0\0\0")
    assert world.messages.receive(modules, 1) is None
    assert world.messages.statistics["delivered"] == 1


def test_one_function_runs_on_all(world):
    modules = world.groups[0]
    modules.add_policy(count_hops, percepts=["base.position"], memory=3)
    world.step(5)
    memory = modules["policy.memory"].array
    np.testing.assert_array_equal(memory[:, 0], [0, 1, 2, 3])
    np.testing.assert_allclose(memory[:, 1], [0, 0.01, 0.02, 0.03])
    np.testing.assert_allclose(memory[:, 2], [0, 0.1, 0.2, 0.3], atol=1e-5)


def test_actions(world):
    modules = world.groups[0]

    def let_go(policy):
        policy.act("dock.enabled", 0 if policy.time > 0.025 else 1)

    modules.add_policy(let_go, actions=["dock.enabled"], name="hands")
    world.step(3)
    assert list(world.docks.assemblies()) == [0, 0, 0, 0]
    world.step(1)
    assert list(world.docks.assemblies()) == [0, 1, 2, 3]


def look(policy):
    """A percept of the user's own: a dictionary."""
    states = policy.percept("dock.state")
    return {
        "engaged": int((states == 2).sum()),
        "height": float(policy.percept("base.position")[2]),
    }


def uniform(policy, values):
    """A law of noise of the user's own."""
    return values + (policy.random(3)[:3] / 2**32 - 0.5) * [0, 0, 1]


def halve(policy, values):
    return np.asarray(values) / 2


def remember(policy):
    seen = policy.percept("seen")
    assert policy.percept("seen") is seen
    policy.memory[0] = seen["engaged"]
    policy.memory[1] = seen["height"]
    policy.act("dock.enabled", [2, 2])


def test_percepts_and_noise_of_the_user(world):
    modules = world.groups[0]
    modules.add_policy(
        remember,
        percepts=["dock.state", "base.position"],
        actions=["dock.enabled"],
        noise={"base.position": uniform, "dock.enabled": halve},
        made={"seen": look},
        memory=2,
    )
    heights = []
    for _ in range(100):
        world.step(1)
        heights.append(modules["policy.memory"].array[:, 1].copy())
    np.testing.assert_array_equal(modules["policy.memory"].array[:, 0], [1, 2, 2, 1])
    np.testing.assert_array_equal(modules["dock.enabled"].array, 1)
    assert abs(np.mean(heights) - 1) < 5 / np.sqrt(12 * 400)
    assert abs(np.var(heights) - 1 / 12) < 5 / np.sqrt(180 * 400)
    with pytest.raises(mayfly.ArgumentError, match="made: 'dock.state' is in percepts"):
        modules.add_policy(look, percepts=["dock.state"], made={"dock.state": look}, name="b")
    with pytest.raises(mayfly.ArgumentError, match="noise: 'dock.state' is not in actions"):
        modules.add_policy(look, percepts=["dock.state"], noise={"dock.state": 0.1}, name="b")


def test_pickles_continue(world):
    modules = world.groups[0]
    modules.add_policy(count_hops, percepts=["base.position"], memory=3)
    world.step(2)
    again = goes_on_alike(world, 3)
    assert again.groups[0]["policy.memory"].array[3, 0] == 3


def test_mistakes(world):
    modules = world.groups[0]
    with pytest.raises(mayfly.ArgumentError, match="9 bytes, expected at most 8"):
        world.messages.send(modules, 0, "front", 1, b"123456789")
    with pytest.raises(mayfly.NotFoundError, match="no dock 'nose'"):
        world.messages.send(modules, 0, "nose", 1)
    with pytest.raises(mayfly.NotFoundError, match="no field nothing"):
        modules.add_policy(count_hops, percepts=["nothing"])
    with pytest.raises(mayfly.ArgumentError, match="whole numbers"):
        modules.add_policy(count_hops, actions=["dock.enabled"], noise={"dock.enabled": 1.0})
    with pytest.raises(mayfly.ArgumentError, match="already"):
        world.add_messages()


def test_what_a_function_raises_is_raised(world):
    modules = world.groups[0]

    def fail(policy):
        if policy.robot == 2:
            raise KeyError("lost")

    modules.add_policy(fail)
    with pytest.raises(KeyError, match="lost"):
        world.step(3)
    assert modules.fault[2] == 8  # MF_FAULT_CONTROL
    assert modules.fault[1] == 0


def test_page():
    page = ROOT / "docs" / "how_to" / "modules.md"
    (block,) = (text for text in blocks(page) if "add_policy" in text)
    names = {}
    exec(block, names)
    np.testing.assert_array_equal(names["modules"]["policy.memory"].array.ravel(), range(6))
    assert names["messages"].statistics["overflowed"] == 0
