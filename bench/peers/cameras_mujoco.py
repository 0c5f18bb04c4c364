#!/usr/bin/env python3
"""Depth pictures of real robots by MuJoCo's renderer and by Mayfly, from the same place.

Robots are in the first keyframe of their files. Mayfly writes its depth in millimeters as PNG, so
both agree to 0.5 mm and the precision of MuJoCo's depth buffer but for pixels at edges, where a ray
through the pixel's center and a rasterized triangle may decide differently.

usage: cameras_mujoco.py MAYFLY MODELS [OUT.png]

MODELS is a folder of MuJoCo Menagerie robots. Needs the packages mujoco, numpy and pillow, and EGL
(MUJOCO_GL=egl). With OUT.png all are drawn, MuJoCo on the left of each pair.
"""

import os
import pathlib
import subprocess
import sys
import tempfile

os.environ.setdefault("MUJOCO_GL", "egl")

import mujoco  # noqa: E402
import numpy as np  # noqa: E402
from PIL import Image  # noqa: E402

WIDTH, HEIGHT, FOVY, FARTHEST = 320, 240, 0.7, 20.0
# File, place of the camera, what it looks at [m].
ROBOTS = [
    ("unitree_go2/scene.xml", (1.3, -1.0, 0.7), (0.0, 0.0, 0.25)),
    ("anybotics_anymal_c/scene.xml", (1.8, 1.4, 1.0), (0.0, 0.0, 0.5)),
    ("unitree_g1/scene.xml", (2.0, -1.2, 1.2), (0.0, 0.0, 0.7)),
    ("booster_t1/scene.xml", (2.0, 1.2, 1.0), (0.0, 0.0, 0.6)),
]


def by_mujoco(path, place, target, height):
    """Color, depth and the farthest depth [m] that it draws, with the base at this height [m]."""
    spec = mujoco.MjSpec.from_file(str(path))
    forward = np.subtract(target, place) / np.linalg.norm(np.subtract(target, place))
    right = np.cross(forward, (0, 0, 1))
    right /= np.linalg.norm(right)
    up = np.cross(right, forward)
    camera = spec.worldbody.add_camera(name="peer", pos=place, fovy=np.degrees(FOVY))
    camera.alt.type = mujoco.mjtOrientation.mjORIENTATION_XYAXES
    camera.alt.xyaxes = [*right, *up]
    spec.visual.global_.offwidth = max(spec.visual.global_.offwidth, WIDTH)
    model = spec.compile()
    data = mujoco.MjData(model)
    if model.nkey:
        mujoco.mj_resetDataKeyframe(model, data, 0)
    data.qpos[2] = height
    mujoco.mj_forward(model, data)
    with mujoco.Renderer(model, HEIGHT, WIDTH) as renderer:
        renderer.update_scene(data, camera="peer")
        color = renderer.render().copy()
        renderer.enable_depth_rendering()
        renderer.update_scene(data, camera="peer")
        far = model.vis.map.zfar * model.stat.extent
        return color, renderer.render().astype(float), far


def by_mayfly(mayfly, path, place, target, folder):
    scene = folder / "scene.yaml"
    scene.write_text(
        f"groups: [{{name: robot, model: \"{path}\"}}]\n"
        f"cameras: [{{name: peer, position: {list(place)}, look_at: {list(target)}, width: {WIDTH}, "
        f"height: {HEIGHT}, fovy: {FOVY}, farthest: {FARTHEST}, depth: true}}]\n"
    )
    command = [mayfly, "run", scene, "--duration", "1e-4", "--photos", folder / "photos"]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    lines = text.splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("  time s"))
    height = float(lines[start + 1].split()[1])  # robots that are in the ground are raised
    color = np.asarray(Image.open(folder / "photos" / "peer-000000.png"))
    depth = np.asarray(Image.open(folder / "photos" / "peer-000000-depth.png")) / 1000.0
    return color, np.where(depth > 0.0, depth, FARTHEST), height


def edges(depth):
    """Pixels next to another one with a depth that differs by more than 3 %."""
    found = np.zeros(depth.shape, bool)
    for axis in (0, 1):
        step = np.abs(np.diff(depth, axis=axis)) > 0.03 * np.minimum(
            *(np.take(depth, range(i, depth.shape[axis] - 1 + i), axis) for i in (0, 1)))
        pad = [(0, 0), (0, 0)]
        for side in ((0, 1), (1, 0)):
            pad[axis] = side
            found |= np.pad(step, pad)
    return found


def main():
    mayfly, models = sys.argv[1], pathlib.Path(sys.argv[2])
    rows = []
    print("robot                          pixels  median mm  99 % mm  beyond 3 mm, not at edges")
    for name, place, target in ROBOTS:
        path = (models / name).resolve()
        with tempfile.TemporaryDirectory() as folder:
            ours, found, height = by_mayfly(mayfly, path, place, target, pathlib.Path(folder))
        theirs, expected, far = by_mujoco(path, place, target, height)
        seen = (expected < 0.9 * min(FARTHEST, far)) & ~edges(expected) & ~edges(found)
        error = np.abs(found - expected)[seen] * 1000.0
        print(f"{name:30} {seen.sum():6}  {np.median(error):9.3f}  {np.percentile(error, 99):7.2f}"
              f"  {(error > 3.0).mean():.3%}")
        if len(sys.argv) > 3:
            rows.append(np.hstack([theirs, ours]))
    if rows:
        pairs = [np.hstack(rows[i : i + 2]) for i in range(0, len(rows), 2)]
        Image.fromarray(np.vstack(pairs)).save(sys.argv[3])


if __name__ == "__main__":
    main()
