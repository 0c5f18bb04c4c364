"""Cameras: lenses, pictures of a world, and what a real camera does to a picture."""

from __future__ import annotations

import os
import struct
import zlib
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from mayfly import errors
from mayfly._native import Native, call, encode, ffi, fill, lib, output, read_struct
from mayfly._sealed import Sealed
from mayfly._shown import brief
from mayfly.arrays import whole
from mayfly.field import _Memory

if TYPE_CHECKING:
    from mayfly.group import Group
    from mayfly.world import World

__all__ = [
    "Camera",
    "FreeCamera",
    "Picture",
    "blur",
    "distort",
    "noise",
    "pictures",
    "quantize",
    "save_png",
    "vignette",
]

Vector = npt.NDArray[np.float64]
Values = npt.NDArray[np.float32]
Bytes = npt.NDArray[np.uint8]
_BLOCK: int = lib.MF_BLOCK


class Picture(NamedTuple):
    """What a camera saw; None: it does not measure that."""

    color: Bytes | None  # (height, width, 3)
    depth: Values | None  # (height, width) [m]
    segmentation: npt.NDArray[np.int32] | None  # (height, width, 3): group, robot, link

    def __repr__(self) -> str:
        return f"Picture({', '.join(f'{k}={brief(v)}' for k, v in self._asdict().items())})"


class Camera(Sealed):
    """Size, lens and chip of a camera.

    Args:
        width: [pixel].
        height: [pixel].
        fovy: [rad] angle of view from top to bottom, for focal length and center; None: they are
            among the settings, or the default.
        settings: as in the C structure mf_Camera: `lens` ("pinhole", "brown", "angle", "fisheye"),
            `focal`, `center` [pixel], `coefficients`, `nearest`, `farthest` [m], `color`, `depth`,
            `segmentation`, `blur` [pixel], `vignetting`, `noise`, `bits`.

    """

    def __init__(
        self, width: int = 320, height: int = 240, *, fovy: float | None = None, **settings: Any
    ) -> None:
        self.native = ffi.new("mf_Camera *", lib.mf_camera())
        self.native.width = whole(width, "Camera: width", 1, 4097)
        self.native.height = whole(height, "Camera: height", 1, 4097)
        if "coefficients" in settings:
            given = [float(value) for value in settings["coefficients"]]
            settings["coefficients"] = given + [0.0] * (6 - len(given))
        self._alive = fill(self.native[0], settings, "Camera")
        if fovy is not None or not {"focal", "center"} & settings.keys():
            lib.mf_camera_set_view(self.native, np.pi / 4 if fovy is None else float(fovy))
        call(lib.mf_camera_check, self.native, b"camera")
        self._lens = ffi.new("mf_Lens *", lib.mf_lens_of(self.native))
        self._seal()

    @property
    def settings(self) -> dict[str, Any]:
        """All settings."""
        return read_struct(self.native[0])

    def _in_brief(self) -> str:
        return f"{self.native.width} x {self.native.height}, {self.settings['lens']}"

    @property
    def shape(self) -> tuple[int, int]:
        """(height, width) [pixel]."""
        return int(self.native.height), int(self.native.width)

    @property
    def limit(self) -> float:
        """[rad] angle from the axis up to which the lens is one-to-one."""
        return float(self._lens.limit)

    def _each(self, function: Any, values: npt.ArrayLike, size: int, out: int) -> Vector:
        rows = np.asarray(values, float)
        if rows.ndim == 0 or rows.shape[-1] != size:
            raise ValueError(f"need rows of {size} numbers, got shape {rows.shape}")
        given = ffi.new(f"double[{size}]")
        got = ffi.new(f"double[{out}]")
        result = np.full((*rows.shape[:-1], out), np.nan)
        flat = result.reshape(-1, out)
        for i, row in enumerate(rows.reshape(-1, size)):
            given[0:size] = row.tolist()
            if function(self._lens, given, got):
                flat[i] = list(got)
        return result

    def project(self, points: npt.ArrayLike) -> Vector:
        """Pixels (column, row) of points [m] in the camera's frame: x forward, y left, z up.

        NaN: it is behind the camera or beyond the limit. (0, 0) is the center of the first pixel.
        """
        return self._each(lib.mf_lens_project, points, 3, 2)

    def rays(self, pixels: npt.ArrayLike) -> Vector:
        """Unit vectors towards what is seen at pixels; NaN: no ray meets it."""
        return self._each(lib.mf_lens_ray, pixels, 2, 3)


