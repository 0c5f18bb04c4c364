"""Fits to logs that another code made: MuJoCo, with other numbers than the model's file, and noise;
and logs in the formats of others.
"""

from __future__ import annotations

import csv
import importlib.util
import json
import pathlib
import sqlite3
import struct
from typing import Any

import numpy as np
import pytest
from served import ROOT, call, needs_command

import mayfly

EXAMPLE = ROOT / "examples" / "fit"

# ---- logs of MuJoCo ------------------------------------------------------------------------------


def check(found: mayfly.Fit, truth: dict[str, float], fewest: int) -> None:
    """At least `fewest` of the true values are within their 95 % intervals, and none is far off."""
    inside = 0
    for name, value in truth.items():
        one = found.parameters[name]
        assert one.identified, name
        assert abs(one.value - value) < 2.5 * one.interval, (name, one, value)
        inside += abs(one.value - value) <= one.interval
    assert inside >= fewest, found.parameters


def test_arm_of_the_example() -> None:
    """The log that is shipped; the numbers of the machine stand in the script that made it."""
    spec = importlib.util.spec_from_file_location("make_arm", EXAMPLE / "make_arm.py")
    assert spec is not None and spec.loader is not None
    try:
        importlib.import_module("mujoco")
        made = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(made)
        truth = dict(made.TRUTH)
    except ImportError:  # the numbers can be read without it
        text = (EXAMPLE / "make_arm.py").read_text()
        begin = text.index("TRUTH = ") + len("TRUTH = ")
        truth = json.loads(text[begin : text.index("}", begin) + 1].replace(",\n}", "\n}"))
    found = mayfly.fit(EXAMPLE / "arm.xml", EXAMPLE / "arm.csv")
    check(found, truth, 8)
    for name in ("shoulder.position", "elbow.position"):
        channel = found.channels[name]
        assert channel.model > 10 * channel.fitted, channel
        assert channel.predicted < 1.2e-3
    assert abs(found.delay - truth["delay"]) < 1e-4


def test_the_example_is_what_its_script_makes(tmp_path: pathlib.Path) -> None:
    pytest.importorskip("mujoco", reason="needs mujoco: pip install mujoco")
    spec = importlib.util.spec_from_file_location("make_arm", EXAMPLE / "make_arm.py")
    assert spec is not None and spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    (tmp_path / "arm.xml").write_text((EXAMPLE / "arm.xml").read_text())
    made.sys.argv = ["make_arm.py", str(tmp_path)]
    made.main()
    kept, fresh = (
        np.loadtxt(folder / "arm.csv", delimiter=",", skiprows=1) for folder in (EXAMPLE, tmp_path)
    )
    assert kept.shape == fresh.shape
    assert np.abs(kept - fresh).max() < 1e-4  # other versions of MuJoCo round otherwise


LEG = """
<mujoco model="leg">
  <option timestep="0.001" integrator="implicitfast"/>
  <default>
    <joint damping="0.1" armature="0.004"/>
    <position kp="40" kv="0.5" forcerange="-40 40"/>
  </default>
  <worldbody>
    <geom name="ground" type="plane" size="5 5 0.1" friction="1"/>
    <body name="trunk" pos="0 0 0.43">
      <joint name="lift" type="slide" axis="0 0 1" damping="0" armature="0"/>
      <geom type="box" size="0.08 0.06 0.04" mass="2" contype="0" conaffinity="0"/>
      <site name="imu"/>
      <body name="thigh">
        <joint name="hip" axis="0 1 0"/>
        <geom type="capsule" fromto="0 0 0 0 0 -0.2" size="0.02" mass="0.4" contype="0"
              conaffinity="0"/>
        <body name="shank" pos="0 0 -0.2">
          <joint name="knee" axis="0 1 0"/>
          <geom type="capsule" fromto="0 0 0 0 0 -0.2" size="0.015" mass="0.2" contype="0"
                conaffinity="0"/>
          <geom name="foot" type="sphere" pos="0 0 -0.2" size="0.025" mass="0.05"
                solref="0.01 1" friction="1"/>
        </body>
      </body>
    </body>
  </worldbody>
  <actuator>
    <position name="hip_motor" joint="hip"/>
    <position name="knee_motor" joint="knee"/>
  </actuator>
  <sensor>
    <accelerometer name="imu_accel" site="imu"/>
    <gyro name="imu_gyro" site="imu"/>
  </sensor>
</mujoco>
"""


