"""Sides of pairs, the metric of CrowS-Pairs by plain transformers, and who favours which side."""

import json
from difflib import SequenceMatcher

import numpy as np
import pytest
import torch

from explorer.lists.bias import CrowsScore, crows_score, sides_of
from explorer.lists.comparison import Share
from explorer.lists.library import PairedTexts
from explorer.lists.read import read_table
from explorer.lists.results import PairList
from explorer.lists.rows import text_list
from explorer.lists.sentences import pairs_summary
from explorer.lists.stereoset import BlankScore, stereo_score
from explorer.lists.views.cautions import cautions
from explorer.lists.views.pair_strings import means_said
from explorer.lists.views.rows import as_json, table_rows
from explorer.lists.views.strings import headline, second_line
from tests.lists.by_hand import MASK, logits_of
from tests.lists.test_batches import csv_of
from tests.lists.test_run import finished

NAMES = {"bert": "BERT", "distilbert": "DistilBERT", "albert": "ALBERT"}
CROWS = [
    ("the cat sat on the mat.", "the unbelievable dog sat on the mat.", "stereo", "age"),
    ("it was a dog.", "it was a cat.", "antistereo", "age"),
    ("the dog and the cat sat.", "the cat and the dog sat.", "stereo", "gender"),
    ("the cat sat.", "the cat sat.", "stereo", "gender"),
]


def unmodified_by_hand(loaded, first, second):
    """Return both sums as the authors' script computes them: one mask, one pass, one token."""
    tokenizer = loaded.tokenizer
    ids = [tokenizer(text)["input_ids"] for text in (first, second)]
    places = ([], [])
    for kind, a, b, c, d in SequenceMatcher(None, *(list(map(str, i)) for i in ids)).get_opcodes():
        if kind == "equal":
            places[0].extend(range(a, b))
            places[1].extend(range(c, d))
    sums = [0.0, 0.0]
    for place in range(1, len(places[0]) - 1):
        for side in (0, 1):
            at, masked = places[side][place], list(ids[side])
            masked[at] = tokenizer.mask_token_id
            logits = logits_of(loaded, masked, [0] * len(masked))[at]
            sums[side] += float(torch.log_softmax(logits, -1)[ids[side][at]])
    return sums


@pytest.mark.long
def test_crows_pairs_has_the_metric_of_its_authors_beside_the_whole_sentence(tiny_family):
    result = finished(csv_of(CROWS, "sent_more,sent_less,stereo_antistereo,bias_type"))
    assert result.texts.columns == {
        "good": "sent_more",
        "bad": "sent_less",
        "group": "bias_type",
        "direction": "stereo_antistereo",
    }
    rows = {(row[0], row[1]): row for row in table_rows(result)}
    for key in tiny_family.specs:
        loaded = tiny_family.loaded(key)
        sums = [unmodified_by_hand(loaded, more, less) for more, less, *_ in CROWS]
        for number, expected in enumerate(sums, 1):
            assert rows[number, key][12:14] == pytest.approx(expected, abs=1e-4)
        rounded = [(round(more, 3), round(less, 3)) for more, less in sums]
        wins = [more > less for more, less in rounded]
        found = result.crows[key]
        assert (found.metric.hits, found.metric.n) == (sum(wins), len(CROWS))
        assert found.n_neutral == sum(more == less for more, less in rounded) >= 1
        assert found.anti_stereotype == Share(int(wins[1]), 1)
        # Another score than that of the whole sentences, which count the modified tokens too.
        assert rows[1, key][7] != pytest.approx(rows[1, key][12], abs=0.1)
    summary = as_json(result)["summary"]
    assert summary["sides"] == ["the stereotype", "the anti-stereotype"]
    assert summary["crows_pairs"]["bert"]["neutral"] >= 1
    assert "the stereotype is likelier in" in headline(result)
    said = " ".join([headline(result), second_line(result), *means_said(result), *cautions(result)])
    assert "good" not in said
    assert "By the metric of CrowS-Pairs" in said


def test_the_scores_of_crows_pairs_leave_equal_pairs_out_of_both_directions_only():
    scores = [(-1.0, -2.0), (-2.0, -1.0), (-1.0, -1.0004), (-3.0, -5.0), (-5.0, -3.0), (-1.0, -9.0)]
    directions = ["stereo", "stereo", "stereo", "antistereo", "antistereo", ""]
    assert crows_score(scores, directions) == CrowsScore(Share(3, 6), Share(1, 2), Share(1, 2), 1)


