"""Calls environments at random with random arguments (fuzz.py)."""

import copy
import pickle
import warnings

import gymnasium
import numpy as np
from fuzz import fuzz, pick, rng

from mayfly.envs import ids
from mayfly.envs.pool import Pool

warnings.simplefilter("ignore")

NAMES = ids()
VALUES = [
    None,
    0,
    1,
    3,
    -1,
    0.5,
    2**31,
    2**64,
    float("nan"),
    float("inf"),
    "points",
    "articulated",
    "float",
    "double",
    "SameStep",
    "Disabled",
    "ant.xml",
    "reacher.xml",
    "hexapod.urdf",
    "",
    "\0",
    b"x",
    (0.1, 1.0),
    (1, 0, 2),
    (float("nan"), 1),
    [],
    {},
    True,
    np.float32,
    np.float64,
    np.int8,
    np.zeros(3),
    np.ones(3, bool),
    object(),
    list(gymnasium.vector.AutoresetMode)[1],
]
ARGUMENTS = """
    motion precision dtype copy frame_skip max_episode_steps autoreset_mode xml_file
    num_threads render_mode healthy_z_range reset_noise_scale ctrl_cost_weight main_body
    exclude_current_positions_from_observation nothing
""".split()
made: list = []
kept: list = []


def make():
    more = {pick(ARGUMENTS): pick(VALUES) for _ in range(rng.choice([0, 0, 0, 1, 2]))}
    if isinstance(more.get("num_threads"), int) and more["num_threads"] > 8:
        return
    name = pick(NAMES)
    if rng.random() < 0.3:
        made.append(gymnasium.make(name, **more).unwrapped)
    elif rng.random() < 0.2:
        made.append(Pool(gymnasium.spec(name).kwargs["task"], 3, pick([1, 2, 3, None]), **more))
    else:
        made.append(gymnasium.make_vec(name, num_envs=pick([1, 3, 3, 17, 0]), **more))
    while len(made) > 6:
        made.pop(rng.randrange(len(made)))


def action_of(env):
    if rng.random() < 0.2:
        return pick([*VALUES, np.zeros((3, 8), np.float32), np.full((3, 3), np.inf, np.float32)])
    space = env.single_action_space if isinstance(env, Pool) else env.action_space
    if isinstance(env, Pool):
        return np.stack([space.sample() for _ in range(env.num_envs)])
    return space.sample()


def reset():
    env = pick(made)
    if isinstance(env, Pool):
        env.async_reset(pick([*VALUES, 1, 2]))
        return
    mask = np.array([rng.random() < 0.5 for _ in range(getattr(env, "num_envs", 1))])
    options = pick([None, None, {}, {"reset_mask": mask}, {"reset_mask": pick(VALUES)}, {"x": 1}])
    kept.append(env.reset(seed=pick([None, None, 1, 2, pick(VALUES)]), options=options)[0])


def step():
    env = pick(made)
    if isinstance(env, Pool):
        env.send(action_of(env), pick([None, None, [0], [0, 1, 2], pick(VALUES)]))
        return
    kept.append(env.step(action_of(env))[0])


def receive():
    env = pick(made)
    if isinstance(env, Pool):
        kept.append(env.recv()[0])


def again():
    env = pick(made)
    if not isinstance(env, Pool):
        made.append(pick([lambda e: pickle.loads(pickle.dumps(e)), copy.deepcopy])(env))


ACTIONS = [
    (3, make),
    (8, reset),
    (16, step),
    (6, receive),
    (1, again),
    (1, lambda: pick(made).close() if rng.random() < 0.3 else None),
    (1, lambda: kept.clear()),
    (1, lambda: float(np.nansum(pick(kept)))),
    (1, lambda: pick(kept).__setitem__(Ellipsis, pick([0, np.nan, 1e30]))),
    (1, lambda: repr(made)),
    (1, lambda: pick(made).render()),
    (2, lambda: pick(made).group["base.position"].array),
    (1, lambda: pick(made).world.hash()),
    (1, lambda: pick(made).world.restore(pick(made).world.snapshot())),
    (1, lambda: pick(made).world.step(1)),
    (1, lambda: pick(made).group.reset(0)),
]
fuzz(ACTIONS, lambda: None if made else make, gymnasium.error.Error)
