"""No sentence of the predictions tab is false: each claim is evaluated on drawn results."""

import re
from itertools import combinations
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import softmax

from explorer.analysis.predictions import Filling, MaskFillings, SpanScore, contrast
from explorer.inference.runs import runs_with_mlm_head
from explorer.links.page_state import PageState
from explorer.models.specs import BASE, MINI
from explorer.models.tokens import Word, spelling_of
from explorer.ui.predictions import strings, tab
from explorer.ui.predictions import strings as texts
from explorer.ui.shell.tabs import values_of
from tests.ui.sentences import (
    LABELS,
    TEXTS,
    WORDS,
    close_shares,
    law,
    names_in,
    read,
    some_models,
    told,
)


@st.composite
def predictions(draw, keys=None, max_masks=7):
    keys = keys or draw(some_models())
    n = draw(st.integers(0, max_masks))
    return {
        key: SimpleNamespace(
            positions=tuple(range(n)),
            words=tuple((draw(WORDS),) for _ in range(n)),
            probabilities=np.array([[round(draw(close_shares()), 9)] for _ in range(n)]).reshape(
                n, 1
            ),
        )
        for key in keys
    }


def firsts(found, mask):
    return {key: one.words[mask][0] for key, one in found.items()}


PRINTED = r"\d\.\d{3,6}|\d\.\d+×10⁻[⁰¹²³⁴⁵⁶⁷⁸⁹]+"
NUMBERS = {2: "two", 3: "three", 4: "four"}
GROUP = {2: "both", 3: "all three", 4: "all four"}
POWERS = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")


def value(printed):
    """The number that is printed, and half a unit of its last digit."""
    digits, _, exponent = printed.translate(POWERS).partition("×10")
    unit = 10.0 ** (int(exponent or 0) - len(digits.partition(".")[2]))
    return float(digits) * 10.0 ** int(exponent or 0), unit / 2


def judge(line, words, p, labels=LABELS):
    """Each model has its own word and probability; who is most confident is read off the numbers."""
    unanimous = len(set(words.values())) == 1
    for key, label in labels.items():
        if key not in words:
            continue
        said = f"“?{re.escape(words[key])}”?"
        name = rf"(?<![\w-]){re.escape(label)}(?!\w)"
        alone = re.search(rf"{name}(?: says| answers)? {said} \(({PRINTED})\)", line)
        group = re.search(rf"{name} \(({PRINTED})\)[^;]*? answer {said}(?=[.;])", line)
        shown = alone or group
        assert shown or (unanimous and len(p) > 1 and f" answer {words[key]}" in line), line
        if shown:
            number, half = value(shown[1])
            assert abs(number - p[key]) <= half * 1.001, line
    judge_surest(line, p, labels, unanimous)


def judge_surest(line, p, labels, unanimous):
    """Who has the largest probability, or those who cannot be told apart by float32."""
    if len(p) == 1:
        assert "confident" not in line
        return
    top = max(p.values())
    best = [key for key in p if abs(p[key] - top) <= 1.1e-6 * max(1, top)]
    small = top < 1e-3  # printed by its digits, however many zeros come before them
    clear = [key for key in p if (p[key] > top * 0.99999 if small else top - p[key] <= 4e-7)]
    assert unanimous == line.startswith(f"{GROUP[len(p)].capitalize()} answer ")
    end = re.split("; |, (?=equally)", line)[-1]
    if "equally" in end:
        assert len(best) == len(p), line
        assert unanimous or end == f"{GROUP[len(p)]} are equally confident."
        return
    who = names_in(end, labels)
    assert set(clear) <= set(who) <= set(best) | set(clear), line
    assert (" is " in end) == (len(who) == 1)
    assert ("more" if len(p) == 2 else "most") + " confident" in end
    assert bool(re.search(PRINTED, end)) == unanimous


