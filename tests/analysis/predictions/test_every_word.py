"""Prices of words against a plain left-to-right computation with the network alone."""

import numpy as np
import pytest
import torch

from explorer.analysis.predictions import (
    SpanScore,
    mask_predictions,
    mean_surprisal,
    shared_scores,
    span_plan,
    span_score,
    word_plans,
)
from explorer.models.forward import row_logits, tokenize
from explorer.models.specs import MODEL_KEYS
from explorer.models.tokens import BadText, Word
from explorer.ui.predictions.strings import words_finding
from tests.markup import plain


def plain_log_probs(loaded, ids, segments, position):
    inputs = {"input_ids": torch.tensor([ids])}
    if loaded.spec.architecture.n_segments:
        inputs["token_type_ids"] = torch.tensor([segments])
    with torch.no_grad():
        out = loaded.network(**inputs)
    logits = out.logits if "logits" in out else out.prediction_logits
    return logits[0, position].double().log_softmax(-1).numpy()


def chain(loaded, tokens, positions):
    """Log-probability of the pieces at positions, masked together and filled from the left."""
    ids, total = list(tokens.ids), 0.0
    for pos in positions:
        ids[pos] = loaded.tokenizer.mask_token_id
    for pos in positions:
        total += plain_log_probs(loaded, ids, tokens.segments, pos)[tokens.ids[pos]]
        ids[pos] = tokens.ids[pos]
    return total


def independent_score(loaded, tokens, word):
    plan = span_plan(tokens, word, loaded.tokenizer.mask_token_id)
    return span_score(plan, row_logits(loaded, plan.rows), loaded.vocabulary)


@pytest.mark.parametrize("text", ["the cat sat on the zoo.", "a dog played [SEP] he was bad!"])
@pytest.mark.parametrize("key", MODEL_KEYS)
def test_every_word_is_priced_from_left_to_right(tiny_family, key, text):
    loaded, tokens = tiny_family.loaded(key), tiny_family.run(key, text).tokens
    plans = word_plans(tokens, loaded.tokenizer.mask_token_id)
    assert [plan.word.text for plan in plans] == [w.text for w in tokens.words if w.text != "[SEP]"]
    assert any(len(plan.rows) > 1 for plan in plans)
    for plan in plans:
        score = span_score(plan, row_logits(loaded, plan.rows), loaded.vocabulary)
        positions = [
            i for i, w in enumerate(tokens.word_index) if w >= 0 and tokens.words[w] == plan.word
        ]
        assert score.log_probability == pytest.approx(chain(loaded, tokens, positions), abs=1e-4)
        assert len(score.pieces) == len(positions)


@pytest.mark.parametrize("key", MODEL_KEYS)
def test_the_rank_of_a_word_is_its_place_in_the_vocabulary_and_several_pieces_have_none(
    tiny_family, key
):
    loaded, tokens = tiny_family.loaded(key), tiny_family.run(key, "the cat sat on the zoo.").tokens
    several = 0
    for word in tokens.words:
        inside = [i for i, w in enumerate(tokens.word_index) if w >= 0 and tokens.words[w] == word]
        hidden = list(tokens.ids)
        for position in inside:
            hidden[position] = loaded.tokenizer.mask_token_id
        rank = independent_score(loaded, tokens, word).rank
        several += len(inside) > 1
        if len(inside) > 1:
            assert rank is None
            continue
        alone = plain_log_probs(loaded, hidden, tokens.segments, inside[0])
        whole = chain(loaded, tokens, inside)
        close = np.abs(alone - whole) < 1e-4
        assert (alone > whole)[~close].sum() < rank <= 1 + ((alone > whole) | close).sum()
        assert rank <= len(loaded.vocabulary)
    assert several, "no word of several pieces"


@pytest.mark.parametrize("key", MODEL_KEYS)
def test_a_word_of_one_piece_has_the_probability_and_rank_of_the_list(tiny_family, key):
    run, loaded = tiny_family.run(key, "the [MASK] sat on the mat"), tiny_family.loaded(key)
    listed = mask_predictions(run, 50)
    tokens = tokenize(loaded, "the cat sat on the mat")
    score = independent_score(loaded, tokens, Word("cat", 4, 7))
    place = listed.words[0].index("cat") if "cat" in listed.words[0] else None
    assert len(score.pieces) == 1
    everything = np.exp(
        plain_log_probs(loaded, run.tokens.ids, run.tokens.segments, run.tokens.mask_positions[0])
    )
    expected = everything[loaded.vocabulary.index(score.pieces[0])]
    assert score.probability == pytest.approx(expected, rel=1e-5)
    assert score.rank == 1 + (everything > score.probability * (1 + 1e-5)).sum()
    if place is not None:
        assert score.rank == place + 1
        assert score.probability == pytest.approx(listed.probabilities[0, place], abs=1e-7)
    assert [word for word, _ in score.answers] == list(listed.words[0][:3])


