"""Worlds and groups: creation, use, destruction."""

import json
import pickle
from pathlib import Path

import numpy as np
import pytest
from served import call

import mayfly
from conftest import goes_on_alike


def test_ball_falls_as_it_must() -> None:
    """Semi-implicit Euler from rest: after n steps of h, z = z0 - g h^2 n (n + 1) / 2."""
    ball = mayfly.Model.from_file("ball.xml")
    with mayfly.World(step=0.001, gravity=10.0) as world:
        group = world.add_group(ball, 3, precision="double", contacts=False)
        start = group["base.position"].array
        group["base.position"] = start + [0, 0, 100.0]
        world.step(200)
        fallen = start[:, 2] + 100.0 - group["base.position"].array[:, 2]
        assert np.allclose(fallen, 10.0 * 1e-6 * 200 * 201 / 2, rtol=0, atol=1e-12)
        assert world.time == 0.2 and world.time_ns == 200_000_000


@pytest.mark.parametrize(
    "name", ["hexapod.urdf", "ant.xml", "humanoid.urdf", "tumbler.xml", "stack.xml", "figure.xml"]
)
def test_same_bits_as_the_command(name: str) -> None:
    """`mayfly run` and the package must be the same simulation."""
    path = mayfly.data_folder() / "models" / name
    ran = call("run", path, "--duration", 0.5, "--json")
    model = mayfly.Model.from_file(path)
    with mayfly.World.for_model(model, seed=1) as world:
        group = world.add_group(model, sensors={"lenient": True})
        if len(model.keyframes) > 0:
            frame = model.keyframes[0]
            group.set_state(frame.position, frame.velocity)
            if "actuator.control" in group:
                group["actuator.control"] = frame.control
        group.refresh()
        world.run(0.5)
        assert f"{world.hash():016x}" == json.loads(ran.stdout.splitlines()[-1])["hash"]


def test_a_file_may_switch_gravity_off(tmp_path: Path) -> None:
    text = """<mujoco><option gravity="0 0 -4"><flag gravity="{}"/></option><worldbody>
<body pos="0 0 9"><freejoint/><geom size=".1"/></body></worldbody></mujoco>"""
    for word, fall in (("enable", -2.0), ("disable", 0.0)):
        (tmp_path / "ball.xml").write_text(text.format(word))
        model = mayfly.Model.from_file(tmp_path / "ball.xml")
        assert model.gravity == (0.0, 0.0, 2.0 * fall)
        with mayfly.World.for_model(model) as world:
            group = world.add_group(model, precision="double")
            world.run(1.0)
            assert group["base.position"].array[0, 2] == pytest.approx(9.0 + fall, abs=0.01)


def test_robots_fall_past_a_floor_that_is_a_box(tmp_path: Path) -> None:
    """A file with shapes of its own to stand on has no other ground; a world's own ground stays."""
    (tmp_path / "ball.xml").write_text(
        """<mujoco><worldbody><geom type="box" size="1 1 .1" pos="0 0 -.1"/><body pos="5 0 .2">
<freejoint/><geom size=".1"/></body></worldbody></mujoco>"""
    )
    model = mayfly.Model.from_file(tmp_path / "ball.xml")
    for terrain, height in ((None, -6.9), (mayfly.Terrain.from_array([[0.0]]), 0.1)):
        with mayfly.World.for_model(model, terrain=terrain) as world:
            group = world.add_group(model)
            world.run(1.2)
            assert group["base.position"].array[0, 2] == pytest.approx(height, abs=0.1)


def test_warnings_do_not_stop_a_robot() -> None:
    """A position that single precision holds to 2 mm only."""
    body = '<body><freejoint/><geom size=".1"/></body>'
    model = mayfly.Model.from_string(f"<mujoco><worldbody>{body}</worldbody></mujoco>")
    with mayfly.World.for_model(model) as world:
        group = world.add_group(model, 3)
        assert not group.warning.any() and group.warnings == {}
        group.set_start([2e4, 0, 1])
        world.step(64)
        robots, steps, residual = group.warnings["precision"]
        assert robots == 3 and steps > 0 and residual > 0
        assert group.faults == 0 and "precision" in group.warning_names(2)
        before = group["base.position"].array.copy()
        world.step(5)
        assert not np.array_equal(before, group["base.position"].array)
        group.set_start([0, 0, 1])
        assert not group.warning.any()


