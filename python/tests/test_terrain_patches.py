"""Rough ground for tasks: patches, scans of heights, levels."""

import os
import pathlib
import pickle

import numpy as np
import pytest

pytest.importorskip("gymnasium", reason="environments need gymnasium")

import mayfly  # noqa: E402
from conftest import ROOT  # noqa: E402
from mayfly import mdp  # noqa: E402

SHARED = pathlib.Path(os.environ.get("MAYFLY_SHARED", ROOT.parent / "shared"))
GO2 = SHARED / "models" / "unitree_go2" / "go2_mjx.xml"


def make_task(model: mayfly.Model) -> mayfly.Task:
    return mayfly.tasks.velocity(
        model, feet="tibia*", action_scale=0.3, std=0.15, push=0.2, terrain="rough"
    )


def test_patches() -> None:
    kinds = ("flat", "random", "boxes", "stairs", "stairs_down", "slope", "slope_down")
    ground = mayfly.TerrainPatches(kinds, height=0.2, levels=4, size=6.0)
    heights = ground.terrain.heights
    assert heights.shape == (7 * 60, 4 * 60) and ground.origins.shape == (4, 7, 3)
    for level in range(4):
        for column, kind in enumerate(kinds):
            patch = heights[60 * column :, 60 * level :][:60, :60]
            x, y, z = ground.origins[level, column]
            for dx, dy in ((0, 0), (0.4, 0.4), (-0.4, 0.4)):
                assert ground.terrain.height(x + dx, y + dy) == pytest.approx(z)  # a level middle
            assert (patch[:2] == 0).all() and (patch[:, -2:] == 0).all()  # and rim
            step = 0.2 * (level + 1) / 4
            top = np.abs(patch).max()
            if kind == "flat":
                assert top == 0
            elif kind in ("random", "boxes"):
                assert 0.4 * step < top <= step
            else:
                assert z == (patch.min() if kind.endswith("down") else patch.max())
                rise = np.abs(np.diff(patch[30])).max()
                assert rise == pytest.approx(step if "stairs" in kind else step / 3)
    same = mayfly.TerrainPatches(kinds, height=0.2, levels=4, size=6.0)
    other = mayfly.TerrainPatches(kinds, height=0.2, levels=4, size=6.0, seed=2)
    assert same.terrain.hash() == ground.terrain.hash() != other.terrain.hash()
    assert pickle.loads(pickle.dumps(ground)).terrain.hash() == ground.terrain.hash()
    assert "7 kinds x 4 levels" in repr(ground)


def test_mistakes(hexapod: mayfly.Model) -> None:
    for make, text in (
        (lambda: mayfly.TerrainPatches(("stair",)), "no kind 'stair', did you mean 'stairs'"),
        (lambda: mayfly.TerrainPatches(()), "kinds: need at least one"),
        (lambda: mayfly.TerrainPatches(size=1.0), "size >= 2 m"),
        (lambda: mayfly.TerrainPatches(levels=0), "levels: need 1"),
        (lambda: mayfly.tasks.velocity(hexapod, feet="tibia*", terrain="ruf"),
         "terrain: need 'flat', 'rough' or a TerrainPatches, got 'ruf'"),
        (lambda: make_task(hexapod).replace(terrain=None).make(2),
         "curriculum terrain_levels: the task has no terrain=mayfly.TerrainPatches"),
        (lambda: make_task(hexapod).replace(observations={"policy": {
            "a": mdp.Observation(mdp.height_scan, resolution=0.0)}}).make(2),
         "observation policy/a: height_scan: need 0 < resolution"),
    ):  # fmt: skip
        with pytest.raises((ValueError, mayfly.UnsupportedError), match=text):
            make()


def test_height_scan(hexapod: mayfly.Model) -> None:
    """By another formula, of the base and of a link that leans."""
    task = make_task(hexapod)
    with task.make(20) as envs:
        envs.reset(seed=3)
        for _ in range(5):
            envs.step(np.full((20, 18), 0.5, np.float32))
        ground = task.terrain.terrain  # type: ignore[union-attr]
        for link in (None, "femur3"):
            scan = mdp.height_scan(envs, size=(0.4, 0.2), resolution=0.1, link_name=link)
            assert scan.shape == (20, 15)
            if link is None:
                place, turn = envs["base.position"], envs["base.orientation"]
            else:
                pose = envs["link.pose"][:, hexapod.link(link).index]
                place, turn = pose[:, :3], pose[:, 3:]
            w, x, y, z = turn.T.astype(float)
            yaw = np.arctan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))
            for robot in range(20):
                c, s = np.cos(yaw[robot]), np.sin(yaw[robot])
                px, py, pz = place[robot].astype(float)
                expected = [
                    pz - 0.5 - ground.height(px + c * u - s * v, py + s * u + c * v)
                    for v in (-0.1, 0.0, 0.1)
                    for u in (-0.2, -0.1, 0.0, 0.1, 0.2)
                ]
                np.testing.assert_allclose(scan[robot], expected, atol=2e-5)
        # A body that lies on its nose has no heading: the grid points north.
        envs.write("base.orientation", [np.sqrt(0.5), 0, np.sqrt(0.5), 0], np.arange(20))
        assert np.isfinite(mdp.height_scan(envs)).all()