def hop(time: float) -> tuple[float, float]:
    """[rad] Commands of hip and knee: knees bend, stretch quickly, and bend again, each 0.6 s."""
    phase = time % 0.6
    bend = 0.55 if time < 0.4 or phase < 0.35 else 0.15
    return bend, -2.0 * bend


def test_leg_that_hops_with_an_imu(tmp_path: pathlib.Path) -> None:
    """A leg pushes off and lands; its IMU and its encoders are logged."""
    mujoco: Any = pytest.importorskip("mujoco", reason="needs mujoco: pip install mujoco")
    truth = {
        "hip.damping": 0.25,
        "hip.armature": 0.009,
        "hip.gain": 55.0,
        "knee.damping": 0.18,
        "knee.armature": 0.0065,
        "knee.gain": 48.0,
        "delay": 0.0062,
    }
    noise = {"position": 5e-4, "imu": 0.3}
    (tmp_path / "leg.xml").write_text(LEG)
    model = mujoco.MjModel.from_xml_string(LEG)
    # A machine has no steps: contacts of steps of 1 ms are off by ten times the noise.
    step = model.opt.timestep = 0.000125
    model.opt.integrator = mujoco.mjtIntegrator.mjINT_RK4
    for number, name in ((1, "hip"), (2, "knee")):
        model.dof_damping[number] = truth[f"{name}.damping"]
        model.dof_armature[number] = truth[f"{name}.armature"]
        model.actuator_gainprm[number - 1, 0] = truth[f"{name}.gain"]
        model.actuator_biasprm[number - 1, 1] = -truth[f"{name}.gain"]
    data = mujoco.MjData(model)
    mujoco.mj_setConst(model, data)  # what depends on them
    random = np.random.default_rng(11)
    data.qpos[1:] = hop(0.0)
    lines = [
        "time,hip.command,knee.command,lift.position,hip.position,knee.position,imu_accel.z,battery"
    ]
    flights = 0
    for tick in range(12800):
        time = step * tick
        if tick % 40 == 0:
            angles = data.qpos + noise["position"] * random.standard_normal(3)
            accel = data.sensordata[2] + noise["imu"] * random.standard_normal()
            row = [time, *hop(time), *angles, accel, 24.0]
            if tick == 0:  # nothing has been measured yet
                row[6] = ""
            lines.append(",".join(str(value) for value in row))
        # The command, held for 5 ms at a time, after the delay.
        at = np.floor((time + 0.5 * step - truth["delay"]) / 0.005 + 1e-9) * 0.005
        data.ctrl = hop(max(at, 0.0))
        mujoco.mj_step(model, data)
        flights += data.ncon == 0
    assert flights > 800  # it leaves the ground
    (tmp_path / "hop.csv").write_text("\n".join(lines) + "\n")
    found = mayfly.fit(
        tmp_path / "leg.xml",
        tmp_path / "hop.csv",
        parameters=[
            "hip.damping",
            "knee.damping",
            "hip.armature",
            "knee.armature",
            "gain",
            "delay",
        ],
        out=tmp_path / "fitted.xml",
    )
    found_truth = {name: value for name, value in truth.items() if name in found.parameters}
    assert len(found_truth) == 7
    check(found, found_truth, 5)
    for name in ("lift.position", "hip.position", "knee.position"):
        channel = found.channels[name]
        assert channel.model > 10 * channel.fitted, (name, channel)
    accel = found.channels["imu_accel.z"]
    # At an impact it depends on the length of the step.
    assert accel.fitted < 2.0 * noise["imu"] and accel.model > 10 * accel.fitted, accel
    assert any("battery" in note for note in found.notes)
    written = mayfly.Model.from_file(tmp_path / "fitted.xml")
    assert [joint.name for joint in written.joints] == ["lift", "hip", "knee"]


