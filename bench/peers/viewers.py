#!/usr/bin/env python3
"""One robot on the pages of Mayfly, viser and rerun, from the same place, in one picture.

viser and rerun are given the triangles, normals, colors and poses of the robot's visual shapes, as
MuJoCo reads them from the same file; Mayfly reads the file itself. Each page is opened by Chromium
without a window, in software GL, and shown as it is by default, without the panels around it; viser
has a grid in addition. The picture of docs/studies/peers.md:

    viewers.py build/mayfly unitree_g1/g1.xml docs/images/beside_viewers.webp

usage: viewers.py MAYFLY ROBOT.xml OUT.webp

Needs the packages mujoco, numpy, pillow, playwright, trimesh, viser and rerun-sdk, and chromium.
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
import numpy as np
import rerun
import rerun.blueprint
import trimesh
import viser
from PIL import Image
from playwright.sync_api import sync_playwright

WIDTH, HEIGHT = 480, 420  # [px]
TARGET = np.array((0.0, 0.0, 0.66))  # [m]
SIDE, UP, AWAY = math.radians(-30), 0.2, 2.1  # [rad], [rad], [m] of Mayfly's camera
# Upright angles of view [rad]: that of Mayfly's page is 40 degrees, more on pages that are narrower
# than 1.2 times their height; viser's can be set, rerun's cannot.
FOV = 2 * math.atan(math.tan(math.radians(20)) / min(1.0, WIDTH / HEIGHT / 1.2))
RERUN_FOV = math.radians(55)


def eye(fov):
    """Where the camera is that shows the target as large as Mayfly's."""
    away = AWAY * math.tan(FOV / 2) / math.tan(fov / 2)
    return TARGET + away * np.array(
        (math.cos(UP) * math.cos(SIDE), math.cos(UP) * math.sin(SIDE), math.sin(UP))
    )


# ---- the robot -----------------------------------------------------------------------------------


def film(mayfly, robot, folder):
    """A film of its first picture, and the height [m] of its base there."""
    out = folder / "film.html"
    command = [mayfly, "run", robot, "--duration", "1e-4", "--plot", out]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    lines = text.splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("  time s"))
    return out, float(lines[start + 1].split()[1])


def shapes(robot, height):
    """Of each mesh the corners of triangles [m], their normals, and the color [0 .. 255]."""
    model = mujoco.MjModel.from_xml_path(str(robot))
    data = mujoco.MjData(model)
    if model.nkey:
        mujoco.mj_resetDataKeyframe(model, data, 0)
    data.qpos[2] = height
    mujoco.mj_forward(model, data)
    for geom in range(model.ngeom):
        mesh = model.geom_dataid[geom]
        if model.geom_type[geom] != mujoco.mjtGeom.mjGEOM_MESH or model.geom_group[geom] > 2:
            continue
        first, count = model.mesh_vertadr[mesh], model.mesh_vertnum[mesh]
        vertices = model.mesh_vert[first : first + count]
        first, count = model.mesh_normaladr[mesh], model.mesh_normalnum[mesh]
        normals = model.mesh_normal[first : first + count]
        first, count = model.mesh_faceadr[mesh], model.mesh_facenum[mesh]
        corners = model.mesh_face[first : first + count].ravel()
        turned = model.mesh_facenormal[first : first + count].ravel()
        rotation = data.geom_xmat[geom].reshape(3, 3).T
        color = model.geom_rgba[geom]
        if model.geom_matid[geom] >= 0:
            color = model.mat_rgba[model.geom_matid[geom]]
        yield (
            vertices[corners] @ rotation + data.geom_xpos[geom],
            normals[turned] @ rotation,
            tuple(round(255 * float(part)) for part in color[:3]),
        )


# ---- pages ---------------------------------------------------------------------------------------

PICTURE = """([at, side, up, away]) => {
  mayfly.alone = true;
  mayfly.view.follow = false;
  mayfly.control.play(false);
  mayfly.view.stage.look(at, side, up, away);
  mayfly.source.time = 0;
  mayfly.draw(0);
  return mayfly.view.stage.canvas.toDataURL("image/png");
}"""