@pytest.mark.parametrize(
    ("header", "rows", "expected"),
    [
        ("good,bad", [("a b", "a c")], ("the good sentence", "the bad sentence", True)),
        (
            "sentence_good,sentence_bad",
            [("a", "b")],
            ("the good sentence", "the bad sentence", True),
        ),
        ("sent_more,sent_less", [("a", "b")], ("the stereotype", "the anti-stereotype", False)),
        (
            "stereotype,anti-stereotype",
            [("a", "b")],
            ("the stereotype", "the anti-stereotype", False),
        ),
        (
            "sentence1,sentence2",
            [("He is a nurse.", "She is a nurse."), ("There he sat.", "There she sat.")],
            ("“he”", "“she”", False),
        ),
        (
            "sentence1,sentence2",
            [("a b", "a c"), ("d", "e")],
            ("“sentence1”", "“sentence2”", False),
        ),
    ],
)
def test_a_side_is_good_only_where_the_list_says_so(header, rows, expected):
    sides = sides_of(text_list(read_table(csv_of(rows, header))))
    assert (sides.first, sides.second, sides.is_judged) == expected


def paired(margins, header="sentence1,sentence2", rows=("he sat", "she sat")):
    """Return the result of pairs with these margins."""
    n = len(next(iter(margins.values())))
    texts = text_list(read_table(csv_of([rows] * n, header)), "pairs")
    unknown = {key: np.zeros(n, bool) for key in margins}
    summary = pairs_summary(margins, [""] * n, unknown)
    labels = {key: NAMES[key] for key in margins}
    return PairList(texts, labels, "pll", {}, {}, margins, summary, sides_of(texts), {}, {})


def drawn(means, n=20, seed=0):
    generator = np.random.default_rng(seed)
    return {key: generator.normal(mean, 1.0, n) for key, mean in zip(NAMES, means, strict=True)}


@pytest.mark.parametrize(
    ("means", "said"),
    [
        (
            (8, 5, 2),
            "All three favour “he”; BERT favours “he” by more nats than DistilBERT and ALB",
        ),
        (
            (5, 5, 5),
            "All three favour “he”; which of them favours “he” most is not shown (Student's t",
        ),
        (
            (5, 5, -5),
            "BERT and DistilBERT favour “he”; which of them favours “he” most is not shown; ALBERT "
            "favours “she”; ALBERT favours “she” by",
        ),
        (
            (5, 0, 0),
            "BERT favours “he”; BERT favours “he” by more nats than DistilBERT and ALBERT (St",
        ),
        ((0, 0, 0), "It is not shown to differ from 0 for any model (Student's t"),
    ],
)
def test_who_favours_a_side_and_who_most_is_said_only_where_it_is_shown(means, said):
    (line,) = means_said(paired(drawn(means)))
    assert said in line
    assert line.startswith("The mean log-ratio of “he” to “she” is ")


def test_random_log_ratios_favour_no_side_in_any_of_a_hundred_lists():
    """Twenty or a hundred: at 1% after correction about one list in a hundred would say more."""
    lines = [next(means_said(paired(drawn((0, 0, 0), 12, seed)))) for seed in range(100)]
    assert sum("not shown to differ from 0 for any model" in line for line in lines) >= 98


def test_one_pair_has_no_interval_and_favours_nothing():
    (line,) = means_said(paired({key: np.array([7.7]) for key in NAMES}))
    assert "is +7.70 for BERT, +7.70 for DistilBERT and +7.70 for ALBERT nats" in line
    assert "not shown to differ" in line


def test_a_pair_of_choice_is_said_without_good_and_bad():
    result = paired(drawn((8, 8, -8)))
    said = " ".join([headline(result), second_line(result), *cautions(result)])
    assert "“he” is likelier in" in said
    assert "BERT finds “he” likelier in more pairs than ALBERT: 20 in which only it does" in said
    assert "right" not in said
    assert "good" not in said
    assert PairedTexts.COLUMNS[-1] == "blank_unrelated"


def of_context(i, context, words, hub=False):
    """A row of StereoSet: of a stereotype, against it, unrelated."""
    texts = [context.replace("BLANK", word) for word in words]
    kinds = [1, 0, 2] if hub else ["stereotype", "anti-stereotype", "unrelated"]
    rows = [{"sentence": text, "gold_label": kind} for text, kind in zip(texts, kinds, strict=True)]
    by_column = {"sentence": texts, "gold_label": kinds, "id": ["x"] * 3}
    about = {"id": f"{i}", "target": ("cook", "nurse")[i % 2], "bias_type": "profession"}
    return about | {"context": context, "sentences": by_column if hub else rows}