def judge_masks(text, rows, labels=LABELS):
    """``rows``: for each mask the models' words and probabilities."""
    text = text.strip()
    if len(rows) == 1:
        judge(text, *rows[0], labels)
        return
    lines = re.findall(
        r"(?:^|(?<=\. )|(?<=: )|(?<=\d ))(\d+)\. (.*?\.)(?= \d+\. | Masks? \d|$)", text
    )
    assert [int(i) for i, _ in lines] == [*range(1, len(rows) + 1)], text
    for (_, line), (words, p) in zip(lines, rows, strict=True):
        judge(line, words, p, labels)
    n_models = len(rows[0][0])
    same = sum(len(set(words.values())) == 1 for words, _ in rows)
    said = r"The (\w+) models agree on (\d+|none) of (?:the )?(\d+) masks\. The first three: 1\. "
    top = re.match(said, text)
    assert bool(top) == (n_models > 1 and len(rows) > 3)
    if top:
        assert top.groups() == (NUMBERS[n_models], str(same or "none"), str(len(rows)))
    folded = {4: "Mask 4", 5: "Masks 4 and 5", 6: "Masks 4 to 6"}
    titles = re.findall(r"\. (Masks? \d(?: \w+ \d)?) 4\. ", text)
    assert titles == ([folded[len(rows)]] if len(rows) in folded else [])


def rows_of(found):
    n = len(next(iter(found.values())).positions)
    return [
        (firsts(found, mask), {key: one.probabilities[mask, 0] for key, one in found.items()})
        for mask in range(n)
    ]


@law
@given(predictions(max_masks=6))
def test_each_model_has_its_word_and_the_most_confident_its_name_in_one_line_a_mask(found):
    text = read(texts.predictions_finding(found, LABELS))
    rows = rows_of(found)
    if rows:
        judge_masks(text, rows)
    else:
        assert text == texts.NO_MASK


def test_no_word_is_offered_to_be_clicked_where_the_text_has_none(tiny_family):
    for text, has_word in (("?!...", False), ("the cat sat", True), ("?! 7", True), ("—", False)):
        said = read(str(values_of(tab, PageState(text=text))[0]).split('<p class="note"')[0])
        assert ("click a word" in said) == has_word, text
        assert ("The text has no word" in said) == (not has_word), text


@pytest.mark.long
@pytest.mark.parametrize("family", ["bundled", "random"])
def test_of_twenty_texts_the_headline_says_what_the_softmax_of_the_logits_says(family, request):
    if family == "random":
        request.getfixturevalue("tiny_family")
    for given_text in TEXTS:
        state = PageState(text=given_text)
        runs, _ = runs_with_mlm_head(state.ask)
        labels = {key: run.spec.label for key, run in runs.items()}
        headline, _ = values_of(tab, state)
        finding, *notes = re.split('(?=<p class="note">)', str(headline))
        text = read(finding)
        told(given_text, " / ".join([text, *map(read, notes)]))
        text = re.sub(r"^[^.]+ so (its|their) answers are guesses\. ", "", text)
        p = {key: softmax(run.mask_logits.astype(float), -1) for key, run in runs.items()}
        rows = []
        for mask in range(len(runs["bert"].tokens.mask_positions)):
            best = {key: one[mask].argmax() for key, one in p.items()}
            words = {
                k: spelling_of(runs[k].vocabulary).word(runs[k].vocabulary[i])
                for k, i in best.items()
            }
            rows.append((words, {k: p[k][mask].max() for k in p}))
        if rows:
            judge_masks(text, rows, labels)
        else:
            assert text == texts.NO_MASK
        agree = any(len(set(words.values())) < len(words) for words, _ in rows)
        assert ("independent evidence" in str(headline)) == agree


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
    text = read(strings.words_finding(scores, LABELS, done))
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
    text = read(strings.contrast_finding(found))
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
    text = read(strings.joint_finding(found))
    changed = [one.model for one in found if one.together[0].words != one.alone.words]
    assert names_in(text) == changed
    assert text.startswith("No model") == (not changed)
    assert (" changes its words" in text) == (len(changed) == 1 or not changed)
