"""Calls the package at random with random arguments (fuzz.py)."""

import numpy as np
from fuzz import fuzz, pick, rng

import mayfly

FILES = ["hexapod.urdf", "ant.xml", "ball.xml", "tumbler.xml", "stack.xml", "figure.xml"]
models = [mayfly.Model.from_file(file) for file in FILES]
NAMES = [
    *"""
        base.position joint.angle joint.target fault.word sensor.value contact.load
        leg1_coxa/joint.angle base.position.z gp.program motion.level oscillator.frequency
        network.weight * / a/b/c joint.angle[3] base.position[99] base.orientation
        actuator.control
    """.split(),
    "",
    "\u00e9",
    "x" * 5000,
]
ARRAYS = [
    0,
    1,
    -1,
    0.5,
    float("nan"),
    float("inf"),
    1e308,
    2**70,
    [],
    [[]],
    [1, 2, 3],
    "abc",
    None,
    b"bytes",
    np.zeros(0),
    np.zeros((3, 3)),
    np.ones(18),
    np.zeros((7, 18), np.float32),
    np.full((7, 3), np.nan),
    np.array(["a"]),
    np.array([1 + 2j]),
    object(),
    {},
    True,
    np.zeros((2, 2, 2, 2)),
    np.array(3),
    [1, 0, 0, 0],
    np.zeros((7, 18))[::-1],
    np.asfortranarray(np.ones((7, 18))),
    np.ma.masked_array([1.0, 2.0, 3.0]),
]
KEYS = [
    0,
    -1,
    6,
    7,
    10**9,
    -8,
    slice(None),
    slice(5, 1),
    slice(None, None, -2),
    Ellipsis,
    None,
    [],
    [0, 0],
    [1, 2],
    [99],
    np.zeros(7, bool),
    np.ones(7, bool),
    np.ones(3, bool),
    (0, 0),
    (slice(None), 2),
    (1, 2, 3, 4),
    "a",
    1.5,
    (),
    (Ellipsis, Ellipsis),
    np.array([[0, 1]]),
    ([0, 1], [1, 0]),
    np.array([2], np.int8),
    True,
]
NUMBERS = [
    0,
    1,
    2,
    3,
    5,
    -1,
    0.001,
    0.01,
    1.5,
    2**31,
    2**32,
    2**63,
    2**64,
    float("nan"),
    float("inf"),
    -1e300,
    "1",
    None,
    True,
    1e-9,
    np.float32(0.01),
    np.int64(4),
    [1],
    1j,
]
WORDS = [
    *"""
        points articulated rigid prescribed kinematic external float double gp oscillator
        network freeze reset x
    """.split(),
    "",
    None,
    3,
    ["points", "articulated"],
    [],
    ["x"],
    ("rigid", "rigid"),
    True,
]
SETTINGS = """
    motion sensors controller precision isolated fault_policy spacing friction
    contact_time integrator shapes sweeps servo servos feet points gp gaits nothing
    joint_interval compliance pushable
""".split()
worlds, groups, fields, images, kept = [], [], [], [], []


def value():
    return (
        pick([NUMBERS, WORDS, ARRAYS, NAMES])[0]
        if rng.random() < 0.1
        else pick(pick([NUMBERS, WORDS, ARRAYS, KEYS, NAMES]))
    )


def new_world():
    more = {
        pick(["step", "seed", "gravity", "terrain", "threads", "isa", "gravity_direction"]): pick(
            NUMBERS[:8] + NUMBERS[13:]
        )
        for _ in range(rng.randrange(3))
    }
    if more.get("threads") in (2**31, 2**32, 2**63):
        return
    worlds.append(mayfly.World(**more))


def new_group():
    more = {pick(SETTINGS): value() for _ in range(rng.randrange(3))}
    if rng.random() < 0.7:
        more.setdefault("motion", pick(["points", "articulated", "rigid"]))
    group = pick(worlds).add_group(
        pick(models),
        pick([1, 7, 7, 7, 33, 0, -3, 1.5, 2**40, None, "7"]),
        name=pick(["a", "b", "c", "d" * 300, "", 7]),
        **more,
    )
    groups.append(group)


def write():
    field = pick(fields)
    field[pick(KEYS)] = pick(ARRAYS)


def raw():
    view = pick(fields).view
    kept.append(view)
    if view.flags.writeable and view.size and rng.random() < 0.3:
        view[...] = pick([0, 1, float("nan"), 1e30, -5])


def snapshot():
    images.append(pick(worlds).snapshot())


