"""Processes, threads, memory: what a long-lived program does to the package."""

import gc
import os
import pathlib
import threading
import time
from collections.abc import Callable

import numpy as np
import pytest

import mayfly
from conftest import FULL, fuzz

Script = Callable[[str], str]

FORK = """
import os, sys, pickle
import mayfly
model = mayfly.Model.from_file("hexapod.urdf")
world = mayfly.World(threads=4)
robots = world.add_group(model, 100, motion="points")
other = mayfly.World()              # of the default context, whose pool runs
other.add_group(model, 100, motion="points")
other.step(10)
world.step(10)
wanted = world.hash()
image = pickle.dumps(world)
import threading, time
stop = False
def keep_it_busy():
    while not stop:
        world.step(50)
stepper = threading.Thread(target=keep_it_busy)
stepper.start()
time.sleep(0.05)
child = os.fork()                  # while another thread has the world
if child == 0:
    code = 1
    try:
        failed = 0
        for use in (lambda: world.step(1), lambda: world.hash(), lambda: robots["joint.angle"],
                    lambda: mayfly.World(context=world.context), lambda: robots.reset()):
            try:
                use()
            except mayfly.ForkError as error:
                failed += "was made in process" in str(error)
        assert failed == 5, failed
        assert robots.model.mass > 0 and world.closed is False
        mine = mayfly.World()                        # a new default context
        mine.add_group(model, 100, motion="points")  # a model may be shared
        mine.step(10)
        assert mine.hash() == wanted
        again = pickle.loads(image)
        assert again.hash() == wanted
        again.step(5)
        world.close(), again.close(), mine.close()
        del world, robots, other
        code = 0
    finally:
        sys.stdout.flush()
        os._exit(code)
pid, status = os.waitpid(child, 0)
stop = True
stepper.join()
assert status == 0, status
world.step(10)
print("fine")
"""

POOL = """
import multiprocessing, sys
import mayfly

def live(seed):
    with mayfly.World(seed=seed) as world:
        group = world.add_group(mayfly.Model.from_file("hexapod.urdf"), 20, motion="points")
        world.step(20)
        return world.hash()

def go_on(world):
    world.step(5)
    return world.hash()

if __name__ == "__main__":
    warm = live(0)
    for method in ("fork", "spawn", "forkserver"):
        with multiprocessing.get_context(method).Pool(2) as pool:
            assert pool.map(live, [0, 1]) == [warm, live(1)], method
            world = mayfly.World()
            world.add_group(mayfly.Model.from_file("hexapod.urdf"), 20, motion="points")
            (there,) = pool.map(go_on, [world])
            assert there == go_on(world), method
    print("fine")
"""


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("text", [FORK, POOL], ids=["fork", "pools"])
def test_processes(script: Script, text: str) -> None:
    script(text)


def test_one_world_from_many_threads(hexapod: mayfly.Model) -> None:
    """Calls wait for each other: as many steps are made as were asked for, none is torn."""
    world = mayfly.World(threads=2)
    group = world.add_group(hexapod, 50, motion="points")
    failures: list[BaseException] = []

    def work() -> None:
        try:
            for _ in range(50):
                world.step(2)
                group["joint.target"] = 0.1
                group["base.position"].array
                world.restore(world.snapshot())
        except BaseException as failure:
            failures.append(failure)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert group["joint.target"].array.min() == np.float32(0.1)
    # Snapshots of a moment between two calls put time back; without them all steps would count.
    assert 0 < world.time <= 4 * 50 * 2 * 0.01
    world.close()


def test_close_waits_for_a_step(hexapod: mayfly.Model) -> None:
    world = mayfly.World()
    world.add_group(hexapod, 200, motion="points")
    stepper = threading.Thread(target=lambda: world.step(3000))
    stepper.start()
    time.sleep(0.01)
    world.close()
    stepper.join()
    assert world.closed


