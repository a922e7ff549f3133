"""No sentence of the predictions tab is false: each claim is evaluated on drawn results."""

import re
from itertools import combinations
from types import SimpleNamespace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from explorer.analysis.predictions.contrast import contrast
from explorer.analysis.predictions.every_word import SpanScore
from explorer.analysis.predictions.joint import Filling, MaskFillings
from explorer.models.specs import BASE, MINI
from explorer.models.tokens import Word
from explorer.ui.predictions import contrast_words, folds_words
from explorer.ui.predictions import words as texts
from tests.ui.sentences import LABELS, WORDS, close_shares, law, names_in, read, some_models


@st.composite
def predictions(draw, keys=None, most_masks=7):
    keys = keys or draw(some_models())
    n = draw(st.integers(0, most_masks))
    return {
        key: SimpleNamespace(
            positions=tuple(range(n)),
            words=tuple((draw(WORDS),) for _ in range(n)),
            probabilities=np.array([[draw(close_shares())] for _ in range(n)]).reshape(n, 1),
        )
        for key in keys
    }


def firsts(found, mask):
    return {key: one.words[mask][0] for key, one in found.items()}


@law
@given(predictions(most_masks=1))
def test_of_one_mask_each_model_is_quoted_with_its_own_word_and_agreement_is_of_all(found):
    text = read(texts.predictions_finding(found, LABELS))
    if not next(iter(found.values())).positions:
        assert text == texts.NO_MASK
        return
    words = firsts(found, 0)
    p = {key: f"{one.probabilities[0, 0]:.3f}" for key, one in found.items()}
    together = re.fullmatch(r"(Both|All \w+) answer (\w+) \((\d\.\d{3}) or more\)\.", text)
    assert bool(together) == (len(found) > 1 and len(set(words.values())) == 1)
    if together:
        assert set(words.values()) == {together[2]}
        assert min(p.values()) == together[3]
        size = {2: "Both", 3: "All three", 4: "All four"}
        assert together[1] == size[len(found)]
        return
    assert sorted(names_in(text)) == sorted(found)
    for part in re.split("; ", text.rstrip(".")):
        for group, answer in re.findall(r"([\w, ]+?) answers? (\w+)", part):
            assert {words[key] for key in names_in(group)} == {answer}
    for name, answer, share in re.findall(r"(\w+)(?: says)? (\w+) \((\d\.\d{3})\)", text):
        (key,) = names_in(name)
        assert (words[key], p[key]) == (answer, share)


@law
@given(predictions(most_masks=8).filter(lambda f: len(next(iter(f.values())).positions) > 1))
def test_of_several_masks_agreement_is_counted_over_all_models_or_the_closest_two(found):
    text = read(texts.predictions_finding(found, LABELS))
    n = len(next(iter(found.values())).positions)
    rows = [firsts(found, mask) for mask in range(n)]
    if len(found) == 1:
        assert all(word in text for row in rows for word in row.values())
        return
    same = [next(iter(set(row.values()))) for row in rows if len(set(row.values())) == 1]
    pairs = {
        pair: [row[pair[0]] for row in rows if row[pair[0]] == row[pair[1]]]
        for pair in combinations(found, 2)
    }
    if same:
        assert f"agree on {len(same)} of {n} masks: " in text
        listed = re.findall(r"paris|lyon|rome|oslo", text)
        more = re.search(r"and (\d+) more\.", text)
        assert listed == same[: len(listed)]
        assert len(listed) + int(more[1] if more else 0) == len(same)
        return
    assert f"agree on none of the {n} masks" in text
    most = max(map(len, pairs.values()))
    told = re.search(r"; (.+) agree on (\d+): ", text)
    assert bool(told) == bool(most)
    if told:
        assert int(told[2]) == most == len(pairs[tuple(names_in(told[1]))])


@law
@given(st.lists(st.sampled_from(["BERT", "ALBERT", "A<B"]), unique=True, max_size=3))
def test_models_that_guess_are_named_with_a_verb_that_fits_them(names):
    stand_in = {
        "bert": SimpleNamespace(positions=(1,), words=(("a",),), probabilities=np.ones((1, 1)))
    }
    text = read(str(texts.predictions_finding(stand_in, LABELS, names)).replace("A&lt;B", "AB"))
    assert ("guesses" in text) == bool(names)
    assert ("reads half" in text) == ("its answers" in text) == (len(names) == 1)


@law
@given(st.data())
def test_evidence_is_called_dependent_only_where_relatives_agree_on_a_mask(data):
    """Every bundled model comes from mini-BERT; it is said of families with a fitted ALBERT."""
    keys = data.draw(some_models(most=3).filter(lambda keys: "roberta" not in keys))
    sizes = {key: data.draw(st.sampled_from([MINI, MINI, BASE])) for key in keys}
    found = data.draw(predictions(keys))
    note = texts.origin_note([sizes[key][key] for key in keys], found)
    n = len(next(iter(found.values())).positions)
    bundled = [key for key in keys if sizes[key] is MINI]
    parents = {
        key: "bert"
        for key in keys
        if "bert" in keys and key != "bert" and sizes[key] is sizes["bert"]
        if sizes[key] is MINI or key == "distilbert"
    }
    root = {key: parents.get(key, key) for key in keys}
    agree = {
        key
        for mask in range(n)
        for pair in combinations(keys, 2)
        if len({firsts(found, mask)[one] for one in pair}) == 1 and root[pair[0]] == root[pair[1]]
        for key in pair
    }
    assert bool(note) == bool("albert" in bundled and agree & parents.keys())
    if note:
        text = read(note)
        for key in parents:
            label = sizes[key][key].label
            said = re.search(rf"(?<![\w-]){label}( was distilled|'s shared layer)", text)
            assert bool(said) == (key in agree)


