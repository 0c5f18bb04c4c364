"""Streams the poses of "real" robots into a scene, as motion capture would.

mayfly serve scenes/mixed_reality.yaml, or scenes/mixed_formation.yaml
python examples/python/motion_capture.py [HOST:PORT]; 127.0.0.1:8766 unless given.
"""

# %%
# The libraries.
from __future__ import annotations

import math
import sys
import time
from collections.abc import Iterator

import mayfly

Pose = tuple[tuple[float, float, float], tuple[float, float, float, float]]


# %%
# In place of motion capture: 100 times a second the clock's time [s] and the poses of all robots,
# which move around a circle. Replace it by the calls of your system.
def capture(
    seconds: float, robots: int, height: float, radius: float = 0.9, speed: float = 0.3
) -> Iterator[tuple[float, list[Pose]]]:
    begin = time.monotonic()
    for number in range(int(100 * seconds)):
        time.sleep(max(0.0, begin + 0.01 * number - time.monotonic()))
        stamp = time.monotonic()
        poses: list[Pose] = []
        for robot in range(robots):
            angle = speed / radius * (stamp - begin) + 2 * math.pi * robot / robots
            half = 0.5 * angle + math.pi / 4  # of the heading
            position = (radius * math.cos(angle), radius * math.sin(angle), height)
            poses.append((position, (math.cos(half), 0.0, 0.0, math.sin(half))))
        yield stamp, poses


# %%
# The stamps of the capture become times of the world, which both run at the same speed.
def main(address: str, seconds: float = 60.0) -> float:
    """The age [s] of the newest pose at the end: the delay of the scene, when all went well."""
    with mayfly.connect(address) as world:
        real = world["real"]
        streams = [mayfly.PoseStream(real, robot) for robot in range(real.count)]
        state = real.subscribe("base.position", "poses.state", "poses.age", period=0.1)
        world.wait(state, 10)
        height = float(state["base.position"][0, 2])
        offset = 1e-9 * world.statistics().time_ns - time.monotonic()
        for stamp, poses in capture(seconds, real.count, height):
            for stream, (position, orientation) in zip(streams, poses, strict=True):
                stream.send(stamp + offset, position, orientation)
            world.poll()
        age = float(state["poses.age"][0, 0])
        print(f"at {state['base.position'][0]} m; the newest pose is {-age:.3f} s ahead")
        return age


# %%
# The address of the command line, or the usual one.
if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "127.0.0.1:8766")
