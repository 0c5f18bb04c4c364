"""PNG files of pictures: depth, segmentation, and those of all cameras of a scene."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import numpy.typing as npt

from mayfly._native import Native, call, encode, ffi, lib, output
from mayfly.context import default_context
from mayfly.scene import Scene

__all__ = ["Photographer", "save_color", "save_depth", "save_segmentation"]


def _pixels(image: npt.ArrayLike, kind: Any, channels: int, what: str) -> Any:
    shape = (3,) if channels == 3 else ()
    pixels = np.ascontiguousarray(image)
    if pixels.dtype != kind or pixels.ndim < 2 or pixels.shape[2:] != shape:
        requested = "(height, width, 3)" if channels == 3 else "(height, width)"
        raise ValueError(
            f"{what}: need {np.dtype(kind)} of shape {requested}, got {pixels.dtype} {pixels.shape}"
        )
    return pixels


def save_color(path: str | os.PathLike[str], color: npt.ArrayLike) -> None:
    """Writes colors, uint8 (height, width, 3), as a PNG file, which is replaced atomically."""
    pixels = _pixels(color, np.uint8, 3, "save_color")
    height, width = pixels.shape[:2]
    context, place = default_context()._use(), ffi.from_buffer("uint8_t[]", pixels)
    call(lib.mf_photo_write_color, context, encode(path), width, height, place)


def save_depth(
    path: str | os.PathLike[str], depth: npt.ArrayLike, farthest: float = 65.535
) -> None:
    """Writes depth [m], float32 (height, width), as a 16 bit PNG file in millimeters, rounded.

    0 in the file: at least `farthest` [m], or 65.535 m.
    """
    pixels = _pixels(depth, np.float32, 1, "save_depth")
    height, width = pixels.shape
    context, place = default_context()._use(), ffi.from_buffer("float[]", pixels)
    call(lib.mf_photo_write_depth, context, encode(path), width, height, place, float(farthest))


def save_segmentation(path: str | os.PathLike[str], segmentation: npt.ArrayLike) -> None:
    """Writes group + 2, robot + 1 and link + 1, int32 (height, width, 3), as a 16 bit PNG file.

    The sky is 1, 0, 0, the ground 0, 0, 0.
    """
    pixels = _pixels(segmentation, np.int32, 3, "save_segmentation")
    height, width = pixels.shape[:2]
    context, place = default_context()._use(), ffi.from_buffer("int32_t[]", pixels)
    call(lib.mf_photo_write_segmentation, context, encode(path), width, height, place)


class Photographer(Native):
    """Writes the pictures of all cameras of a scene, as `mayfly run --photos` does.

    These are the cameras of the scene's file and those of the first robot of each group. Files are
    NAME-NUMBER.png, NAME-NUMBER-depth.png and NAME-NUMBER-segmentation.png; NUMBER counts the ticks
    of the camera's rate since the time 0. Taking pictures changes no state.

        with mayfly.Photographer(scene, "photos") as photographer:
            photographer.take()
            while scene.time < 2.0:
                scene.step(photographer.wait)
                photographer.take()

    Args:
        scene: the scene.
        folder: is made if it does not exist.

    Raises:
        NotFoundError: the scene has no camera.

    """

    def __init__(self, scene: Scene, folder: str | os.PathLike[str]) -> None:
        if not isinstance(scene, Scene):
            raise TypeError(f"Photographer: need a Scene, got {type(scene).__name__}")
        self.scene = scene
        with scene._lock:
            scene._use()
            native = output(lib.mf_photographer_create, scene._scene, encode(folder))
            self._take(lib.MFPY_PHOTOGRAPHER, native, [scene])
        self._seal()

    def _in_brief(self) -> str:
        return f"{self.cameras} cameras, {self.files} files"

    @property
    def wait(self) -> int:
        """Steps from now to the next pictures, >= 1."""
        with self.scene._lock:
            return int(lib.mf_photographer_wait(self._use()))

    def take(self) -> None:
        """Writes the pictures whose tick fell into the last step, at first those of all cameras."""
        with self.scene._lock:
            self.scene._use()
            call(lib.mf_photographer_take, self._use())

    @property
    def cameras(self) -> int:
        """Cameras that take pictures."""
        return int(lib.mf_photographer_cameras(self._use()))

    @property
    def files(self) -> int:
        """Files written so far."""
        return int(lib.mf_photographer_files(self._use()))