def test_closed_by_another_thread(script: Script) -> None:
    """Everybody gets ClosedError or the truth, whenever the world goes."""
    script("""
import threading, time, mayfly
model = mayfly.Model.from_file("hexapod.urdf")
context = mayfly.Context(1)
seen, wrong = [], []
def inspect_world(world, group):
    uses = [lambda: group["joint.angle"].view.sum(), lambda: group.find("*/joint.rate"),
            lambda: world.hash(), lambda: group["leg1_coxa/joint.angle"].array, lambda: world.time,
            lambda: group.fields, lambda: group.faults, lambda: group.constant("mass")]
    try:
        while True:
            for use in uses:
                use()
            seen.append(1)
    except mayfly.ClosedError:
        pass
    except BaseException as error:
        wrong.append(error)
for number in range(60):
    world = mayfly.World(context=context)
    group = world.add_group(model, 40, motion="points")
    threads = [threading.Thread(target=inspect_world, args=(world, group)) for _ in range(3)]
    for thread in threads:
        thread.start()
    time.sleep(0.0005 * (number % 7))
    world.close()
    for thread in threads:
        thread.join()
del group
assert wrong == [] and len(seen) > 10, (wrong, len(seen))
assert context.live_bytes == 0
print("fine")
""")


def test_others_run_while_it_steps(hexapod: mayfly.Model) -> None:
    with mayfly.World(threads=1) as world:
        world.add_group(hexapod, 2000, motion="articulated")
        counted = 0
        stepper = threading.Thread(target=lambda: world.step(150))
        stepper.start()
        while stepper.is_alive():
            counted += 1
            time.sleep(0)
        assert counted > 50  # held, the interpreter would let this loop go round once or twice


def test_small_stacks(script: Script) -> None:
    script("""
import threading, mayfly
threading.stack_size(256 * 1024)
model = mayfly.Model.from_file("humanoid.urdf")
hashes = []
def live():
    with mayfly.World(step=0.002, threads=1) as world:
        group = world.add_group(model, 40, sensors=True, name="all")
        world.step(20)
        group.reset([3])
        group.set_state(model.standing_position())
        world.step(3)
        hashes.append(world.hash())
for thread in [threading.Thread(target=live) for _ in range(3)]:
    thread.start()
    thread.join()
live()
assert len(set(hashes)) == 1 and len(hashes) == 4, hashes
print("fine")
""")


def test_ctrl_c_stops_a_long_step(script: Script) -> None:
    script("""
import _thread, signal, threading, time, mayfly
signal.signal(signal.SIGINT, signal.default_int_handler)  # which shells take from background jobs
world = mayfly.World()
world.add_group(mayfly.Model.from_file("hexapod.urdf"), 1000, motion="points")
timer = threading.Timer(0.3, _thread.interrupt_main)
timer.start()
begin = time.monotonic()
try:
    world.step(10**12)
except KeyboardInterrupt:
    assert time.monotonic() - begin < 20
    world.step(1)  # whole steps were made, and it goes on
    print("fine")
""")


def test_left_to_the_interpreter(script: Script) -> None:
    """Nothing is closed, cycles included: the end must be quiet."""
    errors = script("""
import mayfly, numpy
context = mayfly.Context(3)
worlds = []
for i in range(5):
    world = mayfly.World(context=context)
    group = world.add_group(mayfly.Model.from_file("hexapod.urdf", context=context), 3)
    world._myself = [world, group, group["joint.angle"].view]
    worlds.append(world)
del worlds[2:4], world, group
import atexit
atexit.register(lambda: worlds[0].step(3))
print("fine")
""")
    assert errors == ""


def resident() -> int:
    """[byte] of memory that this process has."""
    pages = int(pathlib.Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def test_no_growth(hexapod: mayfly.Model, ant: mayfly.Model) -> None:
    """Worlds come and go; the long form (MAYFLY_FULL=1) makes a million of them."""
    context = mayfly.Context(1)
    failing = {"contact_time": -1.0}

    def cycle(number: int) -> None:
        world = mayfly.World(context=context, seed=number)
        group = world.add_group(hexapod, 3, motion="points", controller="oscillator")
        group["oscillator.amplitude"] = 0.3
        world.step(1)
        view = group["base.position"].view
        if number % 50 == 0:
            world.add_group(ant, 2, name="ants", sensors=True)
            with pytest.raises(ValueError):
                world.add_group(ant, 2, name="more", **failing)
            world.restore(world.snapshot())
        if number % 3 == 0:
            world.close()
        del view

    for number in range(300):
        cycle(number)
    gc.collect()
    live, before = context.live_bytes, resident()
    for number in range(1_000_000 if FULL else 2_000):
        cycle(number)
    gc.collect()
    assert context.live_bytes == live == 0
    assert resident() - before < 8 << 20, f"{(resident() - before) / 2**20:.1f} MiB more"


@pytest.mark.parametrize("seed", range(1, 41 if FULL else 5))
def test_nothing_crashes(seed: int) -> None:
    made, refused = fuzz("fuzz_api.py", seed, 20000 if FULL else 6000)
    assert made > 300 and refused > 300