# ---- formats of others ---------------------------------------------------------------------------


def string(value: str) -> bytes:
    data = value.encode() + b"\0"
    return struct.pack("<I", len(data)) + data


def align(data: bytes, size: int) -> bytes:
    return data + b"\0" * (-len(data) % size)


def reals(data: bytes, values: list[float]) -> bytes:
    data = align(data, 4) + struct.pack("<I", len(values))
    return align(data, 8) + struct.pack(f"<{len(values)}d", *values) if values else data


def stamp(time: float) -> bytes:
    whole = int(time)
    return struct.pack("<iI", whole, round((time - whole) * 1e9)) + string("base")


def joint_state(time: float, names: list[str], positions: list[float]) -> bytes:
    """sensor_msgs/msg/JointState in CDR, without its head of four bytes."""
    data = align(stamp(time), 4) + struct.pack("<I", len(names))
    for name in names:
        data = align(data, 4) + string(name)
    for values in (positions, [], []):
        data = reals(data, values)
    return data


def imu(time: float, rate: list[float], acceleration: list[float]) -> bytes:
    """sensor_msgs/msg/Imu in CDR, without its head; orientation and covariances do not matter."""
    values = [*[0.5] * 4, *[9.0] * 9, *rate, *[8.0] * 9, *acceleration, *[7.0] * 9]
    return align(stamp(time), 8) + struct.pack(f"<{len(values)}d", *values)


def rows_of_the_example() -> list[dict[str, float]]:
    with open(EXAMPLE / "arm.csv", newline="") as file:
        return [{name: float(value) for name, value in row.items()} for row in csv.DictReader(file)]


def messages() -> list[tuple[int, str, bytes]]:
    """The example's log as messages of two topics: time [ns], topic, data."""
    out = []
    for row in rows_of_the_example():
        nanoseconds = round(row["time"] * 1e9) + 5_000_000_000
        for topic, what in (("/joint_commands", "command"), ("/joint_states", "position")):
            names = ["elbow", "shoulder"]
            values = [row[f"{name}.{what}"] for name in names]
            data = b"\0\1\0\0" + joint_state(row["time"] + 5.0, names, values)
            out.append((nanoseconds, topic, data))
    return out


def same_as_csv(path: pathlib.Path) -> None:
    options = ["--parameters", "elbow.gain,delay", "--generations", 2, "--population", 4, "--json"]
    model = EXAMPLE / "arm.xml"
    results = []
    for log in (EXAMPLE / "arm.csv", path):
        lines = [json.loads(line) for line in call("fit", model, log, *options).stdout.splitlines()]
        results.append({line["parameter"]: line for line in lines if "parameter" in line})
        assert lines[-1]["done"] is True
    # Stamps that begin at 5 s have other last bits: far below what the log says about the numbers.
    for name, line in results[0].items():
        assert results[1][name]["value"] == pytest.approx(
            line["value"], abs=0.03 * line["interval"]
        )


TYPES = {
    "/joint_commands": "sensor_msgs/msg/JointState",
    "/joint_states": "sensor_msgs/msg/JointState",
    "/imu": "sensor_msgs/msg/Imu",
}


def write_bag(path: pathlib.Path, log: list[tuple[int, str, bytes]]) -> None:
    """Messages as a bag of ROS 2, in SQLite or MCAP by the ending."""
    if path.suffix == ".mcap":
        writer: Any = pytest.importorskip("mcap.writer")
        with open(path, "wb") as file:
            out = writer.Writer(file)
            out.start(profile="ros2")
            channels = {}
            for topic, kind in TYPES.items():
                schema = out.register_schema(kind, "ros2msg", b"")
                channels[topic] = out.register_channel(topic, "cdr", schema)
            for time, topic, data in log:
                out.add_message(channels[topic], log_time=time, publish_time=time, data=data)
            out.finish()
        return
    with sqlite3.connect(path) as base:
        base.execute("CREATE TABLE topics(id INTEGER PRIMARY KEY, name TEXT, type TEXT)")
        base.execute(
            "CREATE TABLE messages(id INTEGER PRIMARY KEY, topic_id INTEGER, timestamp INTEGER, "
            "data BLOB)"
        )
        numbers = {topic: number + 1 for number, topic in enumerate(TYPES)}
        for topic, kind in TYPES.items():
            base.execute("INSERT INTO topics VALUES (?, ?, ?)", (numbers[topic], topic, kind))
        for time, topic, data in log:
            base.execute(
                "INSERT INTO messages(topic_id, timestamp, data) VALUES (?, ?, ?)",
                (numbers[topic], time, data),
            )
    base.close()