def test_contacts_that_would_be_dropped_are_a_fault(tmp_path: Path) -> None:
    balls = "".join(
        f'<geom size=".01" mass=".01" pos="{0.03 * (i % 5)} {0.03 * (i // 5)} 0"/>'
        for i in range(20)
    )
    # One box is ground: 24 contacts of each ball, and there is room for 16.
    boxes = 25 * '<geom type="box" size="9 9 .1"/>'
    (tmp_path / "spiky.xml").write_text(
        f'<mujoco><worldbody>{boxes}<body pos="0 0 .1099"><freejoint/>{balls}'
        "</body></worldbody></mujoco>"
    )
    model = mayfly.Model.from_file(tmp_path / "spiky.xml")
    with mayfly.World.for_model(model) as world:
        group = world.add_group(model, 3)
        world.step(5)
        assert group.faults == 3 and group.fault_names(2) == ("contacts",)
        assert "contacts" in group.warning_names(2)
        group.reset()
        assert group.faults == 0 and not group.warning.any()


def make(hexapod: mayfly.Model, **settings: object) -> mayfly.World:
    world = mayfly.World(seed=5, **settings)  # type: ignore[arg-type]
    group = world.add_group(hexapod, 40, motion="points", controller="oscillator")
    group["oscillator.amplitude"] = 0.3
    group["oscillator.phase"] = np.linspace(0, 1, 40 * 18).reshape(40, 18)
    group["oscillator.frequency"] = np.linspace(0.5, 2, 40)
    return world


def test_threads_and_sets_change_no_bit(hexapod: mayfly.Model) -> None:
    hashes = set()
    for settings in ({"threads": 1}, {"threads": 3}, {"isa": "scalar"}, {}):
        with make(hexapod, **settings) as world:
            world.step(100)
            hashes.add(world.hash())
    assert len(hashes) == 1


def test_alone_as_in_a_batch(hexapod: mayfly.Model) -> None:
    with make(hexapod) as world:
        world.step(50)
        hashes = [world.groups[0].instance_hash(i) for i in range(40)]
        rows = {
            name: world.groups[0][f"oscillator.{name}"].array for name in ("phase", "frequency")
        }
    with mayfly.World(seed=5) as world:
        group = world.add_group(hexapod, 1, motion="points", controller="oscillator")
        group["oscillator.amplitude"] = 0.3
        for name, values in rows.items():
            group[f"oscillator.{name}"] = values[23:24]
        world.step(50)
        assert group.instance_hash(0) == hashes[23]