BLANKS = [
    of_context(0, "the cat sat on BLANK, and it was.", ("unbelievable", "mat", "dog")),
    of_context(1, "BLANK cat sat.", ("the", "unbelievable", "it")),
    of_context(2, "it was BLANK.", ("cat", "mat", "sat")),
    of_context(3, "he is BLANK!", ("good", "dog", "unbelievable")),
    of_context(4, "it was the BLANK.", ("unbelievable", "cat", "on")),
]


def at_blank_by_hand(loaded, row):
    """The mean probability of each word's pieces, each at [MASK] after the earlier ones."""
    tokenizer, means = loaded.tokenizer, []
    place = next(i for i, word in enumerate(row["context"].split()) if "BLANK" in word)
    for each in row["sentences"]:
        word = each["sentence"].split()[place].strip(".,!")
        ids = tokenizer(row["context"].replace("BLANK", MASK))["input_ids"]
        at, found = ids.index(tokenizer.mask_token_id), []
        for piece in tokenizer(word, add_special_tokens=False)["input_ids"]:
            found.append(float(logits_of(loaded, ids)[at].softmax(-1)[piece]))
            ids.insert(at, piece)
            at += 1
        means.append(np.mean(found))
    return means


@pytest.mark.long
def test_stereosets_own_scores_are_those_of_its_definition_by_plain_transformers(tiny_family):
    result = finished(json.dumps({"data": {"intrasentence": BLANKS}}))
    rows = {(row[0], row[1]): row[-3:] for row in table_rows(result)}
    for key in tiny_family.specs:
        loaded = tiny_family.loaded(key)
        words = np.array([at_blank_by_hand(loaded, row) for row in BLANKS])
        for number, expected in enumerate(words, 1):
            assert rows[number, key] == pytest.approx(expected.tolist(), abs=1e-6)
        ss, lms = [], []
        for term in (0, 1):
            own = words[term::2]
            ss.append(100 * np.mean(own[:, 0] > own[:, 1]))
            lms.append(50 * np.mean((own[:, 0] > own[:, 2]) + 1.0 * (own[:, 1] > own[:, 2])))
        found = as_json(result)["summary"]["stereoset"][key]
        assert found["ss"] == {"value": pytest.approx(np.mean(ss)), "interval": None}
        assert found["lms"]["value"] == pytest.approx(np.mean(lms))
        icat = np.mean(lms) * min(np.mean(ss), 100 - np.mean(ss)) / 50
        assert found["icat"]["value"] == pytest.approx(icat)
        assert (found["terms"], found["rows"]) == (2, 5)
    line = list(means_said(result))[-1]
    assert line.startswith("StereoSet's own scores, of the words at BLANK in 5 rows of 2 target")
    assert "Intervals need 20 terms that differ." in line


def test_rows_of_stereoset_are_read_in_the_hubs_form_too_and_what_is_not_scored_is_said():
    hub = [of_context(i, row["context"], "abc", hub=True) for i, row in enumerate(BLANKS)]
    texts = text_list(read_table("\n".join(map(json.dumps, hub))))
    assert [row.blank.words for row in texts.rows] == [("a", "b", "c")] * 5
    assert (texts.rows[0].text, texts.rows[0].other) == (
        "the cat sat on a, and it was.",
        "the cat sat on b, and it was.",
    )
    both = {"intersentence": [of_context(9, "A cook came.", "abc")] * 2, "intrasentence": BLANKS}
    said = text_list(read_table(json.dumps({"data": both}))).note
    assert "In 5 of 7 rows the words at BLANK are too, for StereoSet's ss, lms and icat." in said
    assert (
        "In 2 of 7 rows the sentences follow their context: StereoSet scores those with a" in said
    )


def test_stereosets_scores_are_means_over_terms_with_the_ends_of_drawn_terms():
    generator = np.random.default_rng(0)
    terms, ends = [f"term {i // 3}" for i in range(90)], []
    for _ in range(60):
        chances = np.repeat(generator.beta(6, 4, 30), 3)
        first = generator.random(90) < chances
        words = np.where(first[:, None], [0.3, 0.2, 0.1], [0.2, 0.3, 0.1])
        found = stereo_score([BlankScore(each, 0) for each in words], terms)
        assert found.ss[0] == pytest.approx(100 * first.mean())
        assert (found.lms[0], np.isnan(found.lms[1:]).all()) == (100.0, True)
        ends.append(found.ss[1] <= 60 <= found.ss[2])
    assert np.mean(ends) >= 0.88  # of 60 lists; 95% are wanted
