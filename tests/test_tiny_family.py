"""The random family stands in for the bundled one, and is put away again."""

import numpy as np
import pytest

from explorer.models import specs


@pytest.mark.parametrize("key", specs.MODEL_KEYS)
def test_the_random_family_has_the_bundled_shapes(tiny_family, key):
    run = tiny_family.run(key, "The cat sat on the [MASK].")
    layers = 3 if key == "distilbert" else 6
    assert run.attention.shape[:2] == (layers, 12)
    assert run.mask_logits.shape == (1, tiny_family.specs[key].architecture.d_vocab)
    assert np.allclose(run.attention.sum(-1), 1, atol=1e-5)


def test_it_attends_unevenly_so_that_tests_see_a_wrong_head(tiny_family):
    attention = tiny_family.run("bert", "The cat sat on the mat.").attention
    assert attention.std() > 0.01
    assert not np.allclose(attention[0, 0], attention[0, 1], atol=0.01)


def test_afterwards_the_bundled_family_is_back():
    assert specs.BUNDLED.parent.name == "assets"
