"""Models that only wait: they hold a text as long as they are told, and as many as they may."""

from threading import Barrier, Semaphore, get_ident
from types import SimpleNamespace

import numpy as np
import pytest

from benchmarks import scale
from explorer.models.specs import MINI, MODEL_KEYS, NetworkKey

BERT = NetworkKey(MINI["bert"], "cpu", "float32")
TEXT, PASS_S = "The cat sat on the [MASK].", 0.7


class Places:
    """So many, and the threads that have one."""

    def __init__(self, n):
        self.free, self.taken = Semaphore(n), set()

    def __enter__(self):
        assert self.free.acquire(timeout=300)
        self.taken.add(get_ident())

    def __exit__(self, *_):
        self.taken.remove(get_ident())
        self.free.release()


@pytest.fixture(scope="module")
def learnt():
    place = scale.DelayedBackend({}, PASS_S)
    place.learn(TEXT)
    return place


@pytest.mark.parametrize("replicas", [1, 2, 4])
def test_so_many_texts_are_held_at_once_as_there_are_replicas(learnt, replicas, monkeypatch):
    """Each holds a place while it is computed, and waits there until all places are taken."""
    places, together = Places(replicas), Barrier(replicas)
    learnt._semaphores = dict.fromkeys(MODEL_KEYS, places)

    def sleep(seconds):
        assert seconds == PASS_S
        assert get_ident() in places.taken
        together.wait(300)

    monkeypatch.setattr(scale, "time", SimpleNamespace(sleep=sleep))
    found = [learnt.run(BERT, TEXT, None) for _ in range(4)]
    made = [one.result(300) for one in found]
    assert places.taken == set()
    assert len({id(run) for run in made}) == 4, "no page may take one for another's"
    own = super(scale.DelayedBackend, learnt).run(BERT, TEXT, None).result(300)
    np.testing.assert_allclose(made[0].mask_logits, own.mask_logits, atol=1e-5)


def test_visitors_ask_about_texts_that_all_differ():
    assert len(set(scale.texts())) == scale.TEXTS