def test_snapshots(hexapod: mayfly.Model) -> None:
    with make(hexapod) as world:
        world.step(30)
        image = world.snapshot()
        world.step(70)
        requested = world.hash()
        world.restore(image)
        assert world.time == pytest.approx(0.3)
        world.step(70)
        assert world.hash() == requested
        broken = bytearray(image)
        broken[len(broken) // 2] ^= 1
        with pytest.raises(mayfly.CorruptError):
            world.restore(broken)
        with pytest.raises((mayfly.CorruptError, mayfly.ArgumentError)):
            world.restore(b"nothing")
        assert world.hash() == requested


def test_pickled_worlds_go_on(hexapod: mayfly.Model) -> None:
    terrain = mayfly.Terrain.generate("noise", amplitude=0.02, seed=3)
    with mayfly.World(terrain=terrain) as world:
        group = world.add_group(
            hexapod,
            5,
            motion=["points", "articulated"],
            points={"friction": "coupled"},
            spacing=1.0,
        )
        group.set_start([[0.3 * i, 0, 0.2] for i in range(5)])
        world.step(20)
        group.switch("articulated", [1, 3])
        world.step(20)
        again = goes_on_alike(world, 30)
        assert again.groups[0].motion_of(1) == "articulated"
        group.reset()
        again.groups[0].reset()
        assert again.hash() == world.hash()
        assert pickle.loads(pickle.dumps(group)).world.hash() == world.hash()
        again.close()


def test_groups_of_different_bodies(hexapod: mayfly.Model, ant: mayfly.Model) -> None:
    with mayfly.World(step=0.002) as world:
        first = world.add_group(hexapod, 20, name="six legs", motion="points")
        second = world.add_group(ant, 3, name="ants")
        world.step(10)
        assert world.groups == (first, second) and world.group("ants") is second
        with pytest.raises(mayfly.NotFoundError, match="six legs, ants"):
            world.group("bees")
        with pytest.raises(mayfly.ArgumentError, match="used already"):
            world.add_group(ant, name="ants")


def test_what_fails_adds_nothing(hexapod: mayfly.Model, ant: mayfly.Model) -> None:
    with mayfly.World() as world:
        robots = world.add_group(hexapod, 2, motion="points")
        before = world.hash()
        for wrong, error in (
            ({"motion": "point"}, "did you mean 'points'"),
            ({"count": 0}, "count"),
            ({"count": 2**27}, "count"),
            ({"precision": "half"}, "precision"),
            ({"contact_time": -1.0}, "contact_time"),
            ({"integrator": "euler2"}, "'rk4'"),
            ({"motion": "points", "joint_interval": 0.015}, "joint_interval"),
            ({"motion": "points", "compliance": float("nan")}, "compliance"),
            ({"controller": "pid"}, "controller"),
            ({"gaits": ["absent"], "motion": "prescribed"}, "absent"),
            ({"spacing": float("inf")}, "spacing"),
            ({"fault_policy": "panic"}, "'reset'"),
        ):
            with pytest.raises((ValueError, OSError), match=error):
                world.add_group(hexapod, **{"count": 2, "name": "more", **wrong})  # type: ignore
        for wrong, error in (
            ({"contact_tim": 1.0}, "did you mean 'contact_time'"),
            ({"shapes": "yes"}, "True or False"),
            ({"sweeps": 1.5}, "whole number"),
            ({"motion": ["points", "rigid"], "friction": 1.0}, "of which motion"),
            ({"motion": "points", "rigid": {}}, "does not have"),
        ):
            with pytest.raises(TypeError, match=error):
                world.add_group(hexapod, name="more", **wrong)  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="need a Model"):
            world.add_group("hexapod.urdf")  # type: ignore[arg-type]
        with pytest.raises(NotImplementedError):
            world.add_group(mayfly.Model.from_file("ball.xml"), name="ball", motion="kinematic")
        assert world.groups == (robots,) and world.hash() == before
        world.add_group(ant, name="more")
        world.step(2)


def test_motions_and_switches(hexapod: mayfly.Model, world: mayfly.World) -> None:
    group = world.add_group(hexapod, 4, motion=["articulated", "points"])
    assert group.motions == ("articulated", "points") and group.motion_of(2) == "articulated"
    world.step(5)
    place = group["base.position"].array
    group.switch("points", [1, 2])
    assert [group.motion_of(i) for i in range(4)] == [
        "articulated",
        "points",
        "points",
        "articulated",
    ]
    assert np.array_equal(place, group["base.position"].array)
    with pytest.raises(ValueError, match="articulated, points"):
        group.switch("flying")
    with pytest.raises(mayfly.ArgumentError):
        group.switch("rigid")
    with pytest.raises(ValueError, match="switch"):
        group["motion.level"] = 1


def test_state_and_back(world: mayfly.World) -> None:
    model = mayfly.Model.from_file("tumbler.xml")
    group = world.add_group(model, 5, precision="double")
    rng = np.random.default_rng(1)
    q = rng.normal(size=(5, model.position_count))
    v = rng.normal(size=(5, model.velocity_count))
    at = model.joint("knee_2").position_address
    for part in (slice(3, 7), slice(at, at + 4)):
        q[:, part] /= np.linalg.norm(q[:, part], axis=1, keepdims=True)
    group.set_state(q, v)
    got_q, got_v = group.state()
    assert np.allclose(got_q, q, rtol=0, atol=1e-15) and np.array_equal(got_v, v)
    group.set_state(q[2], robots=[0, 3])
    assert np.allclose(group.state()[0][[0, 3]], q[2], atol=1e-15)
    with pytest.raises(ValueError, match="shape"):
        group.set_state(q[:, :-1])
    with pytest.raises(mayfly.ArgumentError, match="finite"):
        group.set_state(q * np.nan)


