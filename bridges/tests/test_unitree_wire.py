"""Messages of the bridge unitree against the SDK: the classes, defaults and the checksum library of
PyPI's `unitree-sdk2py-dimos`."""

from __future__ import annotations

import dataclasses
import hashlib
import struct
import time
from typing import Any

import numpy as np
import pytest
from cyclonedds.idl import IdlStruct
from dds_peer import new_domain
from unitree_peer import CRC, api, go, hg, zero

from mayfly_bridges._dds.fixed import Fixed
from mayfly_bridges._dds.node import Node, profile, take_all
from mayfly_bridges.ros2.messages import TYPES as ROS
from mayfly_bridges.unitree.checksum import checksum
from mayfly_bridges.unitree.messages import TYPES
from mayfly_bridges.unitree.motors import STOP_POSITION, STOP_VELOCITY, read_law
from mayfly_bridges.unitree.remote import remote_bytes

MODULES = {"unitree_go": go, "unitree_hg": hg, "unitree_api": api}
WITH_CHECKSUM = ["unitree_go/LowCmd", "unitree_go/LowState"]
WITH_CHECKSUM += ["unitree_hg/LowCmd", "unitree_hg/LowState"]


def other_class(name: str) -> Any:
    package, short = name.split("/")
    return getattr(MODULES[package], f"{short}_")


def shuffle(value: Any, random: np.random.Generator) -> Any:
    """The same message with random members."""
    if isinstance(value, IdlStruct):
        parts = {f.name: shuffle(getattr(value, f.name), random) for f in dataclasses.fields(value)}
        return type(value)(**parts)
    if isinstance(value, list):
        return [shuffle(part, random) for part in value]
    if isinstance(value, float):
        return float(np.float32(random.normal()))
    return int(random.integers(0, 120))


def equal(record: Any, message: Any) -> bool:
    if isinstance(message, IdlStruct):
        return all(
            equal(record[f.name], getattr(message, f.name)) for f in dataclasses.fields(message)
        )
    if isinstance(message, list):
        return len(record) == len(message) and all(map(equal, record, message))
    return bool(record == message)


@pytest.mark.parametrize("name", sorted(TYPES.members))
def test_types_are_those_of_the_sdk(name: str) -> None:
    own, other = TYPES.kind(name), other_class(name)
    for made in (own, other):
        made.__idl__.populate()
    assert own.__idl__.idl_transformed_typename == other.__idl__.idl_transformed_typename
    assert own.__idl__.keyless and other.__idl__.keyless
    # The type's description, which DDS compares.
    for made in (own, other):
        made.__idl__.fill_type_data()
    assert own.__idl__._xt_bytedata == other.__idl__._xt_bytedata
    assert own.__idl__._xt_bytedata[0] is not None


@pytest.mark.parametrize("name", [*WITH_CHECKSUM, "unitree_go/SportModeState"])
def test_bytes_are_those_of_the_sdk(name: str) -> None:
    fixed, random = Fixed(TYPES, name), np.random.default_rng(7)
    message = shuffle(zero(name), random)
    data = message.serialize()
    record = fixed.decode(data)
    assert equal(record, message)
    assert fixed.encode(record) == data
    with pytest.raises(ValueError, match="expected"):
        fixed.decode(data[:-8])
    with pytest.raises(ValueError, match="little-endian"):
        fixed.decode(b"\0\0" + data[2:])


@pytest.mark.parametrize("name", WITH_CHECKSUM)
def test_checksum_is_that_of_the_sdk(name: str) -> None:
    fixed, random = Fixed(TYPES, name), np.random.default_rng(8)
    for _ in range(5):
        message = shuffle(zero(name), random)
        assert checksum(fixed.decode(message.serialize())) == CRC().Crc(message)


def command(**values: float) -> Any:
    record = Fixed(TYPES, "unitree_go/LowCmd").new()["motor_cmd"]
    for name, value in values.items():
        record[name][:2] = value
    return record


def test_law_of_the_motors() -> None:
    angles, rates = np.array([0.5, -0.5]), np.array([1.0, 2.0])

    def torques(**values: float) -> Any:
        return read_law(command(**values), 2).torques(angles, rates)

    order = {"mode": 1, "q": 1.0, "dq": 0.5, "kp": 20.0, "kd": 2.0, "tau": 3.0}
    np.testing.assert_allclose(torques(**order), [12.0, 30.0], rtol=1e-7)
    free = {"q": STOP_POSITION, "dq": STOP_VELOCITY}
    np.testing.assert_allclose(torques(**order | free), [3, 3], rtol=1e-7)
    for off in ({"mode": 0}, {"tau": np.nan}, {"q": np.inf}, {"kp": -1.0}, {"kd": -1.0}):
        np.testing.assert_array_equal(torques(**order | off), [0, 0])


def test_remote_control_is_where_the_sdk_reads_it() -> None:
    message = go.WirelessController_(lx=0.25, ly=-0.5, rx=0.75, ry=-1.0, keys=0x0104)
    record = Fixed(TYPES, "unitree_go/WirelessController").decode(message.serialize())
    data = remote_bytes(record)
    # Offsets of the SDK's example wireless_controller.py: start is bit 2 of byte 2, A bit 0 of 3.
    assert len(data) == 40 and (data[2], data[3]) == (4, 1)
    found = [struct.unpack_from("<f", data, at)[0] for at in (4, 8, 12, 20)]
    assert found == [0.25, 0.75, -1.0, -0.5]


@pytest.mark.parametrize(
    ("library", "name", "digest"),
    [
        (ROS, "sensor_msgs/Image", "f465a3c6a5ac0038"),
        (ROS, "sensor_msgs/JointState", "30d9c5d30cf4f69b"),
        (TYPES, "unitree_go/LowState", "8a468573f190a795"),
        (TYPES, "unitree_hg/LowCmd", "b9c36d43ed6e8c4e"),
    ],
)
def test_descriptions_are_those_of_older_versions(library: Any, name: str, digest: str) -> None:
    """Digests from cyclonedds 0.10.5, which ends with a fault at a description with uint8."""
    description = library.kind(name).__idl__
    description.fill_type_data()
    assert hashlib.sha256(b"".join(description._xt_bytedata)).hexdigest()[:16] == digest


def test_what_cannot_be_read_is_dropped(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A writer with the right type sends bytes that are too few for it."""
    node, fixed = Node(new_domain(monkeypatch)), Fixed(TYPES, "unitree_go/LowCmd")
    reader = node.reader("rt/lowcmd", fixed.kind, profile(1))
    writer = node.writer("rt/lowcmd", fixed.kind, profile(1))
    sample = fixed.sample(fixed.new())
    monkeypatch.setattr(fixed, "_wire_size", 4096)
    end = time.monotonic() + 20
    while not (said := capsys.readouterr().err) and time.monotonic() < end:
        writer.write(sample)
        assert take_all(reader) == []
        time.sleep(0.01)
    assert "rt/lowcmd: a message cannot be read: expected 4096 bytes, found 808" in said
