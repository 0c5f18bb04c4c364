"""A scene without meshes, and backends on it."""

from __future__ import annotations

import os
import pathlib
from collections.abc import Callable, Iterator
from typing import Any

import pytest

pytest.importorskip("unisim")

import unisim  # noqa: E402
from unisim.scene import SceneCfg  # noqa: E402

import mayfly_unisim  # noqa: E402

mayfly_unisim.register()

LEG = """
<body name="{0}_thigh" pos="{1} {2} 0">
  <inertial pos="0 0.01 -0.1" mass="1.0" diaginertia="0.006 0.006 0.001"/>
  <joint name="{0}_hip" axis="0 1 0" range="-1.2 1.2"/>
  <geom name="{0}_bone" type="capsule" fromto="0 0 0 0 0 -0.2" size="0.02"
        contype="0" conaffinity="0"/>
  <body name="{0}_shin" pos="0 0 -0.2">
    <inertial pos="0 0 -0.1" mass="0.3" diaginertia="0.002 0.002 0.0002"/>
    <joint name="{0}_knee" axis="0 1 0" range="-2.6 -0.2"/>
    <geom name="{0}_foot" type="sphere" size="0.025" pos="0 0 -0.2" condim="6"
          friction="0.8 0.02 0.01"/>
  </body>
</body>"""

SCENE = """
<mujoco>
  <option cone="elliptic" impratio="10" timestep="0.004" integrator="{integrator}"/>
  <default>
    <joint damping="0.5" armature="0.01" frictionloss="0.1"/>
    <position kp="60" kv="1.5" forcerange="-25 25"/>
  </default>
  <worldbody>
    <geom name="floor" type="plane" size="0 0 1"/>
    <body name="trunk" pos="0 0 0.42">
      <freejoint/>
      <inertial pos="0.02 0.01 0" mass="7" diaginertia="0.05 0.1 0.11"/>
      <geom name="hull" type="box" size="0.2 0.08 0.05"/>
      <site name="imu" pos="-0.02 0 0.04"/>
      {legs}
    </body>
  </worldbody>
  <actuator>{motors}</actuator>
  <sensor>
    <gyro name="gyro" site="imu" noise="0.1"/>
    <accelerometer name="accelerometer" site="imu"/>
    <velocimeter name="velocity" site="imu"/>
    <framezaxis name="up" objtype="site" objname="imu"/>
    <framepos name="place" objtype="geom" objname="FL_foot"/>
    <contact name="touch" geom1="floor" geom2="FL_foot" data="found" num="1" reduce="mindist"/>
  </sensor>
  <keyframe>
    <key name="stand" qpos="0 0 0.36 1 0 0 0 0.6 -1.2 0.6 -1.2 0.6 -1.2 0.6 -1.2"
         ctrl="0.6 -1.2 0.6 -1.2 0.6 -1.2 0.6 -1.2"/>
  </keyframe>
</mujoco>"""


def write_scene(folder: pathlib.Path, integrator: str = "Euler") -> str:
    corners = {"FL": (0.18, 0.1), "FR": (0.18, -0.1), "RL": (-0.18, 0.1), "RR": (-0.18, -0.1)}
    legs = "".join(LEG.format(name, *place) for name, place in corners.items())
    joints = [f"{name}_{part}" for name in reversed(corners) for part in ("hip", "knee")]
    motors = "".join(f'<position name="m_{joint}" joint="{joint}"/>' for joint in joints)
    path = folder / f"{integrator}.xml"
    path.write_text(SCENE.format(integrator=integrator, legs=legs, motors=motors))
    return str(path)


@pytest.fixture
def scene(tmp_path: pathlib.Path) -> SceneCfg:
    return SceneCfg(model_file=write_scene(tmp_path))


Maker = Callable[..., Any]


@pytest.fixture
def make() -> Iterator[Maker]:
    """A backend by name, closed at the end."""
    made: list[Any] = []

    def create(name: str, scene: SceneCfg, count: int = 3, step: float = 0.004, **more: Any) -> Any:
        made.append(unisim.create_backend(name, scene=scene, num_envs=count, sim_dt=step, **more))
        return made[-1]

    yield create
    for backend in made:
        backend.close()


@pytest.fixture
def shared() -> pathlib.Path:
    """The folder with models of real robots."""
    folder = pathlib.Path(os.environ.get("MAYFLY_SHARED", "../../shared"))
    if not (folder / "models").is_dir():
        pytest.skip("no models of real robots: set MAYFLY_SHARED")
    return folder