def test_sensors_of_a_state_that_was_set(ant: mayfly.Model) -> None:
    model = mayfly.Model.from_string(
        "<mujoco><worldbody><body name='ball' pos='0 0 1'><freejoint/><geom size='0.1' mass='1'/>"
        "</body></worldbody><sensor><framelinvel objtype='body' objname='ball'/></sensor></mujoco>"
    )
    with mayfly.World(step=0.01) as world:
        balls = world.add_group(model, 18, sensors=True)
        balls.set_state(model.start_position, [1.0, 2.0, 3.0, 0.0, 0.0, 0.0])
        assert not balls["sensor.value"].array.any()  # still those of the start
        balls.measure([17, 3])
        seen = balls["sensor.value"].array
        assert seen[[3, 17]].tolist() == [[1, 2, 3], [1, 2, 3]] and not seen[4].any()
        balls.measure()
        assert (balls["sensor.value"].array == [1, 2, 3]).all()
        world.add_group(ant, 1, name="ants").measure()  # has none


def test_poses(world: mayfly.World) -> None:
    """A pendulum of 1 m about y, hung at (0, 0, 2): at angle a its tip frame has turned by a."""
    text = """<mujoco><worldbody><body name="rod" pos="0 0 2">
      <joint name="swing" axis="0 1 0"/><geom type="sphere" size="0.1" pos="0 0 -1"/>
      <body name="tip" pos="0 0 -1"><joint name="twist" axis="0 0 1"/>
      <geom type="sphere" size="0.1"/></body></body></worldbody></mujoco>"""
    model = mayfly.Model.from_string(text)
    group = world.add_group(model, 3, precision="double", contacts=False)
    angles = np.array([0.0, 0.5, -2.0])
    group.set_start([0, 0, 0])
    group["swing/joint.angle"] = angles
    positions, turns = group.poses()
    tip = model.link("tip").index
    requested = np.stack([-np.sin(angles), 0 * angles, 2 - np.cos(angles)], axis=1)
    assert np.allclose(positions[:, tip], requested, atol=1e-12)
    assert np.allclose(turns[:, tip, [0, 2]], np.stack([np.cos(angles / 2), np.sin(angles / 2)], 1))
    assert positions.shape == (3, len(model.links), 3)


def test_equations_of_motion(world: mayfly.World) -> None:
    """A pendulum of 2 kg at 0.5 m: M = m l^2, h = m g l sin(angle); and identities of a robot."""
    text = """<mujoco><worldbody><body name="rod" pos="0 0 2"><joint axis="0 1 0"/>
      <inertial pos="0 0 -.5" mass="2" diaginertia=".1 .1 .1"/></body></worldbody></mujoco>"""
    angles = np.linspace(-2.0, 2.0, 21)
    group = world.add_group(mayfly.Model.from_string(text), 21, precision="double", contacts=False)
    group["joint.angle"] = angles[:, None]
    assert group.velocity_count == 1
    assert np.allclose(group.mass_matrix(), np.full((21, 1, 1), 0.6), atol=1e-14)
    assert np.allclose(group.bias()[:, 0], 9.81 * np.sin(angles), atol=1e-12)
    assert np.allclose(group.forward_dynamics([3.0], 4), (3 - 9.81 * np.sin(angles[4])) / 0.6)
    arm = [0, 0, -0.5]
    assert np.allclose(group.jacobian("rod", arm, [1, 0])[:, 0, 0], -0.5 * np.cos(angles[[1, 0]]))


def test_equations_of_a_robot(world: mayfly.World, ant: mayfly.Model) -> None:
    group = world.add_group(ant, 20, name="ants", precision="double")
    random = np.random.default_rng(1)
    q, v = random.normal(size=(20, ant.position_count)), random.normal(size=(20, 14))
    group.set_state(q, v)
    mass, bias, tau = group.mass_matrix(), group.bias(), random.normal(size=(20, 14))
    assert mass.shape == (20, 14, 14) and (mass == mass.transpose(0, 2, 1)).all()
    assert (np.linalg.eigvalsh(mass) > 0).all()
    moved = group.forward_dynamics(tau)
    assert np.allclose(np.einsum("rij,rj->ri", mass, moved) + bias, tau, atol=1e-10)
    assert np.allclose(group.inverse_dynamics(moved), tau, atol=1e-10)
    some = [17, 3, 3]
    assert (group.mass_matrix(some) == mass[some]).all()
    assert (group.inverse_dynamics(moved[some], some) == group.inverse_dynamics(moved)[some]).all()
    assert group.bias([]).shape == (0, 14)
    link = ant.links[-1]
    speeds = np.einsum("rij,rj->ri", group.jacobian(link.name), group.state()[1])
    assert np.allclose(group.link_velocities()[:, link.index], speeds, atol=1e-12)
    with pytest.raises(ValueError, match="shape"):
        group.inverse_dynamics(np.zeros(13))
    with pytest.raises(ValueError, match="link"):
        group.jacobian(99)