@needs_command
def test_bag_in_sqlite(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "log.db3"
    write_bag(path, messages())
    same_as_csv(path)
    with sqlite3.connect(path) as base:  # a message that ends too early
        base.execute("UPDATE messages SET data = substr(data, 1, 40) WHERE id = 9")
    base.close()
    done = call("fit", EXAMPLE / "arm.xml", path, code=1)
    assert done.stderr.count("\n") == 1 and "ends too early" in done.stderr


@needs_command
def test_bag_in_mcap(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "log.mcap"
    write_bag(path, messages())
    same_as_csv(path)


IMU_COLUMNS = [
    f"imu.{what}.{axis}" for what in ("angular_velocity", "linear_acceleration") for axis in "xyz"
]


def imu_values(row: int) -> list[float]:
    """Six numbers that differ from each other and from row to row."""
    return [(column + 1) * 0.25 + 0.001 * ((7 * row + column) % 11) for column in range(6)]


@needs_command
@pytest.mark.parametrize("ending", ["db3", "mcap"])
def test_imu_in_a_bag(ending: str, tmp_path: pathlib.Path) -> None:
    """The six values of an Imu are compared with those of the model's gyro and accelerometer."""
    text = (EXAMPLE / "arm.xml").read_text()
    sensors = '<sensor><gyro site="imu"/><accelerometer site="imu"/></sensor>'
    model = tmp_path / "arm.xml"
    model.write_text(
        text.replace('<joint name="elbow"/>', '<joint name="elbow"/><site name="imu"/>').replace(
            "</mujoco>", sensors + "</mujoco>"
        )
    )
    rows = rows_of_the_example()[:100]
    names = [*rows[0], *IMU_COLUMNS]
    lines = [",".join(names)]
    log = [one for one in messages() if one[0] < 6_000_000_000 - 5_000_000]
    for number, row in enumerate(rows):
        values = imu_values(number)
        lines.append(",".join(str(value) for value in [*row.values(), *values]))
        log.append(
            (
                round(row["time"] * 1e9) + 5_000_000_000,
                "/imu",
                b"\0\1\0\0" + imu(row["time"] + 5.0, values[:3], values[3:]),
            )
        )
    (tmp_path / "log.csv").write_text("\n".join(lines) + "\n")
    path = tmp_path / f"log.{ending}"
    write_bag(path, log)
    options = ["--parameters", "delay", "--generations", 0, "--population", 4, "--json"]
    errors = []
    for one in (tmp_path / "log.csv", path):
        lines = call("fit", model, one, *options).stdout.splitlines()
        channels = [json.loads(line) for line in lines if '"channel"' in line]
        errors.append({line["channel"]: (line["samples"], line["model"]) for line in channels})
    assert set(errors[0]) == {*IMU_COLUMNS, "shoulder.position", "elbow.position"}
    for name, (samples, model_error) in errors[0].items():
        assert errors[1][name] == (samples, pytest.approx(model_error, rel=1e-4)), name
    if ending == "db3":
        with sqlite3.connect(path) as base:  # an Imu that ends too early
            base.execute("UPDATE messages SET data = substr(data, 1, 200) WHERE topic_id = 3")
        base.close()
        done = call("fit", model, path, code=1)
        assert done.stderr.count("\n") == 1 and "a message of imu ends too early" in done.stderr


@needs_command
def test_hdf5_of_others(tmp_path: pathlib.Path) -> None:
    h5py: Any = pytest.importorskip("h5py")
    rows = rows_of_the_example()
    with h5py.File(tmp_path / "log.h5", "w") as file:
        for name in rows[0]:
            file[name] = np.array([row[name] for row in rows])
        file["calibration"] = np.array([1.0, 2.0])  # another length: no column
    same_as_csv(tmp_path / "log.h5")


@needs_command
def test_recording_of_mayfly(tmp_path: pathlib.Path) -> None:
    """What `mayfly run` recorded is fitted by the model that made it."""
    path = tmp_path / "run.h5"
    call(
        *("run", "models/quadruped.urdf", "--gait", "trot", "--duration", 1, "--record", path),
        *("--every", 0.005, "--fields", "joint.angle,joint.target"),
    )
    done = call(
        *("fit", "models/quadruped.urdf", path, "--base", "fixed", "--parameters", "delay"),
        *("--generations", 1, "--population", 4, "--json"),
    )
    channels = [json.loads(line) for line in done.stdout.splitlines()]
    assert sum("channel" in line for line in channels) == 8


# ---- mistakes ------------------------------------------------------------------------------------


@needs_command
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "log.csv: the log is empty"),
        ("time,elbow.command,elbow.position\n", "log.csv: the log is empty"),
        ("t,elbow.command\n0,0\n", "log.csv:1: expected a line of names with a column 'time'"),
        ("time,elbow.command\n0,0\n0.1,nan\n", "log.csv:3: expected a number for elbow.command"),
        ("time,elbow.command\n0,0\n0.2,0\n0.1,0\n", "log.csv:4: times must rise"),
        ("time,elbow.command\n0,0\n0.1\n", "log.csv:3: expected 2 cells"),
        ("time,elbow.command,elbow.command\n0,0,0\n", "two columns are called elbow.command"),
        (
            "# 1\ntime,elbow.position\n0,0\n1,0\n",
            "log.csv:2: no column of the log commands a joint: expected one such as "
            "shoulder.command\n",
        ),
        (
            "time,elbow.command\n0,0\n1,0\n",
            "log.csv:1: no column of the log can be compared: expected one such as "
            "shoulder.position, or named as a sensor of the robot\n",
        ),
        (  # another robot's name
            "time,lbr/elbow.command,lbr/elbow.position\n0,0,0\n1,0,0\n",
            "log.csv:1: no column of the log commands a joint: expected one such as "
            "shoulder.command, found lbr/elbow.command, lbr/elbow.position\n",
        ),
        (  # degrees
            "time,elbow.command,elbow.position\n0,0,0\n1,45,44\n",
            "log.csv:1: elbow.command reaches 45 rad, expected at most 2: if it is in degrees, "
            "--map elbow.command=elbow.command*0.0174533\n",
        ),
        (
            "time,elbow.command,elbow.position\n0,0,0\n0.005,0,0\n",
            "log.csv:3: the log lasts 0.005 s: too short for steps of 0.001 s, expected at least "
            "10 of them; times are in seconds\n",
        ),
        ("#ROSBAG V2.0\n", "a bag of ROS 1"),
        ("\0\1\2", "expected CSV, HDF5, MCAP or a bag of ROS 2"),
    ],
)
def test_bad_logs_get_one_line(text: str, message: str, tmp_path: pathlib.Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text(text)
    done = call("fit", EXAMPLE / "arm.xml", path, code=1)
    assert done.stderr.count("\n") == 1
    assert message in done.stderr
    with pytest.raises(mayfly.MayflyError):
        mayfly.fit(EXAMPLE / "arm.xml", path)


@needs_command
def test_a_column_that_the_log_does_not_have(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("time,elbow.command,q1\n0,0,0\n1,0,0\n")
    done = call("fit", EXAMPLE / "arm.xml", path, "--map", "q2=elbow.position", code=1)
    assert done.stderr.count("\n") == 1
    assert "log.csv:1: map: the log has no column 'q2', did you mean 'q1'?" in done.stderr
