"""Cosines and sines from one tangent: those of NumPy, up to rounding."""

import numpy as np
import pytest

from kpca_edu._engine.waves import cosines, cosines_and_sines


@pytest.mark.parametrize("scale", [0.0, 1e-9, 1.0, 1e4, 1e12])
def test_they_are_numpys(scale):
    angles = scale * np.random.default_rng(0).standard_normal((200, 7))
    plain = np.hstack([np.cos(angles), np.sin(angles)])
    np.testing.assert_allclose(cosines_and_sines(angles), plain, rtol=0, atol=1e-15)
    np.testing.assert_allclose(cosines(angles), np.cos(angles), rtol=0, atol=1e-15)


def test_where_the_tangent_has_no_value():
    """Odd multiples of π, where the tangent of the half angle is infinite."""
    angles = np.pi * np.array([[1.0, -1.0, 3.0, 101.0]])
    waves = cosines_and_sines(angles)
    np.testing.assert_allclose(waves, [[-1.0] * 4 + [0.0] * 4], rtol=0, atol=1e-13)


def test_single_precision_stays_single():
    angles = np.linspace(-9, 9, 50, dtype=np.float32).reshape(-1, 1)
    waves = cosines_and_sines(angles)
    assert waves.dtype == np.float32
    np.testing.assert_allclose(waves, np.hstack([np.cos(angles), np.sin(angles)]), atol=1e-6)
    assert cosines(angles).dtype == np.float32


def test_the_angles_are_left_alone():
    angles = np.ones((3, 2))
    cosines_and_sines(angles)
    cosines(angles)
    assert np.all(angles == 1)
