"""Frames of autopilots, against the definitions of their axes."""

from __future__ import annotations

import numpy as np
import pytest

from mayfly_bridges._flight import frames

NED = np.array([[0, 1, 0], [1, 0, 0], [0, 0, -1]])  # rows: north, east, down in Mayfly's axes
FRD = np.diag([1, -1, -1])


def rotations() -> list[np.ndarray]:
    random = np.random.default_rng(5)
    found = random.normal(size=(20, 4))
    return [*(found / np.linalg.norm(found, axis=1)[:, None]), np.array([1.0, 0, 0, 0])]


@pytest.mark.parametrize("q", rotations())
def test_attitude_is_the_rotation_between_the_axes(q: np.ndarray) -> None:
    expected = NED @ frames.matrix(q) @ FRD
    found = frames.attitude(q)
    np.testing.assert_allclose(frames.matrix(found), expected, atol=1e-12)
    assert found[0] >= 0
    np.testing.assert_allclose(np.linalg.norm(found), 1.0)


def test_vectors_have_the_axes_of_autopilots() -> None:
    np.testing.assert_array_equal(frames.ned([1, 2, 3]), [2, 1, -3])
    np.testing.assert_array_equal(frames.frd([1, 2, 3]), [1, -2, -3])


def test_facing_east_is_a_heading_of_ninety_degrees() -> None:
    np.testing.assert_allclose(
        frames.euler(frames.attitude([1, 0, 0, 0])), [0, 0, np.pi / 2], atol=1e-12
    )


def test_nose_up_is_positive_pitch_and_right_wing_down_positive_roll() -> None:
    c, s = np.cos(0.1), np.sin(0.1)  # half of 0.2 rad
    nose_up = frames.euler(frames.attitude([c, 0, -s, 0]))  # about Mayfly's left axis
    np.testing.assert_allclose(nose_up, [0, 0.2, np.pi / 2], atol=1e-12)
    right_down = frames.euler(frames.attitude([c, s, 0, 0]))
    np.testing.assert_allclose(right_down, [0.2, 0, np.pi / 2], atol=1e-12)


def test_halfway_ignores_the_sign_of_quaternions() -> None:
    a, b = np.array([1.0, 0, 0, 0]), np.array([np.cos(0.1), np.sin(0.1), 0, 0])
    middle = frames.matrix(frames.halfway(a, -b))
    np.testing.assert_allclose(middle, frames.matrix([np.cos(0.05), np.sin(0.05), 0, 0]), atol=1e-9)