def test_derived_links(world: mayfly.World, ant: mayfly.Model) -> None:
    group = world.add_group(ant, 20, precision="double")
    group.derive_links()
    world.step(10)
    position, rotation = group.poses()
    pose = group["link.pose"]
    assert pose.shape == (20, len(ant.links), 7) and not pose.writeable
    assert (pose[..., :3] == position).all() and (pose[..., 3:] == rotation).all()
    assert (group["link.velocity"][...] == group.link_velocities()).all()
    last = ant.links[-1]
    assert (group[f"{last.name}/link.pose"][...] == pose[:, last.index]).all()
    moved = group["base.position"][...] + [1, 0, 0]
    group["base.position"] = moved
    assert (pose[:, 0, :3] == moved).all()


def test_gaits_walk(world: mayfly.World) -> None:
    model = mayfly.Model.from_file("humanoid.urdf")
    with mayfly.World(step=0.001) as world:
        robots = world.add_group(model, 2, motion="kinematic", gaits=["walk"])
        robots["gait.command"] = [[0.1, 0, 0], [0, 0, 0]]
        world.run(3)
        x = robots["base.position"].array[:, 0]
        assert x[0] - x[1] > 0.1


def test_poses_and_resets(hexapod: mayfly.Model, world: mayfly.World) -> None:
    group = world.add_group(hexapod, 20, motion="points")
    group.set_start([1.0, 2.0, 3.0], robots=7)
    group.set_start(np.arange(6).reshape(2, 3), robots=[1, 2], orientation=[0, 0, 0, 1])
    world.step(10)
    group.reset([1, 7])
    assert group["base.position"][7].tolist() == [1, 2, 3]
    assert group["base.position"][1].tolist() == [0, 1, 2]
    assert group["base.orientation"][2][3] == pytest.approx(1.0, abs=0.1)
    mask = np.zeros(20, bool)
    mask[7] = True
    group.reset(mask)
    for wrong in ([0, 0], [[0, 0, 0]] * 3, np.zeros((20, 4)), "abc", None):
        with pytest.raises((ValueError, TypeError)):
            group.set_start(wrong)  # type: ignore[arg-type]
    with pytest.raises(IndexError):
        group.reset(20)
    with pytest.raises(mayfly.ArgumentError, match="length 1"):
        group.set_start([0, 0, 0], orientation=[1, 1, 0, 0])


def test_faults_are_reported(hexapod: mayfly.Model, world: mayfly.World) -> None:
    group = world.add_group(hexapod, 20, motion="points")
    other = world.hash()
    assert group.faults == 0
    group["base.linear_velocity"].view[0, 3, 0] = np.nan
    world.step(2)
    assert group.faults == 1 and group.fault.nonzero()[0].tolist() == [3]
    assert "nonfinite" in group.fault_names(3) and group.fault_names(4) == ()
    group.reset(3)
    assert group.faults == 0 and other != world.hash()


def test_wrong_worlds() -> None:
    for wrong in (
        {"step": 0.0},
        {"step": 2.0},
        {"step": float("nan")},
        {"gravity": -1.0},
        {"seed": -1},
        {"seed": 2**64},
        {"isa": "sse"},
        {"gravity_direction": (0, 1)},
        {"threads": 0},
    ):
        with pytest.raises(ValueError):
            mayfly.World(**wrong)  # type: ignore[arg-type]
    for typed in ({"step": "1"}, {"terrain": 3}, {"threads": 1.5}):
        with pytest.raises(TypeError):
            mayfly.World(**typed)  # type: ignore[arg-type]
    with mayfly.World() as world:
        for count in (-1, 2**70):
            with pytest.raises(ValueError):
                world.step(count)
        with pytest.raises(TypeError):
            world.step(1.5)  # type: ignore[arg-type]
        with pytest.raises(ValueError):
            world.run(float("nan"))


