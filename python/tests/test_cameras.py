"""Cameras: OpenCV as an independent judge of lenses and filters, pictures of worlds."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import mayfly
from mayfly import cameras

cv2 = pytest.importorskip("cv2")

FOCAL, CENTER = (500.0, 510.0), (320.0, 240.0)
MATRIX = np.array([[500.0, 0, 320.0], [0, 510.0, 240.0], [0, 0, 1]])
BROWN = (-0.28, 0.09, 0.0005, -0.0003, 0.01)
FISHEYE = (-0.02, 0.003, -0.0005, 0.00002)

ROBOT = """<robot name='r'><link name='a'><inertial><mass value='1'/><inertia ixx='1' iyy='1'
izz='1' ixy='0' ixz='0' iyz='0'/></inertial><visual><geometry><sphere radius='0.3'/></geometry>
<material name='m'><color rgba='1 0 0 1'/></material></visual></link>
<mayfly><camera name='eye' link='a' xyz='0.5 0 0' rpy='0 1.5707963 0' width='16' height='12'
depth='true' segmentation='true' rate='50' delay='0.02'/></mayfly></robot>"""


def camera(lens: str, coefficients: tuple[float, ...]) -> mayfly.Camera:
    return mayfly.Camera(640, 480, lens=lens, focal=FOCAL, center=CENTER, coefficients=coefficients)


def points() -> np.ndarray:
    """In the camera's frame (x forward), and the same in OpenCV's (z forward)."""
    random = np.random.default_rng(1)
    return np.column_stack(
        [random.uniform(1, 3, 200), random.uniform(-0.8, 0.8, 200), random.uniform(-0.6, 0.6, 200)]
    )


def optical(rows: np.ndarray) -> np.ndarray:
    return np.column_stack([-rows[:, 1], -rows[:, 2], rows[:, 0]])


def test_brown_is_opencvs() -> None:
    lens, rows = camera("brown", BROWN), points()
    zeros = np.zeros(3)
    expected = cv2.projectPoints(optical(rows), zeros, zeros, MATRIX, np.array(BROWN))[0][:, 0]
    got = lens.project(rows)
    np.testing.assert_allclose(got, expected, rtol=0, atol=1e-9)
    back = optical(lens.rays(got))
    np.testing.assert_allclose(
        back, optical(rows) / np.linalg.norm(rows, axis=1)[:, None], rtol=0, atol=1e-9
    )


def test_fisheye_is_opencvs() -> None:
    lens, rows = camera("fisheye", FISHEYE), points()
    zeros = np.zeros((1, 1, 3))
    given = optical(rows)[:, None]
    expected = cv2.fisheye.projectPoints(given, zeros, zeros, MATRIX, np.array(FISHEYE))[0][:, 0]
    np.testing.assert_allclose(lens.project(rows), expected, rtol=0, atol=1e-9)
    # The polynomial of the angle with its even terms alone is the same lens.
    other = camera("angle", (0, FISHEYE[0], 0, FISHEYE[1], 0, FISHEYE[2]))
    short = camera("fisheye", (*FISHEYE[:3], 0.0))
    np.testing.assert_allclose(other.project(rows), short.project(rows), rtol=0, atol=1e-9)


def test_points_without_a_pixel() -> None:
    lens = camera("pinhole", ())
    assert np.isnan(lens.project([[-1.0, 0, 0], [1.0, 0, 0]])).all(axis=1).tolist() == [True, False]


@pytest.mark.parametrize("sigma", [0.5, 1.3, 4.0])
def test_blur_is_opencvs(sigma: float) -> None:
    image = np.random.default_rng(2).random((37, 45, 3), np.float32)
    size = 2 * int(np.ceil(3 * sigma)) + 1
    expected = cv2.GaussianBlur(
        image, (size, size), sigma, sigmaY=sigma, borderType=cv2.BORDER_REPLICATE
    )
    np.testing.assert_allclose(cameras.blur(image, sigma), expected, rtol=0, atol=2e-6)


def test_another_lens_is_opencvs_remap() -> None:
    image = np.random.default_rng(3).random((480, 640), np.float32)
    plain, lens = camera("pinhole", ()), camera("brown", BROWN)
    got = cameras.distort(image, lens, plain)  # undistorted
    maps = cv2.initUndistortRectifyMap(
        MATRIX, np.array(BROWN), None, MATRIX, (640, 480), cv2.CV_32FC1
    )
    exact = cv2.remap(image, *maps, cv2.INTER_LINEAR)
    inner = np.s_[5:-5, 5:-5]  # OpenCV blends the border with black
    # OpenCV's maps are float: 3e-5 pixel.
    assert np.abs(got[inner] - exact[inner]).max() < 1e-3


def test_vignetting_and_steps() -> None:
    lens = mayfly.Camera(64, 48, focal=(40, 40), center=(31.5, 23.5))
    y, x = np.mgrid[:48, :64]
    cosine = 1 / np.sqrt(1 + ((x - 31.5) / 40) ** 2 + ((y - 23.5) / 40) ** 2)
    got = cameras.vignette(np.ones((48, 64)), lens, 0.7)
    np.testing.assert_allclose(got, 1 - 0.7 * (1 - cosine**4), rtol=0, atol=1e-6)
    values = np.linspace(-0.2, 1.2, 57).reshape(1, -1)
    expected = np.floor(np.clip(values.astype(np.float32), 0, 1) * 15 + np.float32(0.5)) * 17
    np.testing.assert_array_equal(cameras.quantize(values, 4), expected)
    with pytest.raises(mayfly.ArgumentError, match="bits"):
        cameras.quantize(values, 9)


def test_noise_follows_from_its_numbers() -> None:
    zeros = np.zeros((200, 300))
    one = cameras.noise(zeros, 0.5, seed=3, stream=4, tick=5)
    assert abs(one.std() - 0.5) < 0.01 and abs(one.mean()) < 0.01
    np.testing.assert_array_equal(one, cameras.noise(zeros, 0.5, seed=3, stream=4, tick=5))
    assert not np.array_equal(one, cameras.noise(zeros, 0.5, seed=3, stream=4, tick=6))


def make_world() -> tuple[mayfly.World, mayfly.Group]:
    model = mayfly.Model.from_string(ROBOT)
    world = mayfly.World(step=0.01)
    group = world.add_group(model, 3, motion="articulated", isolated=False, name="robots")
    group.set_start([(2.0 * i, 0.0, 2.0 + i) for i in range(3)])
    return world, group


def test_pictures_of_a_world() -> None:
    world, group = make_world()
    view = world.camera(width=80, height=60, fovy=1.0, depth=True, segmentation=True)
    picture = view.take((0.0, -3.0, 2.0), look_at=(0.0, 0.0, 2.0))
    assert picture.color.shape == (60, 80, 3)
    assert picture.segmentation[30, 40].tolist() == [0, 0, 0]
    assert picture.segmentation[0, 40].tolist() == [-1, -1, -1]
    assert picture.segmentation[59, 40].tolist() == [-2, -1, -1]
    # The ray (x, y, 1), x and y half a pixel, meets the sphere at (b - sqrt(b^2 - a c)) / a.
    side = 0.5 / view.camera.settings["focal"][0]
    a = 1 + 2 * side**2
    assert abs(picture.depth[30, 40] - (3 - np.sqrt(9 - a * (9 - 0.09))) / a) < 1e-6
    assert picture.color[30, 40, 0] > 100 and picture.color[30, 40, 1] == 0
    with pytest.raises(mayfly.ArgumentError):
        view.take((0, 0, np.nan))
    with pytest.raises(TypeError, match="did you mean 'blur'"):
        mayfly.Camera(blurr=1)
    world.close()


def test_robots_take_pictures() -> None:
    world, group = make_world()
    with pytest.raises(mayfly.NotFoundError, match="add_cameras"):
        group.pictures("eye")
    world.add_cameras()
    with pytest.raises(mayfly.NotFoundError, match="no camera 'ear'"):
        group.pictures("ear")
    color, depth, owner = group.pictures("eye")
    assert color.shape == (3, 12, 16, 3) and depth.shape == (3, 12, 16)
    np.testing.assert_allclose(depth[:, 6, 8], group["base.position"][:, 2], atol=1e-4)
    assert (owner[..., 0] == -2).all()
    before = depth[:, 6, 8].copy()
    world.step(20)  # the arrays show the memory itself
    assert (depth[:, 6, 8] < before - 0.05).all()
    late = pickle.loads(pickle.dumps(world))
    np.testing.assert_array_equal(late.groups[0].pictures("eye").depth, depth)
    late.step(7)
    world.step(7)
    np.testing.assert_array_equal(late.groups[0].pictures("eye").color, color)
    world.close()


def test_many_robots(tmp_path) -> None:
    model = mayfly.Model.from_string(ROBOT)
    with mayfly.World(step=0.01) as world:
        group = world.add_group(model, 20, motion="articulated")
        group.set_start([(0.0, 0.0, 1.0 + i) for i in range(20)])
        world.add_cameras()
        world.take_pictures()
        color, depth, _ = group.pictures("eye")
        np.testing.assert_allclose(depth[:, 6, 8], 1.0 + np.arange(20), atol=1e-4)
        cameras.save_png(tmp_path / "a.png", color[3])
    read = cv2.imread(str(tmp_path / "a.png"))
    np.testing.assert_array_equal(read[..., ::-1], color[3])
    with pytest.raises(ValueError, match="uint8"):
        cameras.save_png(tmp_path / "b.png", depth[0])