def restore():
    image = bytearray(pick(images))
    if rng.random() < 0.5 and image:
        image[rng.randrange(len(image))] ^= 1 << rng.randrange(8)
    if rng.random() < 0.2:
        image = image[: rng.randrange(len(image) + 1)]
    pick(worlds).restore(image)


def evaluate():
    joints = pick([0, 3, 18])
    batch = pick(
        [
            mayfly.Programs(np.random.default_rng(rng.randrange(99)).integers(0, 256, (3, 32))),
            mayfly.Oscillators(pick(ARRAYS), pick(ARRAYS), pick(ARRAYS))
            if rng.random() < 0.5
            else mayfly.Oscillators(np.ones((2, joints)), 0.0, 1.0),
        ]
    )
    mayfly.evaluate(
        pick(models),
        batch,
        pick([0.05, 0.1, -1, float("nan"), None]),
        pick([0, [1, 2], [], "x"]),
        pick(WORDS),
        fitness=pick(["distance", "x", len]),
        descriptors=pick([(), ["duty"], "height", 3]),
    )


ACTIONS = [
    (2, new_world),
    (4, new_group),
    (6, write),
    (3, raw),
    (2, snapshot),
    (2, restore),
    (1, evaluate),
    (6, lambda: fields.append(pick(groups)[pick(NAMES)])),
    (6, lambda: pick(worlds).step(pick([0, 1, 2, 3, 7, -1, 1.5, None, "x", 2**64, np.int32(2)]))),
    (2, lambda: pick(worlds).run(pick([0, 0.01, 0.05, -1, float("nan"), "x", float("inf")]))),
    (3, lambda: pick(fields)[pick(KEYS)]),
    (2, lambda: pick(fields).read(pick([np.zeros((7, 18), np.float32), np.zeros(3), None]))),
    (2, lambda: pick(groups).reset(pick(KEYS))),
    (2, lambda: pick(groups).refresh(pick(KEYS))),
    (2, lambda: pick(groups).set_start(pick(ARRAYS), pick(ARRAYS), pick(ARRAYS), pick(KEYS))),
    (2, lambda: pick(groups).set_state(pick(ARRAYS), pick(ARRAYS), pick(KEYS))),
    (1, lambda: pick(groups).state()),
    (2, lambda: pick(groups).switch(value(), pick(KEYS))),
    (1, lambda: pick(groups).motion_of(value())),
    (1, lambda: pick(groups).fault_names(value())),
    (1, lambda: pick(groups).instance_hash(value())),
    (1, lambda: pick(groups).find(pick(NAMES + ["*/joint.*", "leg*/*"]))),
    (1, lambda: pick(groups).constant(value())),
    (1, lambda: pick(groups).joint(value()).angle[pick(KEYS)]),
    (1, lambda: pick(groups).sensor(value())),
    (1, lambda: pick(worlds).add_collisions(**{pick(["friction", "depth", "x"]): value()})),
    (1, lambda: pick(worlds).ray(value(), value(), reach=value(), without=value())),
    (1, lambda: pick(worlds).ray((value(), value(), 1), alone=(pick(groups), value()))),
    (2, lambda: pick(worlds).distance((pick(groups), 0, value()), (pick(groups), value()))),
    (1, lambda: pick(worlds).contacts()),
    (1, lambda: pick(worlds).hash()),
    (1, lambda: repr((pick(worlds), pick(groups), pick(fields)))),
    (1, lambda: pick(worlds).close() if rng.random() < 0.3 else None),
    (1, lambda: worlds.pop(rng.randrange(len(worlds))) if len(worlds) > 3 else None),
    (1, lambda: groups.pop(rng.randrange(len(groups))) if len(groups) > 20 else None),
    (1, lambda: fields.pop(rng.randrange(len(fields))) if len(fields) > 50 else None),
    (1, lambda: kept.clear()),
    (1, lambda: float(np.nansum(pick(kept)))),
    (1, lambda: np.from_dlpack(pick(fields))),
    (1, lambda: mayfly.Terrain.from_array(pick(ARRAYS), cell=pick(NUMBERS))),
    (
        1,
        lambda: mayfly.Terrain.generate(
            value(), amplitude=pick(NUMBERS), columns=pick([3, 0, 2**20])
        ),
    ),
    (1, lambda: mayfly.Model.from_string(pick(["", "<robot/>", "<mujoco/>", "x" * 100, "\0", 3]))),
    (1, lambda: mayfly.Programs(pick(ARRAYS))),
    (1, lambda: mayfly.motion_settings(value())),
]
fuzz(ACTIONS, lambda: None if worlds else new_world, BufferError)