@st.composite
def every_word(draw):
    keys = draw(some_models(most=3))
    places = [Word("w", 2 * i, 2 * i + 1) for i in range(draw(st.integers(0, 5)))]

    def score(place):
        n = draw(st.integers(1, 3))
        pieces = ("[UNK]",) if draw(st.integers(0, 4)) == 0 else ("a",) * n
        rank = draw(st.integers(1, 4)) if len(pieces) == 1 else None
        return SpanScore(place, pieces, -draw(st.sampled_from([0.0, 0.001, 1.0, 20.0])), rank, ())

    return {key: [score(place) for place in places] for key in keys}


@law
@given(every_word(), st.booleans())
def test_ranks_are_of_words_that_have_one_and_surprisal_of_those_that_all_can_read(scores, is_done):
    total = max(map(len, scores.values()))
    done = {key: (total if is_done else max(0, total - 1), total) for key in scores}
    text = read(folds_words.words_finding(scores, LABELS, done))
    if total and not is_done:
        assert all(f"{LABELS[key]} {total - 1} of {total} word" in text for key in scores)
        return
    known = [{s.word for s in f if s.pieces != ("[UNK]",)} for f in scores.values()]
    shared = set.intersection(*known)
    told = re.findall(r"(\w+) ranks (\d+) of (\d+) words? first", text)
    if not shared:
        assert not told
        return
    ranked = {
        word
        for word in shared
        if all(len(s.pieces) == 1 for f in scores.values() for s in f if s.word == word)
    }
    for key, found in scores.items():
        mean = np.mean([-s.log_probability for s in found if s.word in shared])
        assert f"{LABELS[key]} {'ranks' if ranked else 'has'} " in text
        assert f"a mean surprisal of {mean:.2f} nats" in text
        first = sum(s.rank == 1 for s in found if s.word in ranked)
        assert not ranked or (LABELS[key], str(first), str(len(ranked))) in told
    assert (f"the {len(shared)} of {total} words that all" in text) == (len(shared) < total)


@st.composite
def contrasts(draw):
    words = draw(st.lists(st.sampled_from(["he", "she", "it"]), min_size=2, max_size=4))
    found = []
    for key in draw(some_models(most=3)):
        scores = []
        for word in words:
            pieces = draw(st.sampled_from([("a",), ("a",), ("a", "b"), ("[UNK]",)]))
            nats = draw(st.sampled_from([-1.0, -1.0002, -2.0, -900.0]))
            scores.append(SpanScore(Word(word, 0, 2), pieces, nats, None, ()))
        found.append(contrast(key, LABELS[key], scores))
    return found


@law
@given(contrasts())
def test_who_prefers_an_alternative_gives_it_a_share_that_prints_larger_than_any_other(found):
    text = read(contrast_words.contrast_finding(found))
    told = {}
    for part in text.rstrip(".").split("; "):
        if hit := re.fullmatch(r"(.+) (prefers?|finds?) ([\w, ]+?)( equally likely)?", part):
            for key in names_in(hit[1]):
                told[key] = (hit[2].startswith("find"), re.findall(r"\b(?:he|she|it)\b", hit[3]))
    for one in found:
        known = [s for s in one.scores if s.pieces != ("[UNK]",)]
        comparable = len(known) > 1 and len({len(s.pieces) for s in known}) == 1
        assert (one.model in told) == comparable, text
        if not comparable:
            continue
        p = np.exp([s.log_probability - max(k.log_probability for k in known) for s in known])
        shown = [f"{share:.3f}" for share in p / p.sum()]
        best = [s.word.text for s, share in zip(known, shown, strict=True) if share == max(shown)]
        assert told[one.model] == (len(best) > 1, best)
        assert f"{one.label} ({max(shown)})" in text


@law
@given(st.data())
def test_models_whose_words_change_are_those_whose_filling_differs(data):
    pairs = st.tuples(WORDS, WORDS)
    found = [
        MaskFillings(
            key,
            LABELS[key],
            Filling(data.draw(pairs), -1, -1),
            tuple(Filling(data.draw(pairs), -1, -1) for _ in range(2)),
        )
        for key in data.draw(some_models())
    ]
    text = read(folds_words.joint_finding(found))
    changed = [one.model for one in found if one.together[0].words != one.alone.words]
    assert names_in(text) == changed
    assert text.startswith("No model") == (not changed)
    assert (" changes its words" in text) == (len(changed) == 1 or not changed)
