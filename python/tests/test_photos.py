"""Pictures as PNG files, and those that a client of `mayfly serve` asks for."""

from __future__ import annotations

import pathlib
from collections.abc import Iterator

import cv2
import numpy as np
import pytest
from served import ROOT, needs_command, serve

import mayfly
from mayfly import photos

SCENE = """
world: {{step: 0.005}}
cameras:
- {{name: stand, position: [-2, 0.4, 0.6], look_at: [0, 0, 0.2], width: 48, height: 32,
   interval: 0.05, depth: true, segmentation: true}}
groups:
- name: men
  model: {models}/humanoid.urdf
  motion: kinematic
  count: 2
  placement: {{grid: {{center: [0, 0, 0], spacing: [1, 1, 1]}}}}
"""


@pytest.fixture
def path(tmp_path: pathlib.Path) -> pathlib.Path:
    found = tmp_path / "men.yaml"
    found.write_text(SCENE.format(models=ROOT / "models"))
    return found


@pytest.fixture
def address(path: pathlib.Path) -> Iterator[str]:
    with serve(path, "--port", "0", "--speed", "0", "--paused") as found:
        yield found


@needs_command
def test_pictures_over_a_socket_are_those_of_a_photographer(
    path: pathlib.Path, address: str, tmp_path: pathlib.Path
) -> None:
    scene = mayfly.Scene(path)
    with mayfly.Photographer(scene, tmp_path / "photos") as photographer:
        assert photographer.cameras == 2  # the stand and the eye of the first robot
        photographer.take()
        scene.step(10)
        photographer.take()
        assert photographer.wait == 10 and photographer.files == 2 * (3 + 1)
    names = sorted(file.name for file in (tmp_path / "photos").iterdir())
    assert "stand-000001-depth.png" in names and "men-eye-000001.png" in names
    with mayfly.connect(address) as world:
        assert list(world.cameras) == ["stand"] and list(world["men"].cameras) == ["eye"]
        assert world["men"].cameras["eye"].kinds == ("color",)
        world.step(10)
        photo = world.photo("stand")
        assert photo.tick == 10 and photo.time == pytest.approx(0.05)
        assert photo.pixels.shape == (32, 48, 3) and photo.pixels.dtype == np.uint8
        file = cv2.imread(str(tmp_path / "photos" / "stand-000001.png"))
        assert file is not None
        np.testing.assert_array_equal(photo.pixels, file[:, :, ::-1])
        depth = world.photo("stand", "depth").pixels
        assert depth.shape == (32, 48) and 1 < depth.min() < 2 and depth.max() == 100
        owner = world.photo("stand", "segmentation").pixels
        assert set(np.unique(owner[:, :, 0])) == {-2, -1, 0} and owner[:, :, 1].max() == 1
        eye = world["men"].photo("eye", robot=1)
        assert eye.pixels.shape == (240, 320, 3) and eye.pixels.std() > 10
        with pytest.raises(mayfly.NotFoundError, match="there is no camera nose: eye"):
            world["men"].photo("nose")
        with pytest.raises(mayfly.ArgumentError, match="instance below 2"):
            world["men"].photo("eye", robot=2)
        with pytest.raises(mayfly.ArgumentError, match="expected a picture of color"):
            world.photo("stand", "heat")


def test_files_hold_millimeters_and_owners(tmp_path: pathlib.Path) -> None:
    depth = np.array([[0.5, 1.2346, 70.0], [9.0, 65.535, 0.0004]], np.float32)
    photos.save_depth(tmp_path / "depth.png", depth, 9.0)
    read = cv2.imread(str(tmp_path / "depth.png"), cv2.IMREAD_UNCHANGED)
    np.testing.assert_array_equal(read, [[500, 1235, 0], [0, 0, 0]])
    owner = np.array([[[-1, -1, -1], [3, 7, 2]]], np.int32)
    photos.save_segmentation(tmp_path / "owner.png", owner)
    read = cv2.imread(str(tmp_path / "owner.png"), cv2.IMREAD_UNCHANGED)
    assert read is not None
    np.testing.assert_array_equal(read[:, :, ::-1], [[[1, 0, 0], [5, 8, 3]]])
    color = np.arange(18, dtype=np.uint8).reshape(2, 3, 3)
    photos.save_color(tmp_path / "color.png", color)
    read = cv2.imread(str(tmp_path / "color.png"))
    assert read is not None
    np.testing.assert_array_equal(read[:, :, ::-1], color)
    with pytest.raises(ValueError, match=r"need float32 of shape \(height, width\)"):
        photos.save_depth(tmp_path / "no.png", color)
    with pytest.raises(mayfly.MayflyError, match="no/folder"):
        photos.save_color(tmp_path / "no/folder/a.png", color)


def test_a_scene_without_cameras_has_no_photographer(tmp_path: pathlib.Path) -> None:
    scene = mayfly.Scene("models/hexapod.urdf")
    with pytest.raises(mayfly.NotFoundError, match="expected a camera"):
        mayfly.Photographer(scene, tmp_path)
