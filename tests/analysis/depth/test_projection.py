"""Word states in three dimensions, against scipy's Procrustes and an eigendecomposition."""

import numpy as np
import pytest
from scipy.linalg import orthogonal_procrustes
from scipy.stats import ortho_group

from explorer.analysis.depth.states import rotation, state_projection

RNG = np.random.default_rng(3)


def states(layers, words=5, width=8):
    return RNG.normal(size=(layers, words, width)).astype(np.float32)


def test_the_rotation_is_procrustes_own():
    x, y = RNG.normal(size=(2, 4, 5, 8))
    wanted, _ = orthogonal_procrustes(x.reshape(-1, 8), y.reshape(-1, 8))
    assert np.allclose(rotation(x, y), wanted)


def test_a_model_that_is_another_one_turned_moved_and_scaled_lands_on_it():
    first = states(5).astype(np.float64)
    other = 3.5 * first @ ortho_group.rvs(8, random_state=1) + 2
    found = state_projection({"bert": first, "albert": other})
    assert np.allclose(found.points["bert"], found.points["albert"])


def test_the_axes_are_the_largest_eigenvectors_and_their_shares_of_the_variance():
    found = state_projection({"bert": states(7), "distilbert": states(4), "albert": states(7)})
    assert [found.points[key].shape for key in found.points] == [(7, 5, 3), (4, 5, 3), (7, 5, 3)]
    points = np.concatenate([one.reshape(-1, 3) for one in found.points.values()])
    covariance = points.T @ points / len(points)
    assert np.allclose(covariance, np.diag(np.diag(covariance)), atol=1e-9), "no two correlate"
    variance = np.diag(covariance)
    assert (np.diff(variance) < 0).all()
    # Every model's states have mean square 1; the middle of all is the middle of each.
    assert found.explained == pytest.approx(variance)
    assert not points.flags.writeable or not found.explained.flags.writeable


def test_a_student_is_turned_to_the_layers_of_its_relative_depth():
    teacher = states(7).astype(np.float64)
    found = state_projection({"bert": teacher, "distilbert": teacher[::2]})
    teachers, students = found.points.values()
    near = np.linalg.norm(students - teachers[::2], axis=-1).mean()
    far = np.linalg.norm(students - teachers[1::2][[0, 1, 2, 2]], axis=-1).mean()
    assert near < far / 2


def test_states_of_unlike_width_are_refused():
    with pytest.raises(ValueError, match="unlike width"):
        state_projection({"bert": states(3), "albert": states(3, width=6)})
