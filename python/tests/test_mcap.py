"""Recordings in MCAP, read by the packages that others use; killed runs; threads."""

import json
import pathlib
import shutil
import signal
import subprocess
import time
from typing import Any

import numpy as np
import pytest
from served import COMMAND, call

import mayfly

pytest.importorskip("mcap_protobuf", reason="mcap-protobuf-support is not installed")
from google.protobuf import descriptor_pb2
from mcap.reader import make_reader
from mcap.stream_reader import StreamReader
from mcap_protobuf.decoder import DecoderFactory

SOCCER = mayfly.data_folder() / "scenes" / "soccer.yaml"


def run(file: pathlib.Path, *words: object) -> None:
    call("run", SOCCER, "--record", file, *words)


@pytest.fixture(scope="module")
def match(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """The same match in both formats."""
    folder = tmp_path_factory.mktemp("match")
    for ending in ("h5", "mcap"):
        run(folder / f"match.{ending}", "--duration", 2.5)
    return folder


def read(path: pathlib.Path) -> tuple[Any, dict[str, list[Any]]]:
    """The summary, and all messages by topic, decoded by their schemas."""
    messages: dict[str, list[Any]] = {}
    with path.open("rb") as file:
        reader = make_reader(file, validate_crcs=True, decoder_factories=[DecoderFactory()])
        summary = reader.get_summary()
        for _, channel, message, content in reader.iter_decoded_messages():
            messages.setdefault(channel.topic, []).append((message.log_time, content))
    return summary, messages


def test_numbers_are_those_of_the_run(match: pathlib.Path) -> None:
    numbers = mayfly.Recording(match / "match.h5")
    summary, messages = read(match / "match.mcap")
    assert summary.statistics.chunk_count > 1
    assert len(messages["/tf"]) == len(numbers.time) == 26
    assert [time * 1e-9 for time, _ in messages["/tf"]] == pytest.approx(numbers.time)
    for group, names in (("blue", ("base_position", "joint_angle")), ("ball", ("base_position",))):
        for name in names:
            series = numbers[f"{group}/{name.replace('_', '.')}"].values
            rows = [
                [list(getattr(robot, name)) for robot in message.robots]
                for _, message in messages[f"/{group}/fields"]
            ]
            assert np.array_equal(np.array(rows, series.dtype), series)
    position = numbers["blue/base.position"].values
    for sample, (_, message) in enumerate(messages["/tf"]):
        frames = {frame.child_frame_id: frame for frame in message.transforms}
        for robot in range(4):
            base = next(f for name, f in frames.items() if name.startswith(f"blue/{robot}/"))
            place = base.translation
            assert base.parent_frame_id == "world"
            assert [place.x, place.y, place.z] == position[sample, robot].tolist()
    angle = numbers["red/joint.angle"].values
    for sample, (_, message) in enumerate(messages["/red/2/joint_states"]):
        assert [joint.position for joint in message.joints] == angle[sample, 2].tolist()
        assert message.joints[0].name == "waist"


def test_shapes_are_in_the_frames_of_links(match: pathlib.Path) -> None:
    _, messages = read(match / "match.mcap")
    ((_, scene),) = messages["/scene"]
    frames = {frame.child_frame_id for frame in messages["/tf"][0][1].transforms} | {"world"}
    kinds = set()
    for entity in scene.entities:
        assert entity.frame_id in frames and entity.frame_locked
        kinds |= {name for name in ("cubes", "spheres", "cylinders") if getattr(entity, name)}
    (ball,) = [entity for entity in scene.entities if entity.id.startswith("ball/")]
    assert ball.spheres[0].size.x == pytest.approx(0.14)
    assert kinds == {"cubes", "spheres", "cylinders"}


def test_schemas_are_those_of_foxglove(match: pathlib.Path) -> None:
    theirs = pytest.importorskip("foxglove_schemas_protobuf")
    import importlib

    summary, _ = read(match / "match.mcap")
    known: dict[str, dict[tuple[str, int], tuple[Any, ...]]] = {}
    for file in pathlib.Path(theirs.__path__[0]).glob("*_pb2.py"):
        module = importlib.import_module(f"foxglove_schemas_protobuf.{file.stem}")
        description = descriptor_pb2.FileDescriptorProto()
        module.DESCRIPTOR.CopyToProto(description)
        for message in description.message_type:
            known[message.name] = members(message)
    compared = 0
    for schema in summary.schemas.values():
        if not schema.name.startswith("foxglove."):
            continue
        described = descriptor_pb2.FileDescriptorSet.FromString(schema.data)
        for message in described.file[-1].message_type:
            assert members(message) == known[message.name], message.name
            compared += 1
    assert compared >= 4 * 20


def members(message: Any) -> dict[tuple[str, int], tuple[Any, ...]]:
    return {
        (field.name, field.number): (
            field.type,
            field.label,
            field.type_name,
            field.proto3_optional,
        )
        for field in message.field
    }


def test_what_the_file_says_about_itself(match: pathlib.Path) -> None:
    with (match / "match.mcap").open("rb") as file:
        reader = make_reader(file)
        about = {item.name: item.metadata for item in reader.iter_metadata()}
        attached = {item.name: item.data for item in reader.iter_attachments()}
    assert about["mayfly"]["version"] == mayfly.__version__
    assert about["mayfly"]["recording"] == "1" and about["mayfly"]["step"] == "0.001"
    assert b"groups:" in attached["scene.yaml"]
    assert {cast["name"] for cast in json.loads(attached["picture.json"])["casts"]} == {
        "field",
        "ball",
        "blue",
        "red",
    }


def test_both_formats_read_alike(match: pathlib.Path) -> None:
    first, second = (mayfly.Recording(match / f"match.{ending}") for ending in ("h5", "mcap"))
    assert set(first) == set(second) and np.array_equal(first.time, second.time)
    for name in first:
        assert np.array_equal(first[name].values, second[name].values)
        assert (first[name].unit, first[name].frame) == (second[name].unit, second[name].frame)
        assert first[name].doc == second[name].doc
    assert first.scene == second.scene and first.complete and second.complete
    assert (first.attributes.pop("kind"), second.attributes.pop("kind")) == ("HDF5", "MCAP")
    methods = (first.attributes.pop("compression"), second.attributes.pop("compression"))
    assert methods == ("deflate", "zstd")
    assert first.attributes == second.attributes


def test_threads_change_no_byte(tmp_path: pathlib.Path) -> None:
    for threads in (1, 2):
        run(tmp_path / f"{threads}.mcap", "--duration", 0.5, "--threads", threads)
    assert (tmp_path / "1.mcap").read_bytes() == (tmp_path / "2.mcap").read_bytes()


def test_a_killed_run_leaves_what_it_wrote(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "match.mcap"
    words = [COMMAND, "run", str(SOCCER), "--duration", "1e5", "--record", str(file)]
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(600):
            time.sleep(0.1)
            if file.exists() and file.stat().st_size > 1500000:
                break
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    times, chunks = [], 0
    with file.open("rb") as stream:
        reader = StreamReader(stream, emit_chunks=False, validate_crcs=True)
        try:
            for record in reader.records:
                if type(record).__name__ == "Message":
                    times.append(record.log_time)
                chunks += type(record).__name__ == "MessageIndex"
        except Exception as failure:  # noqa: BLE001 - the end that is missing
            assert "EndOfFile" in type(failure).__name__ or "end" in str(failure).lower()
    recording = mayfly.Recording(file)
    assert not recording.complete and recording.attributes["compression"] == "zstd"
    assert chunks > 0 and len(recording.time) >= 10
    assert max(times) * 1e-9 == pytest.approx(recording.time[-1], abs=1.0)
    assert "did not end" in call("info", file).stdout
    page = mayfly.show(file)
    assert 'id="film"' in page.html


def test_info_and_mistakes(match: pathlib.Path, tmp_path: pathlib.Path) -> None:
    said = call("info", match / "match.mcap").stdout
    assert "26 samples, 0 s to 2.5 s, every 0.1 s" in said
    assert "blue/joint.angle" in said and mayfly.__version__ in said
    found = json.loads(call("info", "--json", match / "match.h5").stdout)
    assert found["samples"] == 26 and found["complete"] and found["picture"]
    (tmp_path / "no.mcap").write_text("nothing")
    for words in (("info",), ("view",), ("view", "--plot", tmp_path / "film.html")):
        said = call(words[0], tmp_path / "no.mcap", *words[1:], code=1).stderr
        assert said.count("\n") == 1
        assert "not a recording: expected a file that mayfly run --record" in said
    film = tmp_path / "film.html"
    call("view", match / "match.mcap", "--plot", film)
    assert film.read_text() == mayfly.show(match / "match.mcap").html
    without = tmp_path / "numbers.mcap"
    with mayfly.World() as world:
        group = world.add_group(mayfly.Model.from_file("hexapod.urdf"), 2, motion="points")
        with mayfly.Recorder(group, without, picture=False) as recorder:
            recorder.sample()
    with pytest.raises(mayfly.UnsupportedError, match="numbers and no picture"):
        mayfly.show(without)
    shutil.copy(match / "match.mcap", tmp_path / "later.mcap")
    data = bytearray((tmp_path / "later.mcap").read_bytes())
    data[data.index(b"recording") + 13] = ord("9")
    (tmp_path / "later.mcap").write_bytes(data)
    with pytest.raises(mayfly.VersionError, match="this version reads format 1"):
        mayfly.Recording(tmp_path / "later.mcap")


def test_pictures_of_cameras(tmp_path: pathlib.Path) -> None:
    model = mayfly.Model.from_file("humanoid.urdf")
    file = tmp_path / "seen.mcap"
    with mayfly.World(step=0.01) as world:
        group = world.add_group(model, 1, motion="kinematic", isolated=False)
        world.add_cameras()
        with mayfly.Recorder(world, file) as recorder:
            for _ in range(3):
                world.step(10)
                recorder.sample()
        name = next(n.split(".")[1] for n in group.fields if n.startswith("camera."))
        last = np.array(group.pictures(name).color[0])
    _, messages = read(file)
    images = messages[f"/{group.name}/0/camera/{name}"]
    image = images[-1][1]
    assert (image.height, image.width) == last.shape[:2] and image.encoding == "rgba8"
    pixels = np.frombuffer(image.data, np.uint8).reshape(image.height, image.width, 4)
    assert np.array_equal(pixels[..., :3], last)
    assert image.frame_id in {f.child_frame_id for f in messages["/tf"][0][1].transforms}