class FreeCamera(Native):
    """A camera at any place of a world; `world.camera(...)` makes one."""

    def __init__(self, world: World, camera: Camera) -> None:
        self.world = world
        self.camera = camera
        with world._lock:
            native = output(lib.mf_free_camera_create, world._use(), camera.native)
            self._take(lib.MFPY_FREE_CAMERA, native, [world])
        self._seal()

    def _in_brief(self) -> str:
        return f"{self.camera._in_brief()}, of {self.world!r}"

    def take(
        self,
        position: npt.ArrayLike,
        rotation: npt.ArrayLike | None = None,
        *,
        look_at: npt.ArrayLike | None = None,
        robot: tuple[Group, int] | None = None,
    ) -> Picture:
        """Takes a picture.

        Args:
            position: [m] world.
            rotation: quaternion (w, x, y, z), camera (x forward, z up) to world.
            look_at: [m] a point in the middle of the picture, instead of a rotation.
            robot: (group, robot): of isolated groups only this robot is there.

        """
        place = np.asarray(position, float).reshape(3)
        if look_at is not None:
            turn = _towards(np.asarray(look_at, float).reshape(3) - place)
        else:
            turn = np.asarray((1.0, 0, 0, 0) if rotation is None else rotation, float).reshape(4)
        height, width = self.camera.shape
        native = self.camera.native
        color = np.empty((height, width, 3), np.uint8) if native.color else None
        depth = np.empty((height, width), np.float32) if native.depth else None
        owner = np.empty((height, width, 3), np.int32) if native.segmentation else None
        pixels = ffi.new("mf_CameraPixels *")
        alive = []
        for name, array in (("color", color), ("depth", depth), ("segmentation", owner)):
            if array is not None:
                kind = {"color": "uint8_t", "depth": "float"}.get(name, "int32_t")
                alive.append(ffi.from_buffer(f"{kind}[]", array, require_writable=True))
                setattr(pixels, name, alive[-1])
        group, index = lib.MF_NONE, 0
        with self.world._lock:
            self.world._use()
            if robot is not None:
                group = _number_of(self.world, robot[0])
                index = whole(robot[1], "robot", 0, robot[0].count)
            at, to = ffi.new("double[3]", place.tolist()), ffi.new("double[4]", turn.tolist())
            call(lib.mf_free_camera_take, self._use(), at, to, group, index, pixels)
        return Picture(color, depth, owner)


def _number_of(world: World, group: Group) -> int:
    if group.world is not world:
        raise errors.ArgumentError(f"group {group.name} is of another world")
    native = world._use()
    for number in range(lib.mf_world_group_count(native)):
        if lib.mf_world_group(native, number) == group._use():
            return number
    raise errors.ArgumentError(f"the world has no group {group.name}")


def _towards(direction: Vector) -> Vector:
    """The rotation without roll whose x axis has this direction."""
    yaw = np.arctan2(direction[1], direction[0])
    pitch = -np.arctan2(direction[2], np.hypot(direction[0], direction[1]))
    cy, sy, cp, sp = np.cos(yaw / 2), np.sin(yaw / 2), np.cos(pitch / 2), np.sin(pitch / 2)
    return np.array([cy * cp, -sy * sp, cy * sp, sy * cp])


# ---- pictures of robots' cameras -----------------------------------------------------------------


def pictures(group: Group, name: str) -> Picture:
    """The pictures of the camera `name` of all robots, without a copy (see Group.pictures)."""
    native = group.model._use()
    index = lib.mf_model_find(native, lib.MF_ITEM_CAMERA, encode(name))
    if index == lib.MF_NONE:
        raise errors.NotFoundError(f"robots of {group.name} have no camera {name!r}")
    size = (int(native.cameras[index].height), int(native.cameras[index].width))
    found = Picture(
        _part(group, f"camera.{name}.color", "|u1", (*size, 3), 1),
        _part(group, f"camera.{name}.depth", "<f4", size, 0),
        _part(group, f"camera.{name}.segmentation", "<i4", (*size, 3), 4 * _BLOCK),
    )
    if all(part is None for part in found):
        raise errors.NotFoundError(f"group {group.name} has no pictures: call world.add_cameras()")
    return found


