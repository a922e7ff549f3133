"""What is lost: nats against scipy, words against the probabilities themselves."""

import numpy as np
import pytest
from scipy.special import softmax
from scipy.stats import entropy

from explorer.analysis.attention import head_ablation, head_importance
from explorer.models.inside.interventions import ablated_logits
from explorer.models.specs import MODEL_KEYS

TEXT = "The [MASK] sat on the [MASK]."


@pytest.mark.parametrize("key", MODEL_KEYS)
def test_the_change_is_kl_from_before_to_after(tiny_family, key):
    run, loaded = tiny_family.run(key, TEXT), tiny_family.loaded(key)
    kept = np.zeros((1, *run.attention.shape[:2]), dtype=bool)
    logits = ablated_logits(loaded, run.tokens, kept)[0]
    result = head_ablation(run, logits, [*np.ndindex(kept.shape[1:])])
    before, after = (softmax(x.astype(np.float64), axis=-1) for x in (run.mask_logits, logits))
    np.testing.assert_allclose(result.kl, entropy(before, after, axis=-1), rtol=1e-6)
    for mask, words in enumerate(result.words):
        assert 5 <= len(words) <= 10
        largest = [max(word.before, word.after) for word in words]
        assert largest == sorted(largest, reverse=True)
        assert max(w.before for w in words) == pytest.approx(before[mask].max())
        assert max(w.after for w in words) == pytest.approx(after[mask].max())


def test_no_change_is_zero_nats_and_equal_words(tiny_family):
    run = tiny_family.run("bert", TEXT)
    result = head_ablation(run, run.mask_logits, [])
    assert np.array_equal(result.kl, [0, 0])
    assert all(word.before == word.after for words in result.words for word in words)


@pytest.mark.parametrize("key", MODEL_KEYS)
def test_the_sweep_names_the_heads_that_matter(tiny_family, key):
    run = tiny_family.run(key, TEXT)
    swept = tiny_family.swept(run)
    result = head_importance(run, swept)
    assert result.kl.shape == run.attention.shape[:2]
    assert (result.kl > 0).all()
    layer, head, nats = result.strongest(1)[0]
    assert nats == result.kl.max() == result.kl[layer, head]
    alone = head_ablation(run, swept[layer][head], [(layer, head)])
    assert nats == pytest.approx(alone.kl.mean())
    assert head_importance(run, swept[:2]).kl.shape == (2, 12)
