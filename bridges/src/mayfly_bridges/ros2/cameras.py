"""The pictures of a robot's cameras, of groups with `cameras: true`."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import numpy.typing as npt

import mayfly
from mayfly_bridges._dds.links import Links, Pose, pose
from mayfly_bridges.ros2 import encode
from mayfly_bridges.ros2.messages import TYPES

# Lenses by ROS 2's names of distortion models, with the number of coefficients.
_MODELS = {"pinhole": ("plumb_bob", 5), "brown": ("plumb_bob", 5), "fisheye": ("equidistant", 4)}


@dataclasses.dataclass(frozen=True)
class Camera:
    """A camera of a model, and the fields of its pictures: by topic, name and encoding."""

    name: str
    link: str
    pose: Pose  # in the link: x forward, y to the left, z up
    described: dict[str, Any]
    fields: dict[str, tuple[str, str]]

    @property
    def period(self) -> float:
        """[s] between pictures."""
        rate = self.described["rate"]
        return float(rate["denominator"] / rate["numerator"])

    def taken(self, nanoseconds: int, step: int) -> int:
        """When [ns] the newest picture was taken that is visible at this time, below 0: none."""
        rate, delay = self.described["rate"], int(self.described["delay"])
        numerator, second = int(rate["numerator"]), int(rate["denominator"]) * 1_000_000_000
        seen = nanoseconds - -(-delay // step) * step
        tick = seen * numerator // second
        return -(-tick * second // (numerator * step)) * step  # in the first step at or behind it


def find_cameras(links: Links, group: mayfly.RemoteGroup) -> list[Camera]:
    """The cameras of a group's robots whose pictures are fields."""
    found = []
    for described in links.described["cameras"]:
        name = str(described["name"])
        kinds = {"image_raw": ("color", "rgb8"), "depth/image_raw": ("depth", "32FC1")}
        fields = {
            topic: (f"camera.{name}.{kind}", encoding)
            for topic, (kind, encoding) in kinds.items()
            if f"camera.{name}.{kind}" in group.fields
        }
        if fields:
            frame = described["frame"]
            link = links.name(frame["link"])
            found.append(Camera(name, link, pose(frame), described, fields))
    return found


def camera_info(nanoseconds: int, frame: str, described: dict[str, Any]) -> Any:
    """sensor_msgs/CameraInfo; lenses that ROS has no model of have no distortion model."""
    model, count = _MODELS.get(described["lens"], ("", 0))
    fx, fy = (float(value) for value in described["focal"])
    cx, cy = (float(value) for value in described["center"])
    return TYPES.new(
        "sensor_msgs/CameraInfo",
        header=encode.header(nanoseconds, frame),
        height=described["height"],
        width=described["width"],
        distortion_model=model,
        d=[float(value) for value in described["coefficients"][:count]],
        k=[fx, 0.0, cx, 0.0, fy, cy, 0.0, 0.0, 1.0],
        r=[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0],
        p=[fx, 0.0, cx, 0.0, 0.0, fy, cy, 0.0, 0.0, 0.0, 1.0, 0.0],
    )


def image(
    nanoseconds: int, frame: str, described: dict[str, Any], encoding: str, pixels: npt.NDArray[Any]
) -> Any:
    """sensor_msgs/Image of a field's row: rgb8 from words, 32FC1 from depths [m]."""
    height, width = described["height"], described["width"]
    if encoding == "rgb8":
        words = np.ascontiguousarray(pixels, "<u4").view(np.uint8)
        data = words.reshape(-1, 4)[:, :3].tobytes()
    else:
        data = np.ascontiguousarray(pixels, "<f4").tobytes()
    made = TYPES.new(
        "sensor_msgs/Image",
        header=encode.header(nanoseconds, frame),
        height=height,
        width=width,
        encoding=encoding,
        step=len(data) // height,
    )
    # The data come last: bytes behind their number. One object a byte would take 50 ms.
    wire = made.serialize(use_version_2=False)[:-4] + len(data).to_bytes(4, "little") + data
    made.serialize = lambda **_: wire
    return made