def test_ground(hexapod: mayfly.Model) -> None:
    heights = np.zeros((4, 6))
    heights[1, 2] = 0.5
    ground = mayfly.Terrain.from_array(heights, cell=1.0, origin=(0, 0))
    assert ground.height(2.5, 1.5) == 0.5 and ground.height(0.5, 0.5) == 0.0
    assert np.array_equal(ground.heights, heights) and ground.origin == (0.0, 0.0)
    slope = mayfly.Terrain.generate("slope", amplitude=0.3, interpolation="bilinear")
    assert slope.normal(0, 0)[0] == pytest.approx(-np.sin(0.3), rel=1e-6)
    assert pickle.loads(pickle.dumps(ground)).hash() == ground.hash()
    for wrong in (np.zeros(3), np.zeros((0, 2)), [[float("nan")]], [[1e9]]):
        with pytest.raises(ValueError):
            mayfly.Terrain.from_array(wrong)
    with mayfly.World(terrain=ground) as world:
        ground.close()
        world.add_group(hexapod, motion="points")
        world.step(3)


def test_range_sensors_see_other_robots(tmp_path: Path) -> None:
    path = tmp_path / "eye.xml"
    path.write_text(
        "<mujoco><worldbody><body><freejoint/><geom type='sphere' size='0.1'/>"
        "<site name='eye' zaxis='1 0 0'/></body></worldbody>"
        "<sensor><rangefinder name='eye' site='eye'/></sensor></mujoco>"
    )
    eye = mayfly.Model.from_file(path)
    with mayfly.World(step=0.001, gravity=0.0) as world:
        eyes = world.add_group(eye, 2, isolated=False, contacts=False, sensors=True)
        eyes["base.position"] = [[0, 0, 5], [2, 0, 5]]
        world.step(1)
        assert eyes["sensor.value"].array[:, 0].tolist() == [-1, -1]  # the ground only
        world.add_ranges()
        world.step(1)
        assert eyes["sensor.value"].array[:, 0] == pytest.approx([1.9, -1], rel=1e-6)
        again = pickle.loads(pickle.dumps(world))
        again.groups[0]["base.position"] = [[0, 0, 5], [3, 0, 5]]
        again.step(1)
        assert again.groups[0]["sensor.value"].array[0, 0] == pytest.approx(2.9, rel=1e-6)
        with pytest.raises(mayfly.ArgumentError):
            world.add_ranges()


@pytest.mark.parametrize("law", ["explicit", "hard"])
def test_collisions_push(law: str) -> None:
    ball = mayfly.Model.from_file("ball.xml")
    with mayfly.World(step=0.001, gravity=0.0) as world:
        balls = world.add_group(ball, 2, isolated=False, pushable=True, contacts=False)
        world.add_collisions(law=law, restitution=1.0, friction=0.0)
        balls["base.position"] = [[0, 0, 5], [0.5, 0, 5]]
        balls["base.linear_velocity"] = [[2, 0, 0], [0, 0, 0]]
        world.run(0.5)
        speed = balls["base.linear_velocity"].array[:, 0]
        # Equal masses: momentum stays, and an elastic impact exchanges the speeds.
        assert speed.sum() == pytest.approx(2.0, rel=1e-5) and speed[1] > 1.8


def test_external_bodies_push_and_are_not_pushed() -> None:
    ball = mayfly.Model.from_file("ball.xml")
    with mayfly.World(step=0.0005, gravity=0.0) as world:
        paddle = world.add_group(ball, name="paddle", motion="external", isolated=False)
        hand = world.add_group(ball, name="hand", motion="external", isolated=False, targets=True)
        free = world.add_group(ball, name="ball", isolated=False, pushable=True, contacts=False)
        world.add_collisions(law="explicit", restitution=1.0, friction=0.0)
        paddle["base.position"] = [[0, 0, 5]]
        paddle["base.linear_velocity"] = [[1.5, 0, 0]]
        free["base.position"] = [[0.6, 0, 5]]
        hand["target.position"] = [[0, 3, 5]]
        world.step(1)
        assert hand["base.position"].array[0].tolist() == [0, 3, 5]
        world.run(0.5)
        assert paddle["base.linear_velocity"].array[0, 0] == 1.5
        assert free["base.linear_velocity"].array[0, 0] == pytest.approx(3.0, rel=0.02)
        assert hand["base.linear_velocity"].array[0].tolist() == [0, 0, 0]
        assert paddle.motion_of(0) == "external"
        with pytest.raises(
            ValueError, match="need one of kinematic, .*articulated, got 'external'"
        ):
            world.add_group(ball, name="both", motion=["external", "rigid"])


