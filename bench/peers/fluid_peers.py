#!/usr/bin/env python3
"""Water that runs apart, in Taichi and in Warp on the CPU: the fluid of `mayfly bench fluid-100k`.

usage: fluid_peers.py Taichi|Warp THREADS

100 x 100 x 10 particles, 40 mm apart, reach 80 mm, speed of sound 20 m/s, 50 steps of 0.6 ms, in float. The
equations are those of docs/explanation/particles.md (Wendland's kernel, pressure integrated from the
divergence, artificial viscosity, one pass over the neighbors), without their corrections near walls:
the floor turns velocities back. Both sort particles by cells in every step: Taichi's by a counting sort
as in its own examples, Warp's by wp.HashGrid. Prints one JSON object: rate [particle-steps/s] after a
warm-up, the foremost particle [m], and neighbors per particle at the end.
"""
import json
import math
import sys
import time

import numpy as np

SIDE, LAYERS = 100, 10
COUNT = SIDE * SIDE * LAYERS
SPACING, REACH = 0.04, 0.08  # [m]
SOUND, DENSITY, GRAVITY = 20.0, 1000.0, 9.81
STEP, STEPS, WARM = 0.0006, 50, 10
VOLUME = SPACING**3  # [m^3]
FLOOR = 0.5 * SPACING  # [m] of the centers of the lowest layer
SLOPE = 210.0 / (math.pi * REACH**5)  # of the kernel: its gradient is SLOPE (1 - r/R)^3 x
VISCOSITY = 0.1 * SOUND * REACH / 20.0  # [m^2/s]
DIFFUSION = 0.1 * SOUND * REACH / 2.0  # [m^2/s]


def lattice():
    x, y, z = np.meshgrid(np.arange(SIDE), np.arange(SIDE), np.arange(LAYERS), indexing="ij")
    places = np.stack([x, y, z], axis=-1).reshape(-1, 3).astype(np.float32) * SPACING
    places += np.array([-0.5 * (SIDE - 1) * SPACING, -0.5 * (SIDE - 1) * SPACING, FLOOR], np.float32)
    depth = LAYERS * SPACING - places[:, 2]
    return places, (DENSITY * GRAVITY * depth).astype(np.float32)


def report(step, places, neighbors):
    for _ in range(WARM):
        step()
    began = time.perf_counter()
    for _ in range(STEPS):
        step()
    now = places()  # waits for the last step
    seconds = time.perf_counter() - began
    print(json.dumps({"rate": STEPS * COUNT / seconds, "front": float(now[:, 0].max()),
                      "neighbors": float(neighbors())}))


# ---- Taichi -------------------------------------------------------------------------------------