def test_robots_start_on_patches(hexapod: mayfly.Model) -> None:
    """In the middle of patches, where they stand; each as it does alone."""
    task = make_task(hexapod)
    still = np.zeros((40, 18), np.float32)
    with task.make(40, num_threads=2) as envs:
        envs.reset(seed=5)
        apart = envs["base.position"] - envs.origins
        assert np.abs(apart[:, :2]).max() <= 0.5 and np.ptp(apart[:, 2]) < 1e-5
        assert set(envs.terrain_levels) == set(range(5)) and set(envs.terrain_types) == set(
            range(6)
        )
        first = envs.observation_groups["policy"].copy()
        for _ in range(25):
            last, *_ = envs.step(still)
        assert envs.group.faults == 0
        height = envs["base.position"][:, 2] - envs.origins[:, 2]
        assert np.abs(height - height.mean()).max() < 0.01  # none sinks in, none falls
        for robot in (0, 17):
            with task.make(1) as alone:
                seen, _ = alone.reset(seed=5 + robot)
                np.testing.assert_array_equal(seen[0], first[robot])
                for _ in range(25):
                    seen, *_ = alone.step(still[:1])
                np.testing.assert_array_equal(seen[0], last[robot])


def test_levels(hexapod: mayfly.Model) -> None:
    """Robots that walk far get rougher ground, those that stand get easier ground."""
    task = make_task(hexapod).replace(events={}, episode_length_s=4.0)
    with task.make(6) as envs:
        envs.reset(seed=1)
        robots = np.arange(6)
        envs.set_terrain_levels(robots, [0, 3, 3, 9, 0, 12])
        assert envs.terrain_levels.tolist() == [0, 3, 3, 9, 0, 9]  # of ten
        place = envs.origins.copy()
        place[:, 2] += 0.2
        place[[0, 2, 3], 0] += 4.1  # more than half of a patch
        place[5, 1] += 2.0
        envs.write("base.position", place, robots)
        envs.command("base_velocity")[:] = [0.9, 0.0, 0.0]  # 1.8 m are half of what it asks for
        before = envs.terrain_types.copy()
        mean = mdp.terrain_levels_vel(envs, robots)
        levels = envs.terrain_levels
        assert levels[[0, 1, 2, 4, 5]].tolist() == [1, 2, 4, 0, 9] and 0 <= levels[3] <= 9
        assert mean == levels.mean() and (envs.terrain_types == before).all()
        np.testing.assert_array_equal(
            envs.origins,
            task.terrain.origins[levels, before],  # type: ignore[union-attr]
        )
        envs.reset(options={"reset_mask": np.ones(6, bool)})
        assert np.abs(envs["base.position"][:, :2] - envs.origins[:, :2]).max() < 1e-5


def test_levels_are_logged(hexapod: mayfly.Model) -> None:
    task = make_task(hexapod).replace(episode_length_s=0.1)
    with task.make(8, autoreset_mode="SameStep") as envs:
        envs.reset(seed=1)
        for _ in range(5):
            *_, infos = envs.step(np.zeros((8, 18), np.float32))
        assert infos["final_info"]["curriculum/terrain_levels"][0] == pytest.approx(
            envs.terrain_levels.mean()
        )


@pytest.mark.skipif(not GO2.exists(), reason="needs the public robots")
def test_a_robot_with_mujocos_law_stands_on_patches() -> None:
    task = mayfly.tasks.velocity(mayfly.Model.from_file(GO2), feet="*_calf", terrain="rough")
    with task.replace(events={}).make(60, autoreset_mode="SameStep") as envs:
        envs.reset(seed=1)
        for _ in range(50):
            seen, _, terminated, _, _ = envs.step(np.zeros((60, 12), np.float32))
            assert not terminated.any()
        height = envs["base.position"][:, 2] - envs.origins[:, 2]
        assert np.abs(height - 0.26).max() < 0.03
        assert seen.shape == (60, 45 + 17 * 11)