def test_questions_about_a_world() -> None:
    ball = mayfly.Model.from_file("ball.xml")
    radius = 0.07  # [m] as in the file
    with mayfly.World(step=0.001) as world:
        balls = world.add_group(ball, 2, name="balls", isolated=False, pushable=True)
        world.add_collisions()
        balls["base.position"] = [[0, 0, radius], [5, 0, 3]]
        hit = world.ray((5, 0, 10))
        assert hit is not None and hit.owner == mayfly.ShapeOwner(balls, 1, 0, 0)
        assert hit.distance == pytest.approx(7 - radius) and hit.normal[2] == pytest.approx(1)
        ground = world.ray((5, 0, 10), without=(balls, 1))
        assert ground is not None and ground.owner.is_ground and ground.point[2] == 0
        assert world.ray((1, 1, 1), (0, 0, 1)) is None
        apart = world.distance((balls, 0))
        assert apart is not None and apart.owners[1].robot == 1
        expected = np.hypot(5, 3 - radius) - 2 * radius
        assert apart.distance == pytest.approx(expected, rel=1e-5)
        assert world.distance((balls, 0), (balls, 1, 0), reach=1) is None
        world.run(0.3)
        (contact,) = world.contacts()
        assert contact.owners[0].robot == 0 and contact.owners[1].is_ground
        assert contact.load == pytest.approx(ball.mass * 9.81, rel=0.05) and contact.force is None
        balls["base.position"] = [[0, 0, 4], [1.9 * radius, 0, 4]]
        world.step(1)
        (touch,) = world.contacts()
        assert touch.force is not None and touch.force[0] == pytest.approx(touch.load, rel=1e-3)
        with pytest.raises(ValueError, match="need a group of this world"):
            world.distance((ball, 0))  # type: ignore[arg-type]
        with pytest.raises(mayfly.ArgumentError, match="two links"):
            world.distance((balls, 0), (balls, 0))
        with pytest.raises(ValueError, match="three numbers"):
            world.ray((0, 0))


def test_notes_name_what_the_settings_of_a_group_leave_out(tmp_path: Path) -> None:
    file = tmp_path / "ball.xml"
    file.write_text(
        '<mujoco><option integrator="implicit" density="1.2"/><worldbody><body pos="0 0 1">'
        '<freejoint/><geom size="1"/></body></worldbody></mujoco>'
    )
    with mayfly.World(step=0.002) as world:
        group = world.add_group(mayfly.Model.from_file(file))
        assert any("forces of the medium are explicit" in note for note in group.notes)
        assert group.notes == group.model.notes_for("articulated")
        with pytest.raises(
            mayfly.UnsupportedError, match="strict: integrator: forces of the medium"
        ):
            world.add_group(group.model, name="strict", strict=True)
        both = world.add_group(group.model, motion=["rigid", "prescribed"], name="both")
        assert any(note.startswith("motion rigid: ") for note in both.notes)
        assert any(note.startswith("motion prescribed: ") for note in both.notes)


def test_notes_of_a_model_name_what_its_motions_leave_out(tmp_path: Path) -> None:
    model = mayfly.Model.from_string(
        '<mujoco><option integrator="implicit" density="1.2"/><worldbody><body pos="0 0 1">'
        '<freejoint/><geom size="1"/><body><joint name="j"/><geom size=".1"/></body></body>'
        '</worldbody><actuator><motor joint="j"/></actuator></mujoco>'
    )
    assert any("forces of the medium are explicit" in note for note in model.notes)
    assert not any("actuators" in note for note in model.notes)
    for motion in ("kinematic", "points", "rigid", "prescribed"):
        assert any("actuators (1) have no effect" in note for note in model.notes_for(motion))
    with pytest.raises(ValueError, match="need one of kinematic, points"):
        model.notes_for("sideways")
