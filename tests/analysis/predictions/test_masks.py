import numpy as np
import pytest

from explorer.analysis.measures import top_ids
from explorer.analysis.predictions import agreement, mask_predictions
from explorer.models.run import Run
from explorer.models.specs import MINI
from explorer.models.tokens import Tokens

WORDPIECES = ("[UNK]", "paris", "##s", ".", "lyon", "the")
SENTENCEPIECES = ("<unk>", "▁paris", "s", ".", "▁lyon", "▁the")


def run_of(key, vocabulary, logits):
    """A run whose logits are known: one layer per architecture, one token per mask."""
    shape, n_masks = MINI[key].architecture, len(logits)
    positions = tuple(range(n_masks))
    tokens = Tokens(
        "[MASK]" * n_masks,
        positions,
        ("[MASK]",) * n_masks,
        ((0, 6),) * n_masks,
        (False,) * n_masks,
        (0,) * n_masks,
        (),
        (0,) * n_masks,
        positions,
        positions,
    )
    return Run(
        MINI[key],
        tokens,
        np.zeros((shape.n_layers + 1, n_masks, 2)),
        np.zeros((shape.n_layers, 1, n_masks, n_masks)),
        np.array(logits, np.float32),
        vocabulary,
        0,
        "cpu",
        "float32",
    )


def test_listed_mass_and_remaining_mass_sum_to_one():
    rng = np.random.default_rng(0)
    result = mask_predictions(run_of("bert", WORDPIECES, rng.normal(size=(3, 6)) * 5), 4)
    assert result.probabilities.shape == (3, 4)
    assert result.probabilities.sum(-1) + result.remaining == pytest.approx(np.ones(3), abs=1e-12)
    assert (np.diff(result.probabilities) <= 0).all()


def test_entropy_of_equal_words_is_the_logarithm_of_their_number():
    result = mask_predictions(run_of("bert", WORDPIECES, [[2.5] * 6]), 2)
    assert result.entropy[0] == pytest.approx(np.log(6))
    assert result.remaining[0] == pytest.approx(4 / 6)


@pytest.mark.parametrize(("asked", "given"), [(-3, 1), (0, 1), (1, 1), (6, 6), (999, 6)])
def test_top_k_is_brought_into_range(asked, given):
    result = mask_predictions(run_of("bert", WORDPIECES, [[1, 2, 3, 4, 5, 6]]), asked)
    assert result.ids.shape == (1, given)


def test_both_vocabularies_read_alike():
    order = [[9, 8, 7, 6, 5, 4]]
    bert = mask_predictions(run_of("bert", WORDPIECES, order), 6)
    albert = mask_predictions(run_of("albert", SENTENCEPIECES, order), 6)
    assert bert.words[0][1:] == albert.words[0][1:] == ("paris", "…s", ".", "lyon", "the")


def test_agreement_groups_models_by_first_answer():
    said = {
        "bert": mask_predictions(run_of("bert", WORDPIECES, [[0, 9, 0, 0, 0, 0]])),
        "distilbert": mask_predictions(run_of("distilbert", WORDPIECES, [[0, 0, 0, 0, 9, 0]])),
        "albert": mask_predictions(run_of("albert", SENTENCEPIECES, [[0, 9, 0, 0, 0, 0]])),
    }
    found = agreement(said, 0)
    assert found.groups == (("paris", ("bert", "albert")), ("lyon", ("distilbert",)))
    assert not found.is_unanimous
    assert found.probabilities["distilbert"] == pytest.approx(np.exp(9) / (np.exp(9) + 5))


def test_results_refuse_to_be_written_to():
    result = mask_predictions(run_of("bert", WORDPIECES, [[1, 2, 3, 4, 5, 6]]))
    with pytest.raises(ValueError, match="read-only"):
        result.probabilities[0, 0] = 1


def test_top_ids_are_a_stable_descending_sort_cut_short():
    rng = np.random.default_rng(1)
    log_probs = rng.integers(0, 500, size=(4, 400)).astype(float) + rng.random((4, 400))
    expected = np.argsort(-log_probs, axis=-1, kind="stable")[:, :7]
    assert (top_ids(log_probs, 7) == expected).all()
    assert top_ids(np.array([0.5, 0.5, 0.5, 0.1]), 3).tolist() == [0, 1, 2]
    assert top_ids(np.array([0.2, 0.5]), 9).tolist() == [1, 0]
