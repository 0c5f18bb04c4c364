"""What Foxglove shows of vehicles, trusses, cloths and particles, against the world's fields."""

import json
import pathlib
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from served import call

import mayfly

pytest.importorskip("mcap_protobuf", reason="mcap-protobuf-support is not installed")
from mcap.reader import make_reader
from test_mcap import read

Vectors = npt.NDArray[Any]


def record(folder: pathlib.Path, scene: str, *words: str) -> pathlib.Path:
    """A short run of one of our scenes."""
    file = folder / f"{scene}.mcap"
    path = mayfly.data_folder() / "scenes" / f"{scene}.yaml"
    every = [] if "--every" in words else ["--every", "0.1"]
    call("run", path, "--record", file, *every, *words)
    return file


def vector(of: Any) -> list[float]:
    return [of.x, of.y, of.z]


def rotated(rotation: Any, along: Vectors) -> Vectors:
    """A vector in the frame of a quaternion of Foxglove's."""
    axis = np.array(vector(rotation))
    return along + 2 * np.cross(axis, np.cross(axis, along) + rotation.w * along)


# ---- shapes of links -----------------------------------------------------------------------------

MEMBERS = {
    "box": ["cubes"],
    "plane": ["cubes"],
    "sphere": ["spheres"],
    "ellipsoid": ["spheres"],
    "cylinder": ["cylinders"],
    "capsule": ["cylinders", "spheres", "spheres"],
    "mesh": ["triangles"],
}