def by_mayfly(page, path):
    page.goto(path.resolve().as_uri() + "#bare")
    page.wait_for_function("() => window.mayfly && mayfly.drawn !== -1")
    text = page.evaluate(PICTURE, [list(TARGET), SIDE, UP, AWAY])
    return base64.b64decode(text.split(",")[1])


def by_viser(page, robot):
    server = viser.ViserServer(host="127.0.0.1", port=8741, verbose=False)
    server.scene.set_up_direction("+z")
    server.scene.add_grid("ground", width=8.0, height=8.0)
    for number, (vertices, normals, color) in enumerate(robot):
        paint = trimesh.visual.material.PBRMaterial(baseColorFactor=(*color, 255))
        mesh = trimesh.Trimesh(
            vertices,
            np.arange(len(vertices)).reshape(-1, 3),
            vertex_normals=normals,
            visual=trimesh.visual.TextureVisuals(material=paint),
            process=False,
        )
        server.scene.add_mesh_trimesh(f"robot/{number}", mesh)
    server.initial_camera.position = tuple(eye(FOV))
    server.initial_camera.look_at = tuple(TARGET)
    server.initial_camera.up = (0.0, 0.0, 1.0)
    server.initial_camera.fov = FOV
    page.goto("http://127.0.0.1:8741/")
    page.wait_for_selector("canvas")
    page.add_style_tag(
        content="body * {visibility: hidden} canvas {visibility: visible !important}"
    )
    page.wait_for_timeout(20000)
    picture = page.screenshot()
    server.stop()
    return picture


def by_rerun(page, robot):
    controls = rerun.blueprint.EyeControls3D(
        position=tuple(eye(RERUN_FOV)), look_target=tuple(TARGET), eye_up=(0.0, 0.0, 1.0)
    )
    view = rerun.blueprint.Spatial3DView(origin="/", eye_controls=controls, titlebar=False)
    panels = [
        panel(state="hidden")
        for panel in (
            rerun.blueprint.TopPanel,
            rerun.blueprint.BlueprintPanel,
            rerun.blueprint.SelectionPanel,
            rerun.blueprint.TimePanel,
        )
    ]
    rerun.init("robot", spawn=False)
    address = rerun.serve_grpc(
        grpc_port=8742, default_blueprint=rerun.blueprint.Blueprint(view, *panels)
    )
    rerun.log("/", rerun.ViewCoordinates.RIGHT_HAND_Z_UP, static=True)
    for number, (vertices, normals, color) in enumerate(robot):
        mesh = rerun.Mesh3D(
            vertex_positions=vertices,
            vertex_normals=normals,
            triangle_indices=np.arange(len(vertices)).reshape(-1, 3),
            albedo_factor=(*color, 255),
        )
        rerun.log(f"robot/{number}", mesh, static=True)
    rerun.serve_web_viewer(web_port=8743, open_browser=False, connect_to=address)
    page.goto(f"http://127.0.0.1:8743/?url={address}&renderer=webgl")
    page.wait_for_selector("canvas")
    page.wait_for_timeout(40000)
    return page.screenshot()


def main():
    mayfly, robot, out = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3]
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        path, height = film(mayfly, robot, pathlib.Path(folder))
        parts = list(shapes(robot, height))
        browser = driver.chromium.launch(
            executable_path=shutil.which("chromium"),
            args=["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"],
        )
        found = []
        for draw, what in ((by_mayfly, path), (by_viser, parts), (by_rerun, parts)):
            page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
            page.set_default_timeout(200000)
            found.append(draw(page, what))
            page.close()
        browser.close()
    pictures = [Image.open(io.BytesIO(part)).convert("RGB") for part in found]
    whole = Image.new("RGB", (len(pictures) * (WIDTH + 4) - 4, HEIGHT), "gray")
    for number, picture in enumerate(pictures):
        whole.paste(picture, (number * (WIDTH + 4), 0))
    whole.save(out, quality=82, method=6)


if __name__ == "__main__":
    main()
