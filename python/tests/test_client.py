"""The client of `mayfly serve`: the same bits as in process, subscriptions, services, errors."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import pathlib
from collections.abc import Iterator

import numpy as np
import pytest
from served import ROOT, call, needs_command, serve

import mayfly

pytestmark = needs_command
OPTIONS = ("--port", "0", "--speed", "0", "--paused")
SCENE = """
world: {{step: 0.01}}
groups:
- name: quads
  model: {models}/sun2022.yaml
  count: 20
  controller: none
  placement: {{grid: {{center: [0, 0, 20], spacing: [3, 3, 3]}}}}
"""


@pytest.fixture
def scene(tmp_path: pathlib.Path) -> pathlib.Path:
    path = tmp_path / "quads.yaml"
    path.write_text(SCENE.format(models=ROOT / "models"))
    return path


@pytest.fixture
def address(scene: pathlib.Path) -> Iterator[str]:
    with serve(scene, *OPTIONS) as address:
        yield address


def control(position: np.ndarray) -> np.ndarray:
    return np.float32(0.75) * position


def hash_in_process(scene: pathlib.Path) -> int:
    """That after 50 periods under the same control."""
    own = mayfly.Scene(scene)
    group = own.groups[0]
    for _ in range(50):
        group["command.position"] = control(group["base.position"].array)
        own.step(2)
    return own.hash()


def test_the_same_bits_as_in_process(scene: pathlib.Path, address: str) -> None:
    with mayfly.connect(address) as world:
        assert list(world.groups) == ["quads"]
        quads = world["quads"]
        assert quads.fields["base.position"].unit == "m"
        state = quads.subscribe("base.position", period=0.02)
        turns = world.lock_step(period=0.02, limit=20)
        first = next(turns)
        assert first.tick == 0
        world.pause(False)
        quads.write("command.position", control(state["base.position"]))
        for turn in turns:
            assert state.tick == turn.tick
            if turn.tick == 100:
                found = world.statistics(hash=True)
                break
            quads.write("command.position", control(state["base.position"]))
        assert found.tick == 100 and found.missed == 0 and found.lost == 0
    assert found.hash == hash_in_process(scene)


def fly(address: str, share: bool, has: bool) -> tuple[mayfly.RemoteStatistics, np.ndarray]:
    """Flies a swarm in lock-step; what its last states were, each an array of its own."""
    with mayfly.connect(address, share=share) as world:
        quads = world["quads"]
        state = quads.subscribe("base.position", "base.orientation", "rotor.speed")
        seen = []
        turns = world.lock_step(limit=20)
        next(turns)
        world.pause(False)
        for turn in turns:
            assert state.tick == turn.tick
            seen.append(state["base.orientation"])
            quads.write("command.position", control(state["base.position"]))
            if turn.tick == 20:
                found = world.statistics(hash=True)
                break
        assert state.states == 21 and state.lost == 0
        turns.close()
        world.unsubscribe(state)
        assert world.statistics().is_shared == has  # memory of the writes
        with pytest.raises(ValueError, match="read-only"):
            seen[0][0] = 0
    return found, np.array(seen)


def test_shared_memory_gives_the_same_bits(scene: pathlib.Path, tmp_path: pathlib.Path) -> None:
    scene.write_text(scene.read_text().replace("count: 20", "count: 3000"))
    found = []
    for share, most in ((False, "64"), (True, "64"), (True, "0")):
        options = ("--unix", str(tmp_path / "socket"), "--speed", "0", "--paused")
        with serve(scene, *options, "--shared", most) as address:
            found.append(fly(address, share, share and most != "0"))
    (plain, without), (shared, with_), (refused, refused_) = found
    assert (plain.is_shared, shared.is_shared, refused.is_shared) == (False, True, False)
    assert plain.hash == shared.hash == refused.hash
    assert np.array_equal(without, with_) and np.array_equal(without, refused_)
    assert abs(plain.bytes_out - shared.bytes_out) < 10000  # what the memory carries counts


def test_vehicles_and_gravity_are_described(address: str) -> None:
    with mayfly.connect(address) as world:
        found = world["quads"].describe()
    assert found["vehicle"]["quadrotor"]["mass"] == 0.752
    assert found["vehicle"]["quadrotor"]["rotor_direction"] == [-1, 1, -1, 1]
    assert found["world_gravity"] == [0, 0, -9.81]


def test_services_and_events(address: str) -> None:
    with mayfly.connect(address) as world, mayfly.connect(address) as other:
        image = world.snapshot()
        before = world.statistics(hash=True).hash
        other.watch("restore", "reset")
        world.step(10)
        assert world.statistics(hash=True).hash != before
        world.restore(image)
        assert world.statistics(hash=True).hash == before
        world["quads"].reset(3, 2)
        while len(other.events) < 2:
            other.statistics()
        assert [event.name for event in other.events] == ["restore", "reset"]
        assert other.events[1].instance == 3 and other.events[1].value == 2
        state = other["quads"].subscribe("base.position", "fault.word")
        assert other.wait(state)
        assert state["base.position"].shape == (20, 3)
        assert state["fault.word"].dtype == np.uint32
        assert not other.wait(state, 0.05)  # paused


def test_placing(address: str) -> None:
    with mayfly.connect(address) as world:
        quads = world["quads"]
        half = np.sqrt(0.5)
        state = quads.subscribe("base.position", "base.orientation", "base.linear_velocity")
        world.step(10)
        quads.place([[1, 2, 30], [4, 5, 60]], [half, 0, 0, half], first=3, count=2)
        world.step(1)
        while state.tick < 11:
            world.wait(state)
        assert np.allclose(state["base.position"][3:5], [[1, 2, 30], [4, 5, 60]], atol=0.01)
        assert np.allclose(state["base.orientation"][3:5], [half, 0, 0, half], atol=0.01)
        with pytest.raises(mayfly.ArgumentError):
            quads.place([1, 2, 3], [1, 0, 0, 1])
        with pytest.raises(mayfly.ArgumentError):
            quads.place([1, 2, 3], first=20)


def test_what_is_refused(address: str) -> None:
    with mayfly.connect(address) as world:
        quads = world["quads"]
        with pytest.raises(mayfly.NotFoundError):
            quads.subscribe("base.color")
        with pytest.raises(mayfly.NotFoundError):
            world["cars"]
        with pytest.raises(mayfly.LimitError):
            world.step(0)
        with pytest.raises(mayfly.ArgumentError):
            quads.switch("rigid")
        with pytest.raises(ValueError):
            quads.write("command.position", np.zeros((3, 3)))
        with pytest.raises(mayfly.CorruptError):
            world.restore(b"nothing")
        with pytest.raises(mayfly.ArgumentError, match="base.position"):
            quads.write("base.position", [0, 0, 1])
        field = quads.fields["base.position"]
        quads.fields["base.position"] = dataclasses.replace(field, is_writable=True)
        quads.write("base.position", [0, 0, 1])  # now the server refuses it
        with pytest.raises(mayfly.ArgumentError, match="base.position"):
            world.statistics()
    with pytest.raises(mayfly.OperatingSystemError):
        mayfly.connect("127.0.0.1:1")
    with pytest.raises(mayfly.ArgumentError):
        mayfly.connect("nowhere")


def test_names_of_earlier_fields_lead_to_new_ones() -> None:
    robot = ROOT / "models" / "hexapod.urdf"
    with serve(robot, *OPTIONS) as address, mayfly.connect(address) as world:
        with pytest.raises(mayfly.NotFoundError, match=r"did you mean 'sensor\.value'\?"):
            world["robot"].subscribe("sensor.contact")


def test_models_are_described(tmp_path: pathlib.Path) -> None:
    robot = ROOT / "models" / "humanoid.urdf"
    with serve(robot, *OPTIONS) as address, mayfly.connect(address) as world:
        group = next(iter(world.groups.values()))
        found = group.describe()
    own = json.loads(call("info", "--json", robot).stdout)
    assert [joint["name"] for joint in found["joints"]] == [j["name"] for j in own["joints"]]
    assert found["hash"] == own["hash"] and found["vehicle"] is None
    assert len(found["joints"]) == group.fields["joint.angle"].components


def test_asyncio_steers_with_the_same_bits(scene: pathlib.Path, address: str) -> None:
    async def steer() -> tuple[mayfly.client.RemoteStatistics, list[str]]:
        async with await mayfly.connect_async(address) as world:
            quads = world["quads"]
            await world.watch("pause")
            state = await quads.subscribe("base.position", period=0.02)
            names: list[str] = []

            async def follow() -> None:
                async for event in world.each_event():
                    names.append(event.name)

            following = asyncio.ensure_future(follow())
            turns = world.lock_step(period=0.02, limit=20)
            async for turn in turns:
                if turn.tick == 0:
                    await world.pause(False)
                assert state.tick == turn.tick
                if turn.tick == 100:
                    found = await world.statistics(hash=True)
                    break
                quads.write("command.position", control(state["base.position"]))
            await turns.aclose()
            following.cancel()
            return found, names

    found, names = asyncio.run(steer())
    assert found.missed == 0 and found.lost == 0 and names == ["pause"]
    assert found.hash == hash_in_process(scene)


def test_asyncio_follows_states_while_another_task_asks(address: str) -> None:
    async def follow() -> list[int]:
        async with await mayfly.connect_async(address) as world:
            state = await world["quads"].subscribe("base.position")
            ticks: list[int] = []

            async def take() -> None:
                async for newest in world.each_state(state):
                    ticks.append(newest.tick)
                    if newest.tick >= 5:
                        return

            async def ask() -> None:
                for _ in range(5):
                    await world.step()

            await asyncio.wait_for(asyncio.gather(take(), ask()), 30)
            image = await world.snapshot()
            await world.reset()
            await world.restore(image)
            await world["quads"].reset(3, 2)
            await world.unsubscribe(state)
            assert (await world.statistics()).tick == 5
            assert (await world["quads"].describe())["joints"] == []
            return ticks

    ticks = asyncio.run(follow())
    assert ticks == sorted(set(ticks)) and ticks[-1] == 5


def test_asyncio_errors(address: str) -> None:
    async def fail() -> None:
        world = await mayfly.connect_async(address)
        with pytest.raises(mayfly.NotFoundError):
            await world["quads"].subscribe("base.color")
        with pytest.raises(mayfly.CorruptError):
            await world.restore(b"nothing")
        with pytest.raises(mayfly.ArgumentError):
            await world["quads"].switch("rigid")
        await world.close()
        with pytest.raises(mayfly.ClosedError):
            await world.pause()
        with pytest.raises(mayfly.OperatingSystemError):
            await mayfly.connect_async("127.0.0.1:1")
        with pytest.raises(mayfly.ArgumentError):
            await mayfly.connect_async("nowhere")

    asyncio.run(fail())


@pytest.mark.parametrize("ending", ["h5", "mcap"])
def test_a_record_is_complete_after_sigterm(
    scene: pathlib.Path, tmp_path: pathlib.Path, ending: str
) -> None:
    record, socket = tmp_path / f"record.{ending}", str(tmp_path / "socket")
    options = ["--unix", socket, "--speed", "0", "--paused"]
    with serve(scene, *options, "--record", str(record), "--every", "0.05") as address:
        world = mayfly.connect(address)
        world.step(123)
        state = world["quads"].subscribe("base.position")
        assert world.wait(state)
    world.close()  # it was open when the server ended
    recording = mayfly.Recording(record)
    assert recording.complete and len(recording.time) == 25  # 0 .. 1.2 s; 1.23 s is no sample
    np.testing.assert_allclose(recording.time, 0.05 * np.arange(25), atol=1e-12)
    assert recording["base.position"].values.shape == (25, 20, 3)
