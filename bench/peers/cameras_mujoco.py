#!/usr/bin/env python3
"""Depth and color of real robots by MuJoCo's renderer and by Mayfly, from the same place.

Robots are in the first keyframe of their files. Mayfly writes its depth in millimeters as PNG, so
both agree to 0.5 mm and the precision of MuJoCo's depth buffer but for pixels at edges, where a ray
through the pixel's center and a rasterized triangle may decide differently.

For colors MuJoCo gets the light of Mayfly's pictures: from all sides, and one from above, without
highlights and mirrors. Their difference is the mean over the channels (0 .. 255) of the robot's
pixels that are not at edges; MuJoCo has no shadows then, and neither has Mayfly.

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
    ("skydio_x2/scene.xml", (0.6, 0.5, 0.7), (0.0, 0.0, 0.1)),
    ("mujoco_models/humanoid.xml", (1.8, 1.4, 1.5), (0.0, 0.0, 1.0)),
    ("mujoco_models/car.xml", (0.5, 0.4, 0.3), (0.0, 0.0, 0.05)),
]
LIGHT, AMBIENT, DIRECT = (0.36, 0.48, 0.8), 0.42, 0.58  # of Mayfly's pictures


def light_like_mayfly(spec):
    head = spec.visual.headlight
    head.active, head.ambient, head.diffuse, head.specular = 1, [AMBIENT] * 3, [0] * 3, [0] * 3
    for light in list(spec.lights):
        spec.delete(light)
    spec.worldbody.add_light(type=mujoco.mjtLightType.mjLIGHT_DIRECTIONAL, castshadow=0, ambient=[0] * 3,
                             pos=[10 * x for x in LIGHT], dir=[-x for x in LIGHT],
                             diffuse=[DIRECT] * 3, specular=[0] * 3)
    for material in spec.materials:
        material.reflectance = 0


def by_mujoco(path, place, target, height):
    """Color, depth, the farthest depth [m] that it draws and the pixels of what is not fixed in the
    world, with the base at this height [m]."""
    spec = mujoco.MjSpec.from_file(str(path))
    forward = np.subtract(target, place) / np.linalg.norm(np.subtract(target, place))
    right = np.cross(forward, (0, 0, 1))
    right /= np.linalg.norm(right)
    up = np.cross(right, forward)
    camera = spec.worldbody.add_camera(name="peer", pos=place, fovy=np.degrees(FOVY))
    camera.alt.type = mujoco.mjtOrientation.mjORIENTATION_XYAXES
    camera.alt.xyaxes = [*right, *up]
    spec.visual.global_.offwidth = max(spec.visual.global_.offwidth, WIDTH)
    light_like_mayfly(spec)
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
        depth = renderer.render().astype(float)
        renderer.disable_depth_rendering()
        renderer.enable_segmentation_rendering()
        renderer.update_scene(data, camera="peer")
        geom, kind = renderer.render().transpose(2, 0, 1)
        moves = (kind == mujoco.mjtObj.mjOBJ_GEOM) & (model.geom_bodyid[np.maximum(geom, 0)] > 0)
        return color, depth, far, moves


def by_mayfly(mayfly, path, place, target, folder):
    scene = folder / "scene.yaml"
    scene.write_text(
        f"groups: [{{name: robot, model: \"{path}\"}}]\n"
        f"cameras: [{{name: peer, position: {list(place)}, look_at: {list(target)}, width: {WIDTH}, "
        f"height: {HEIGHT}, fovy: {FOVY}, farthest: {FARTHEST}, depth: true, shadows: false, samples: 4}}]\n"
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
    print("robot                          pixels  median mm  99 % mm  beyond 3 mm, not at edges  color")
    for name, place, target in ROBOTS:
        path = (models / name).resolve()
        with tempfile.TemporaryDirectory() as folder:
            ours, found, height = by_mayfly(mayfly, path, place, target, pathlib.Path(folder))
        theirs, expected, far, moves = by_mujoco(path, place, target, height)
        seen = (expected < 0.9 * min(FARTHEST, far)) & ~edges(expected) & ~edges(found)
        error = np.abs(found - expected)[seen] * 1000.0
        colors = np.abs(theirs.astype(float) - ours)[seen & moves]
        print(f"{name:30} {seen.sum():6}  {np.median(error):9.3f}  {np.percentile(error, 99):7.2f}"
              f"  {(error > 3.0).mean():.3%}  {colors.mean():.1f}")
        if len(sys.argv) > 3:
            rows.append(np.hstack([theirs, ours]))
    if rows:
        pairs = [np.hstack(rows[i : i + 2]) for i in range(0, len(rows) - 1, 2)]
        Image.fromarray(np.vstack(pairs)).save(sys.argv[3])


if __name__ == "__main__":
    main()
