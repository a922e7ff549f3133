"""Models that only wait: they hold a text as long as they are told, and as many as they may."""

from threading import Barrier, Lock, Semaphore
from types import SimpleNamespace

import numpy as np
import pytest

from explorer.bench import scale
from explorer.models.specs import MINI, MODEL_KEYS, Where

BERT = Where(MINI["bert"], "cpu", "float32")
TEXT, PASS_S = "The cat sat on the [MASK].", 0.7


@pytest.fixture(scope="module")
def learnt():
    place = scale.Standing({}, PASS_S)
    place.learn(TEXT)
    return place


@pytest.mark.parametrize("replicas", [1, 2, 4])
def test_so_many_texts_are_held_at_once_as_there_are_replicas(learnt, replicas, monkeypatch):
    """Each waits for the others that may be held with it, and there is never one more."""
    learnt._line = {key: Semaphore(replicas) for key in MODEL_KEYS}
    together, held, most = Barrier(replicas), Lock(), [0, 0]

    def sleep(seconds):
        assert seconds == PASS_S
        with held:
            most[0] += 1
            most[1] = max(most)
        together.wait(300)
        with held:
            most[0] -= 1

    monkeypatch.setattr(scale, "time", SimpleNamespace(sleep=sleep))
    found = [learnt.run(BERT, TEXT, None) for _ in range(4)]
    made = [one.result(300) for one in found]
    assert most == [0, replicas]
    assert len({id(run) for run in made}) == 4, "no page may take one for another's"
    own = super(scale.Standing, learnt).run(BERT, TEXT, None).result(60)
    np.testing.assert_allclose(made[0].mask_logits, own.mask_logits, atol=1e-5)


def test_visitors_ask_about_texts_that_all_differ():
    assert len(set(scale.texts())) == scale.TEXTS
