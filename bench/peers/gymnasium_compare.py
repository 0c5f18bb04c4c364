#!/usr/bin/env python3
"""Differences between Mayfly's environments and Gymnasium's after one and after ten steps.

Both start in the same state, which Gymnasium reached after up to 19 random actions, and get the
same random actions. Printed is the root mean square of the differences over that of
Gymnasium's values: `state` is positions and velocities, `all` the whole observation; `median` is
that of the single robots, the others are taken over all robots. Robots count until their episodes
end. Mayfly's physics is in double.

usage: gymnasium_compare.py [TASK...]      (run_gymnasium.sh prepares the environment)
"""
import sys

import gymnasium
import numpy as np

import mayfly  # noqa: F401  # registers its environments

STATES = 200
STEPS = 10
TASKS = [
    "InvertedPendulum-v5", "InvertedDoublePendulum-v5", "Swimmer-v5", "Reacher-v5", "Pusher-v5",
    "Hopper-v5", "HalfCheetah-v5", "Walker2d-v5", "Ant-v5", "Humanoid-v5", "HumanoidStandup-v5",
]


def random_action(space, random):
    return random.uniform(space.low, space.high).astype(np.float32)


def gymnasium_runs(task):
    """States, actions [robot][step] and observations [robot][step]."""
    environment, random = gymnasium.make(task).unwrapped, np.random.default_rng(0)
    space = environment.action_space
    states, actions, seen = [], [], []
    for number in range(STATES):
        environment.reset(seed=number)
        for _ in range(random.integers(0, 20)):
            environment.step(random_action(space, random))
        state = environment.data.qpos.copy(), environment.data.qvel.copy()
        environment.set_state(*state)
        states.append(state)
        actions.append([random_action(space, random) for _ in range(STEPS)])
        seen.append([environment.step(action)[0] for action in actions[-1]])
    structure = getattr(environment, "observation_structure", {})
    hidden = structure.get("skipped_qpos", 0)
    count = environment.model.nq - hidden + environment.model.nv
    environment.close()
    return states, np.array(actions), np.array(seen), count


def mayfly_runs(task, states, actions):
    """Observations [robot][step], and whether the robot's episode had not ended before the step."""
    environment = gymnasium.make_vec(f"Mayfly/{task}", num_envs=STATES, precision="double")
    environment.reset(seed=0)
    environment.unwrapped.group.set_state(*(np.array(part) for part in zip(*states)))
    seen, running, alive = [], [], np.ones(STATES, bool)
    for step in range(STEPS):
        running.append(alive.copy())
        observation, _, terminated, truncated, _ = environment.step(actions[:, step])
        seen.append(observation.copy())
        alive &= ~(terminated | truncated)
    environment.close()
    return np.stack(seen, axis=1), np.stack(running, axis=1)


def relative(ours, theirs):
    return np.sqrt(np.mean((ours - theirs) ** 2) / np.mean(theirs**2))


def median(ours, theirs):
    return np.median([relative(*pair) for pair in zip(ours, theirs)])


def main():
    print("| task | median state, 1 step | state, 1 step | all, 1 step | median state, 10 steps "
          "| state, 10 steps | all, 10 steps |")
    print("|---" * 7 + "|")
    for task in sys.argv[1:] or TASKS:
        states, actions, theirs, count = gymnasium_runs(task)
        ours, running = mayfly_runs(task, states, actions)
        cells = []
        for step in (0, STEPS - 1):
            mine, peer = (seen[running[:, step], step] for seen in (ours, theirs))
            cells.append(median(mine[:, :count], peer[:, :count]))
            cells.append(relative(mine[:, :count], peer[:, :count]))
            cells.append(relative(mine, peer))
        print(f"| {task} | " + " | ".join(f"{cell:.1e}" for cell in cells) + " |", flush=True)


if __name__ == "__main__":
    main()
