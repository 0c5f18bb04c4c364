"""Simulates a scene, or a robot's own file, for ten seconds; prints where its first group ends.

python examples/python/run_scene.py [FILE]; FILE is models/humanoid.urdf unless given.
"""

# %%
# The libraries.
from __future__ import annotations

import sys

import numpy as np

import mayfly


# %%
# A scene is read, built and run in three lines.
def main(path: str, seconds: float = 10.0) -> np.ndarray:
    """Positions [m] of the robots of the first group, (robots, 3)."""
    with mayfly.Scene(path) as scene:
        scene.run(seconds)
        return scene.groups[0]["base.position"].array


# %%
# The file of the command line, or the humanoid.
if __name__ == "__main__":
    print(main(sys.argv[1] if len(sys.argv) > 1 else "models/humanoid.urdf"))