def test_a_phrase_is_priced_across_its_words(tiny_family):
    loaded = tiny_family.loaded("bert")
    tokens = tokenize(loaded, "the cat sat on the mat")
    score = independent_score(loaded, tokens, Word("the cat", 0, 7))
    assert score.pieces == ("the", "cat")
    assert score.log_probability == pytest.approx(chain(loaded, tokens, [1, 2]), abs=1e-4)


def test_a_stretch_inside_a_piece_is_refused(tiny_family):
    tokens = tokenize(tiny_family.loaded("bert"), "the cat sat")
    with pytest.raises(BadText, match="is merged"):
        span_plan(tokens, Word("at", 5, 7), 4)
    with pytest.raises(BadText, match="cannot read"):
        span_plan(tokens, Word(" ", 3, 4), 4)


def test_masks_and_separators_are_not_words_to_hide(tiny_family):
    loaded = tiny_family.loaded("bert")
    tokens = tokenize(loaded, "[MASK] cat [SEP] a dog [MASK]")
    assert [plan.word.text for plan in word_plans(tokens, 4)] == ["cat", "a", "dog"]


@pytest.mark.parametrize("key", ["bert", "albert"])
def test_a_word_outside_the_vocabulary_has_no_probability_of_its_own(tiny_family, key):
    loaded = tiny_family.loaded(key)
    score = independent_score(loaded, tokenize(loaded, "the 日 sat"), Word("日", 4, 5))
    assert score.is_unknown


def test_the_mean_is_over_the_words_that_every_model_can_read(tiny_family):
    """By the networks alone: one vocabulary has a piece for ², the others lack it."""
    text, labels = "the cat ² sat on 漢 the mat.", {key: key for key in MODEL_KEYS}
    tokens = {key: tokenize(tiny_family.loaded(key), text) for key in MODEL_KEYS}
    scores, nats, readable = {}, {}, []
    for key in MODEL_KEYS:
        loaded = tiny_family.loaded(key)
        mask, unknown = loaded.tokenizer.mask_token_id, loaded.tokenizer.unk_token_id
        plans = word_plans(tokens[key], mask)
        scores[key] = [span_score(p, row_logits(loaded, p.rows), loaded.vocabulary) for p in plans]
        inside = {
            word.start: [
                i for i, (a, b) in enumerate(tokens[key].spans) if word.start <= a < b <= word.end
            ]
            for word in tokens[key].words
        }
        readable.append(
            {w for w, at in inside.items() if unknown not in {tokens[key].ids[i] for i in at}}
        )
        nats[key] = {w: -chain(loaded, tokens[key], at) for w, at in inside.items()}
    shared, n_words = set.intersection(*readable), len(tokens["bert"].words)
    assert len({frozenset(words) for words in readable}) > 1
    assert len(shared) == n_words - 2
    done = dict.fromkeys(MODEL_KEYS, (n_words, n_words))
    said = plain(words_finding(scores, labels, done))
    for key in MODEL_KEYS:
        mean = np.mean([nats[key][word] for word in shared])
        assert f" a mean surprisal of {mean:.2f} nats" in said
        assert mean_surprisal(shared_scores(scores)[key]) == pytest.approx(mean, abs=1e-4)
    some = f"the {len(shared)} of {n_words} words that all models can read."
    assert f"Surprisal is over {some}" in said


def test_where_no_word_is_read_by_all_nothing_is_averaged():
    one, other = Word("x", 0, 1), Word("y", 2, 3)
    scores = {
        "bert": [SpanScore(one, ("x",), -1.0, 1, ()), SpanScore(other, ("[UNK]",), -9.0, 2, ())],
        "albert": [SpanScore(one, ("<unk>",), -9.0, 3, ()), SpanScore(other, ("y",), -1.0, 1, ())],
    }
    said = str(words_finding(scores, {"bert": "B", "albert": "A"}, {"bert": (2, 2)}))
    assert "No word in this text can be read by all models" in said
