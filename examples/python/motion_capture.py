"""Streams the poses of a "real" can into scenes/mixed_reality.yaml, as motion capture would.

mayfly serve scenes/mixed_reality.yaml
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

Pose = tuple[float, tuple[float, float, float], tuple[float, float, float, float]]


# %%
# In place of motion capture: 100 poses a second of a way around a circle, each with the clock's
# time [s]. Replace it by the calls of your system.
def capture(seconds: float, radius: float = 0.9, speed: float = 0.3) -> Iterator[Pose]:
    begin = time.monotonic()
    for number in range(int(100 * seconds)):
        time.sleep(max(0.0, begin + 0.01 * number - time.monotonic()))
        stamp = time.monotonic()
        angle = speed / radius * (stamp - begin)
        heading = 0.5 * angle + math.pi / 4
        position = (radius * math.cos(angle), radius * math.sin(angle), 0.045)
        yield stamp, position, (math.cos(heading), 0.0, 0.0, math.sin(heading))


# %%
# The stamps of the capture become times of the world, which both run at the same speed.
def main(address: str, seconds: float = 60.0) -> float:
    """The age [s] of the newest pose at the end: the delay of the scene, when all went well."""
    with mayfly.connect(address) as world:
        real = mayfly.PoseStream(world["real"])
        state = world["real"].subscribe("base.position", "poses.state", "poses.age", period=0.1)
        offset = 1e-9 * world.statistics().time_ns - time.monotonic()
        for stamp, position, orientation in capture(seconds):
            real.send(stamp + offset, position, orientation)
            world.poll()
        age = float(state["poses.age"][0, 0])
        print(f"at {state['base.position'][0]} m; the newest pose is {-age:.3f} s ahead")
        return age


# %%
# The address of the command line, or the usual one.
if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "127.0.0.1:8766")