def _part(group: Group, name: str, kind: str, shape: tuple[int, ...], inner: int) -> Any:
    """The field's memory by robots; `inner`: bytes from one value of a pixel to the next."""
    if name not in group.fields:
        return None
    view = group.field(name).view  # (blocks, 16, values), pixels 16 values apart
    pixel = 4 * _BLOCK * (3 if inner > 1 else 1)
    strides = (pixel * shape[1], pixel, *((inner,) if inner else ()))
    interface = {
        "version": 3,
        "typestr": kind,
        "data": (view.__array_interface__["data"][0], True),
        "shape": (view.shape[0], _BLOCK, *shape),
        "strides": (view.strides[0], 4, *strides),
    }
    blocks = np.asarray(_Memory(view, interface))
    if blocks.shape[0] == 1:
        return blocks[0, : group.count]
    return blocks.reshape(-1, *shape)[: group.count]


# ---- what a camera does to a picture -------------------------------------------------------------


def _photo(image: npt.ArrayLike) -> tuple[Values, Any]:
    """A copy as float32 (height, width[, channels]), and its mf_Photo."""
    values = np.array(image, np.float32, order="C")
    if values.ndim not in (2, 3) or 0 in values.shape:
        raise ValueError(f"need (height, width) or (height, width, channels), got {values.shape}")
    return values, _native_photo(values)


def _native_photo(values: Values) -> Any:
    photo = ffi.new("mf_Photo *")
    photo.height, photo.width = values.shape[:2]
    photo.channels = values.shape[2] if values.ndim == 3 else 1
    photo.values = ffi.cast("float *", values.ctypes.data)
    return photo


def blur(image: npt.ArrayLike, sigma: float) -> Values:
    """Gaussian filter of standard deviation `sigma` [pixel]; the border's pixels go on outside."""
    values, photo = _photo(image)
    scratch = np.empty_like(values)
    buffer = ffi.cast("float *", scratch.ctypes.data)
    call(lib.mf_photo_blur, photo, float(sigma), buffer)
    return values


def distort(image: npt.ArrayLike, taken_with: Camera, lens: Camera) -> Values:
    """The picture that `lens` would have taken where `taken_with` took the image."""
    values, photo = _photo(image)
    out = np.zeros((*lens.shape, *values.shape[2:]), np.float32)
    target = _native_photo(out)
    call(lib.mf_photo_distort, target, lens._lens, photo, taken_with._lens)
    return out


def vignette(image: npt.ArrayLike, camera: Camera, amount: float = 1.0) -> Values:
    """Times 1 - amount (1 - cos^4) of the angle of each pixel's ray."""
    values, photo = _photo(image)
    call(lib.mf_photo_vignette, photo, camera._lens, float(amount))
    return values


def noise(
    image: npt.ArrayLike, sigma: float, *, seed: int = 0, stream: int = 0, tick: int = 0
) -> Values:
    """Plus normally distributed numbers, which follow from seed, stream and tick."""
    values, photo = _photo(image)
    call(lib.mf_photo_noise, photo, float(sigma), seed, stream, tick)
    return values


def quantize(image: npt.ArrayLike, bits: int = 8) -> Bytes:
    """Values 0 .. 1 in 2^bits steps, as 0 .. 255."""
    values, photo = _photo(image)
    out = np.empty(values.shape, np.uint8)
    place = ffi.cast("uint8_t *", out.ctypes.data)
    call(lib.mf_photo_quantize, photo, whole(bits, "bits", 0, 256), place)
    return out


def save_png(path: str | os.PathLike[str], image: npt.ArrayLike) -> None:
    """Writes bytes (height, width) or (height, width, 3) as a PNG file."""
    pixels = np.ascontiguousarray(image)
    if pixels.dtype != np.uint8 or pixels.ndim not in (2, 3) or pixels.shape[2:] not in ((), (3,)):
        raise ValueError(
            "save_png: need uint8 of shape (height, width) or (height, width, 3), got "
            f"{pixels.dtype} {pixels.shape}"
        )
    height, width = pixels.shape[:2]
    rows = np.zeros((height, 1 + pixels[0].size), np.uint8)  # each begins with its filter, none
    rows[:, 1:] = pixels.reshape(height, -1)

    def chunk(kind: bytes, data: bytes) -> bytes:
        tail = struct.pack(">I", zlib.crc32(kind + data))
        return struct.pack(">I", len(data)) + kind + data + tail

    head = struct.pack(">IIBBBBB", width, height, 8, 2 if pixels.ndim == 3 else 0, 0, 0, 0)
    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n")
        file.write(chunk(b"IHDR", head))
        file.write(chunk(b"IDAT", zlib.compress(rows.tobytes(), 6)))
        file.write(chunk(b"IEND", b""))
