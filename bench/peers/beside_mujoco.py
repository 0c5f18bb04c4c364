#!/usr/bin/env python3
"""One robot on Mayfly's page and beside it in MuJoCo's own renderer, from the same place.

MuJoCo draws the file with the sky, floor and light of the scenes of MuJoCo Menagerie, 4 samples per
pixel and shadows. The picture of docs/studies/peers.md:

    MUJOCO_GL=egl beside_mujoco.py build/mayfly unitree_g1/g1.xml docs/images/beside_mujoco.webp

usage: beside_mujoco.py MAYFLY ROBOT.xml OUT.webp

Needs the packages mujoco, pillow and playwright, and chromium.
"""

import base64
import io
import math
import pathlib
import shutil
import subprocess
import sys
import tempfile

import mujoco
from PIL import Image
from playwright.sync_api import sync_playwright

WIDTH, HEIGHT = 640, 560  # [px]
TARGET = (0.0, 0.0, 0.66)  # [m]
SIDE, UP, AWAY = -0.6, 0.2, 2.3  # [rad], [rad], [m] of the cameras
FOV = 2 * math.atan(math.tan(math.radians(20)) / min(1.0, WIDTH / HEIGHT / 1.2))

PICTURE = """([at, side, up, away]) => {
  mayfly.alone = true;
  mayfly.view.follow = false;
  mayfly.view.stage.look(at, side, up, away);
  mayfly.improve(true);
  mayfly.draw(0);
  return mayfly.view.stage.canvas.toDataURL("image/png");
}"""


def by_mayfly(mayfly, robot, folder):
    out = pathlib.Path(folder) / "film.html"
    subprocess.run(
        [mayfly, "run", robot, "--duration", "1e-4", "--plot", out], check=True, capture_output=True
    )
    with sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=shutil.which("chromium"),
            args=["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"],
        )
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, device_scale_factor=2)
        page.goto(out.resolve().as_uri() + "#bare&time=0")
        page.wait_for_function("() => window.mayfly && mayfly.drawn !== -1")
        text = page.evaluate(PICTURE, [TARGET, SIDE, UP, AWAY])
        browser.close()
    picture = Image.open(io.BytesIO(base64.b64decode(text.split(",")[1])))
    return picture.convert("RGB").resize((WIDTH, HEIGHT), Image.LANCZOS)


def by_mujoco(robot):
    spec = mujoco.MjSpec.from_file(str(robot))
    spec.add_texture(
        name="sky",
        type=mujoco.mjtTexture.mjTEXTURE_SKYBOX,
        builtin=mujoco.mjtBuiltin.mjBUILTIN_GRADIENT,
        rgb1=(0.3, 0.5, 0.7),
        rgb2=(0, 0, 0),
        width=512,
        height=512,
    )
    floor = spec.add_texture(
        name="floor",
        type=mujoco.mjtTexture.mjTEXTURE_2D,
        builtin=mujoco.mjtBuiltin.mjBUILTIN_CHECKER,
        rgb1=(0.2, 0.3, 0.4),
        rgb2=(0.1, 0.2, 0.3),
        width=300,
        height=300,
    )
    material = spec.add_material(name="floor", reflectance=0.2, texrepeat=(5, 5), texuniform=True)
    material.textures[mujoco.mjtTextureRole.mjTEXROLE_RGB] = floor.name
    spec.worldbody.add_geom(
        type=mujoco.mjtGeom.mjGEOM_PLANE, size=(0, 0, 0.05), material=material.name
    )
    spec.worldbody.add_light(pos=(0, 0, 3.5), dir=(0, 0, -1), type=1)
    spec.visual.headlight.diffuse = (0.6, 0.6, 0.6)
    spec.visual.headlight.ambient = (0.3, 0.3, 0.3)
    spec.visual.headlight.specular = (0, 0, 0)
    spec.visual.global_.fovy = math.degrees(FOV)
    spec.visual.global_.offwidth, spec.visual.global_.offheight = WIDTH, HEIGHT
    model = spec.compile()
    data = mujoco.MjData(model)
    if model.nkey:
        mujoco.mj_resetDataKeyframe(model, data, 0)
    mujoco.mj_forward(model, data)
    camera = mujoco.MjvCamera()
    camera.lookat[:] = TARGET
    camera.distance, camera.azimuth = AWAY, math.degrees(SIDE) + 180
    camera.elevation = -math.degrees(UP)
    with mujoco.Renderer(model, HEIGHT, WIDTH) as renderer:
        renderer.update_scene(data, camera)
        return Image.fromarray(renderer.render())


def main():
    mayfly, robot, out = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3]
    with tempfile.TemporaryDirectory() as folder:
        left = by_mayfly(mayfly, robot, folder)
    both = Image.new("RGB", (2 * WIDTH, HEIGHT))
    both.paste(left, (0, 0))
    both.paste(by_mujoco(robot), (WIDTH, 0))
    both.save(out, quality=80, method=6)


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main()