def tinted(color: list[float], group: str | None) -> list[float]:
    """The page's rule for the color of a group (web/src/shapes.ts)."""
    if group is None or max(color) == 0 or min(color) > 0.6 * max(color):
        return color
    parts = [int(group[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    return [max(color) * (0.12 + 0.88 * part) for part in parts]


def check_shapes(file: pathlib.Path, groups: list[str]) -> int:
    """Compares /scene with the picture, which is what the viewer of Mayfly draws."""
    with file.open("rb") as stream:
        attached = {item.name: item.data for item in make_reader(stream).iter_attachments()}
    casts = {cast["name"]: cast for cast in json.loads(attached["picture.json"])["casts"]}
    _, messages = read(file)
    ((_, scene),) = messages["/scene"]
    entities = {entity.id: entity for entity in scene.entities}
    frames = {frame.child_frame_id for frame in messages["/tf"][0][1].transforms}
    compared = 0
    for group in groups:
        cast = casts[group]
        for robot in range(cast["robots"]):
            own = [e for name, e in entities.items() if name.startswith(f"{group}/{robot}/")]
            assert all(e.frame_id in frames or e.frame_id == "world" for e in own)
            left = {kind: [x for e in own for x in getattr(e, kind)] for kind in MEMBERS_ALL}
            for shape in sorted(cast["shapes"], key=lambda shape: shape["link"]):
                color = tinted(shape["color"], cast.get("color"))
                for kind in MEMBERS[shape["type"]]:
                    found = left[kind].pop(0)
                    assert [found.color.r, found.color.g, found.color.b] == pytest.approx(
                        color, abs=1e-6
                    )
                    if shape["type"] == "box":
                        assert vector(found.size) == pytest.approx(shape["size"], rel=1e-5)
                    if shape["type"] == "cylinder":
                        assert found.size.z == pytest.approx(shape["size"][1], rel=1e-5)
                    if shape["type"] in ("box", "cylinder", "sphere"):
                        assert vector(found.pose.position) == pytest.approx(
                            shape["place"], abs=1e-6
                        )
                    compared += 1
            assert not any(left.values())
    return compared


MEMBERS_ALL = sorted({kind for kinds in MEMBERS.values() for kind in kinds})


def test_vehicles_have_the_shapes_of_the_viewer(tmp_path: pathlib.Path) -> None:
    file = record(tmp_path, "everything", "--duration", "0.2")
    assert check_shapes(file, ["car", "quads", "wing"]) == 7 + 40 * 9 + 6
    numbers = mayfly.Recording(file)
    _, messages = read(file)
    for group in ("car", "quads", "wing"):
        position = numbers[f"{group}/base.position"].values
        for sample, (_, message) in enumerate(messages["/tf"]):
            frames = [f for f in message.transforms if f.child_frame_id.startswith(f"{group}/")]
            assert np.array_equal([vector(f.translation) for f in frames], position[sample])


def test_groups_have_their_colors(tmp_path: pathlib.Path) -> None:
    file = record(tmp_path, "soccer", "--duration", "0.1")
    assert check_shapes(file, ["blue", "red"]) > 100


# ---- what has no links ---------------------------------------------------------------------------


def test_particles_are_a_cloud(tmp_path: pathlib.Path) -> None:
    fields = "base.position,particle.waiting"
    file = record(tmp_path, "pool", "--duration", "0.06", "--every", "0.02", "--fields", fields)
    numbers = mayfly.Recording(file)
    _, messages = read(file)
    position = numbers["water/base.position"].values
    waiting = numbers["water/particle.waiting"].values[..., 0] != 0
    clouds = messages["/water/points"]
    assert len(clouds) == len(numbers.time) == 4
    for sample, (_, cloud) in enumerate(clouds):
        offsets = {field.name: field.offset for field in cloud.fields}
        assert list(offsets.values()) == [0, 4, 8, 12, 13, 14, 15]
        assert list(offsets) == ["x", "y", "z", "red", "green", "blue", "alpha"]
        assert [field.type for field in cloud.fields] == [7, 7, 7, 1, 1, 1, 1]
        assert cloud.frame_id == "world" and cloud.point_stride == 16
        points = np.frombuffer(cloud.data, np.dtype([("at", "<f4", 3), ("color", "u1", 4)]))
        here = position[sample][~waiting[sample]].astype(np.float32)
        assert len(here) > 100 and np.array_equal(points["at"], here)
        assert len(np.unique(points["color"], axis=0)) == 1 and points["color"][0, 3] == 255


def test_bars_of_trusses_are_cylinders(tmp_path: pathlib.Path) -> None:
    fields = "vertex.position,bar.ends,bar.diameter"
    file = record(tmp_path, "cantilever", "--duration", "0.2", "--fields", fields)
    numbers = mayfly.Recording(file)
    _, messages = read(file)
    ((name, samples),) = [(n, m) for n, m in messages.items() if n.endswith("/bars")]
    assert name == "/cantilever/bars" and len(samples) == len(numbers.time) == 3
    for sample, (_, update) in enumerate(samples):
        (entity,) = update.entities
        bars = entity.cylinders
        vertices = numbers["vertex.position"].values[sample, 0].reshape(-1, 3)
        ends = numbers["bar.ends"].values[sample, 0].reshape(-1, 2)[: len(bars)]
        diameter = numbers["bar.diameter"].values[sample, 0]
        assert len(bars) == 10 and entity.id == "cantilever/0" and entity.frame_id == "world"
        for bar, (first, last), width in zip(bars, ends, diameter):
            half = rotated(bar.pose.orientation, np.array([0, 0, 0.5 * bar.size.z]))
            middle = np.array(vector(bar.pose.position))
            assert middle - half == pytest.approx(vertices[first], abs=1e-9)
            assert middle + half == pytest.approx(vertices[last], abs=1e-9)
            assert bar.size.x == bar.size.y == width
            assert [bar.color.r, bar.color.g, bar.color.b] == pytest.approx([0.62, 0.65, 0.68])


def test_cloths_are_triangles_that_tear(tmp_path: pathlib.Path) -> None:
    words = ("--duration", "0.9", "--every", "0.3", "--fields", "vertex.position,cloth.torn")
    file = record(tmp_path, "tear", *words)
    numbers = mayfly.Recording(file)
    _, messages = read(file)
    left: dict[str, list[int]] = {}
    for group in ("caught", "broken"):
        position = numbers[f"{group}/vertex.position"].values
        for sample, (_, update) in enumerate(messages[f"/{group}/surface"]):
            (entity,) = update.entities
            (surface,) = entity.triangles
            points = np.array([vector(point) for point in surface.points])
            assert np.array_equal(points, position[sample, 0].reshape(-1, 3).astype(np.float32))
            corners = np.array(surface.indices).reshape(-1, 3)
            assert corners.max() < len(points)
            left.setdefault(group, []).append(len(corners))
        torn = numbers[f"{group}/cloth.torn"].values[:, 0].sum(axis=1)
        whole = [count == left[group][0] for count in left[group]]
        assert whole == [count == 0 for count in torn]
    assert len(set(left["broken"])) > 1 and len(set(left["caught"])) == 1
