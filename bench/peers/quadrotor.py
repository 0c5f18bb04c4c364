#!/usr/bin/env python3
"""Quadrotors in Mayfly and in other simulators: time per agent and round, on one machine.

A round is one control step (body-rate loop) and one Runge-Kutta step of every quadrotor, in float.
Peers: Crazyflow (JAX, compiled for the processor: body-rate control, first-principles dynamics,
RK4) and RotorPy (NumPy, one vehicle at a time). Each figure is the best of several repeats after a
warm-up; measurements alternate, so that a noisy machine affects all of them.

usage: quadrotor.py MAYFLY [COUNT...]      (run.sh prepares the environment and calls this)
"""
import json
import os
import subprocess
import sys
import time

os.environ["SCIPY_ARRAY_API"] = "1"  # Crazyflow asks for it before anything imports SciPy

REPEATS = 5


def best_of(step, rounds):
    """Shortest time of one round [s]."""
    best = float("inf")
    for _ in range(REPEATS):
        started = time.perf_counter()
        step(rounds)
        best = min(best, (time.perf_counter() - started) / rounds)
    return best


def crazyflow(count):
    import jax
    import jax.numpy as jnp
    from crazyflow.control import Control
    from crazyflow.dynamics import Dynamics
    from crazyflow.sim import Sim
    from crazyflow.sim.integration import Integrator

    sim = Sim(n_worlds=count, n_drones=1, dynamics=Dynamics.first_principles,
              control=Control.body_rate, integrator=Integrator.rk4, freq=500, device="cpu")
    command = jnp.zeros((count, 1, 4)).at[..., 3].set(0.4)
    sim.body_rate_control(command)
    rounds = max(20, 200_000 // count)

    def step(number):
        sim.step(number)
        jax.block_until_ready(sim.data.states.pos)

    step(rounds)
    return best_of(step, rounds)


def rotorpy():
    import numpy as np
    from rotorpy.vehicles.crazyflie_params import quad_params
    from rotorpy.vehicles.multirotor import Multirotor

    state = {"x": np.zeros(3), "v": np.zeros(3), "q": np.array([0, 0, 0, 1.0]), "w": np.zeros(3),
             "wind": np.zeros(3), "rotor_speeds": np.full(4, 1788.53)}
    vehicle = Multirotor(quad_params, initial_state=state, control_abstraction="cmd_ctbr")
    command = {"cmd_thrust": 0.2943, "cmd_w": np.zeros(3)}

    def step(number):
        nonlocal state
        for _ in range(number):
            state = vehicle.step(state, command, 0.01)

    step(20)
    return best_of(step, 100)


def mayfly(program, count, threads):
    line = subprocess.run(
        [program, "bench", "quadrotor-1000", "--instances", str(count), "--threads", str(threads),
         "--json"], check=True, capture_output=True, text=True).stdout
    result = json.loads(line)
    return result["seconds"] / result["steps"] * count


def main():
    program = sys.argv[1]
    counts = [int(word) for word in sys.argv[2:]] or [1000, 10000, 100000]
    threads = os.cpu_count()
    print(f"{'simulator':34} {'agents':>8} {'threads':>7} {'ms/round':>10} {'ns/agent':>10}")

    def row(name, count, used, seconds):
        print(f"{name:34} {count:8} {used:7} {seconds * 1e3:10.4f} {seconds / count * 1e9:10.1f}",
              flush=True)

    row("rotorpy 3.0 (RK45 adaptive)", 1, 1, rotorpy())
    for count in counts:
        row("mayfly", count, 1, mayfly(program, count, 1))
        row("crazyflow 0.4 (JAX, processor)", count, threads, crazyflow(count))
        row("mayfly", count, threads, mayfly(program, count, threads))


if __name__ == "__main__":
    main()