def with_taichi(threads):
    import taichi as ti

    ti.init(arch=ti.cpu, cpu_max_num_threads=threads, log_level=ti.ERROR, offline_cache=False)
    cells = (128, 128, 16)  # of one reach, around the origin
    total = cells[0] * cells[1] * cells[2]
    place, velocity = (ti.Vector.field(3, ti.f32, COUNT) for _ in range(2))
    place_sorted, velocity_sorted = (ti.Vector.field(3, ti.f32, COUNT) for _ in range(2))
    pressure, pressure_sorted = (ti.field(ti.f32, COUNT) for _ in range(2))
    end, fill = (ti.field(ti.i32, total + 1) for _ in range(2))
    seen = ti.field(ti.i32, ())

    @ti.func
    def cell_of(x):
        at = ti.floor(x / REACH, ti.i32) + ti.Vector([cells[0] // 2, cells[1] // 2, 0])
        at = ti.max(ti.Vector([1, 1, 0]), ti.min(at, ti.Vector([cells[0] - 2, cells[1] - 2, cells[2] - 2])))
        return at

    @ti.func
    def index_of(at):
        return (at[0] * cells[1] + at[1]) * cells[2] + at[2]

    @ti.kernel
    def count():
        for c in end:
            end[c] = 0
        for i in place:
            end[index_of(cell_of(place[i])) + 1] += 1

    @ti.kernel
    def add_up():
        ti.loop_config(serialize=True)
        for c in range(1, total + 1):
            end[c] += end[c - 1]

    @ti.kernel
    def sort():
        for c in fill:
            fill[c] = end[c]
        for i in place:
            to = ti.atomic_add(fill[index_of(cell_of(place[i]))], 1)
            place_sorted[to] = place[i]
            velocity_sorted[to] = velocity[i]
            pressure_sorted[to] = pressure[i]

    @ti.kernel
    def move():
        for i in place_sorted:
            x, v, p = place_sorted[i], velocity_sorted[i], pressure_sorted[i]
            push, drag = ti.Vector([0.0, 0.0, 0.0]), ti.Vector([0.0, 0.0, 0.0])
            flow, spread = 0.0, 0.0
            at = cell_of(x)
            for a in range(-1, 2):
                for b in range(-1, 2):
                    # The cells of a column are neighbors in memory.
                    row = index_of(ti.Vector([at[0] + a, at[1] + b, 0]))
                    low, high = ti.max(at[2] - 1, 0), at[2] + 1
                    for j in range(end[row + low], end[row + high + 1]):
                        d = place_sorted[j] - x
                        r = d.norm()
                        if r < REACH and j != i:
                            y = 1.0 - r / REACH
                            f = SLOPE * y * y * y
                            u = velocity_sorted[j] - v
                            push += (ti.max(p, 0.0) + ti.max(pressure_sorted[j], 0.0)) * f * d
                            drag += f * u
                            flow += f * u.dot(d)
                            spread += f * (pressure_sorted[j] - p + DENSITY * GRAVITY * d[2])
            v += STEP * (2.0 * VISCOSITY * VOLUME * drag - VOLUME / DENSITY * push)
            v[2] -= STEP * GRAVITY
            x += STEP * v
            if x[2] < FLOOR:
                x[2], v[2] = FLOOR, ti.max(v[2], 0.0)
            place[i], velocity[i] = x, v
            pressure[i] = p + STEP * (2.0 * DIFFUSION * VOLUME * spread -
                                      DENSITY * SOUND * SOUND * VOLUME * flow)

    @ti.kernel
    def count_neighbors():
        for i in place_sorted:
            at = cell_of(place_sorted[i])
            for a in range(-1, 2):
                for b in range(-1, 2):
                    row = index_of(ti.Vector([at[0] + a, at[1] + b, 0]))
                    low, high = ti.max(at[2] - 1, 0), at[2] + 1
                    for j in range(end[row + low], end[row + high + 1]):
                        if j != i and (place_sorted[j] - place_sorted[i]).norm() < REACH:
                            seen[None] += 1

    def step():
        count()
        add_up()
        sort()
        move()

    def neighbors():
        count_neighbors()
        return seen[None] / COUNT

    start, rest = lattice()
    place.from_numpy(start)
    pressure.from_numpy(rest)
    report(step, place.to_numpy, neighbors)


# ---- Warp ---------------------------------------------------------------------------------------


def with_warp(threads):
    import warp as wp

    if threads != 1:
        sys.exit("Warp runs kernels of the CPU on one thread")
    wp.config.quiet = True
    wp.init()
    start, rest = lattice()
    device = "cpu"
    place = [wp.array(start, dtype=wp.vec3, device=device), wp.zeros(COUNT, dtype=wp.vec3, device=device)]
    velocity = [wp.zeros(COUNT, dtype=wp.vec3, device=device) for _ in range(2)]
    pressure = [wp.array(rest, dtype=float, device=device), wp.zeros(COUNT, dtype=float, device=device)]
    seen = wp.zeros(COUNT, dtype=int, device=device)
    grid = wp.HashGrid(128, 128, 16, device=device)
    reach, slope, floor, step_size = (wp.constant(value) for value in (REACH, SLOPE, FLOOR, STEP))
    weight, sound2 = wp.constant(DENSITY * GRAVITY), wp.constant(DENSITY * SOUND * SOUND * VOLUME)
    viscous, spreads = wp.constant(2.0 * VISCOSITY * VOLUME), wp.constant(2.0 * DIFFUSION * VOLUME)
    pushes, gravity = wp.constant(VOLUME / DENSITY), wp.constant(GRAVITY)

    @wp.kernel
    def move(grid: wp.uint64, place: wp.array(dtype=wp.vec3), velocity: wp.array(dtype=wp.vec3),
             pressure: wp.array(dtype=float), place_out: wp.array(dtype=wp.vec3),
             velocity_out: wp.array(dtype=wp.vec3), pressure_out: wp.array(dtype=float),
             seen: wp.array(dtype=int)):
        i = wp.hash_grid_point_id(grid, wp.tid())
        x = place[i]
        v = velocity[i]
        p = pressure[i]
        push = wp.vec3()
        drag = wp.vec3()
        flow = float(0.0)
        spread = float(0.0)
        found = int(0)
        for j in wp.hash_grid_query(grid, x, reach):
            d = place[j] - x
            r = wp.length(d)
            if r < reach and j != i:
                y = 1.0 - r / reach
                f = slope * y * y * y
                u = velocity[j] - v
                push += (wp.max(p, 0.0) + wp.max(pressure[j], 0.0)) * f * d
                drag += f * u
                flow += f * wp.dot(u, d)
                spread += f * (pressure[j] - p + weight * d[2])
                found += 1
        v += step_size * (viscous * drag - pushes * push)
        v = wp.vec3(v[0], v[1], v[2] - step_size * gravity)
        x += step_size * v
        if x[2] < floor:
            x = wp.vec3(x[0], x[1], floor)
            v = wp.vec3(v[0], v[1], wp.max(v[2], 0.0))
        place_out[i] = x
        velocity_out[i] = v
        pressure_out[i] = p + step_size * (spreads * spread - sound2 * flow)
        seen[i] = found

    def step():
        grid.build(place[0], REACH)
        wp.launch(move, dim=COUNT, device=device,
                  inputs=[grid.id, place[0], velocity[0], pressure[0], place[1], velocity[1], pressure[1],
                          seen])
        for pair in (place, velocity, pressure):
            pair.reverse()

    report(step, lambda: place[0].numpy(), lambda: seen.numpy().mean())


if __name__ == "__main__":
    {"Taichi": with_taichi, "Warp": with_warp}[sys.argv[1]](int(sys.argv[2]))
