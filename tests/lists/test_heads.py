"""The models' own heads on lists: against plain transformers, scikit-learn and scipy."""

import json
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pytest
import torch
from scipy.special import expit, softmax
from scipy.stats import binomtest, pearsonr, spearmanr
from sklearn.metrics import accuracy_score, confusion_matrix, f1_score
from transformers import AutoModelForSequenceClassification, AutoTokenizer

import explorer
from explorer.lists.head_scores import HeadsResult, head_scores, labelled_heads
from explorer.lists.heads import AskedHeads, OwnHead, matched
from explorer.lists.judge import labelled_result
from explorer.lists.labelled import Choice, Judged, Labels, majority
from explorer.lists.library import table_of
from explorer.lists.read import read_table
from explorer.lists.results import TextsOptions
from explorer.lists.rows import TextList, TextRow, text_list
from explorer.lists.run import TextsQuestion
from explorer.lists.seen import (
    data_sets_of,
    fingerprint,
    in_both,
    in_training,
    packed,
    recognised_as,
)
from explorer.lists.ui.strings import CHARTS, NOTES, SUMMARY
from explorer.lists.views.cautions import cautions
from explorer.lists.views.charts import list_charts
from explorer.lists.views.head_strings import calibration_said, duels_said, verdict_said
from explorer.lists.views.rows import as_json, rows_canvas
from explorer.lists.views.summary import summary_html
from explorer.lists.views.verdict import lines_said
from explorer.models.specs import ONE_LABEL, SEVERAL_LABELS
from explorer.refusal import Refusal
from explorer.scheduling.cancel import CancelToken
from explorer.serving.start import parse_flags
from tests.tiny_models import WORDS

pytestmark = pytest.mark.long  # not needed at every save

KINDS = ("bert", "distilbert", "albert")
WHOLE = [word for word in WORDS if "#" not in word]


def texts_of(n, seed=0):
    """Return texts of 3 to 12 words, one of 600, and no two alike."""
    generator = np.random.default_rng(seed)
    texts = [" ".join(generator.choice(WHOLE, generator.integers(3, 13))) for _ in range(n)]
    return [f"{text} {place}." for place, text in enumerate(texts)]


def asked(rows, family, **options):
    """Return the result of rows, without curves."""
    table = table_of(rows)
    kind = options.pop("kind", "")
    question = TextsQuestion(
        text_list(table, kind), family.ask(), TextsOptions(curves=False, **options)
    )
    for _ in question.run(CancelToken()):
        pass
    return question.result()


def plain_logits(folder, texts, longest=512):
    """The logits of each text alone by plain transformers, float64 [text, label]."""
    network = AutoModelForSequenceClassification.from_pretrained(folder).eval()
    tokenizer = AutoTokenizer.from_pretrained(folder)
    has_segments = network.config.model_type != "distilbert"
    found = []
    for text in texts:
        inputs = tokenizer(
            text,
            return_token_type_ids=has_segments,
            return_tensors="pt",
            truncation=True,
            max_length=longest,
        )
        with torch.no_grad():
            found.append(network(**inputs).logits[0].double().numpy())
    return np.array(found)


def labelled_rows(names, n=60, seed=0):
    generator = np.random.default_rng(seed)
    labels = [names[place % len(names)] for place in range(n)]
    generator.shuffle(labels)
    return [{"text": text, "label": label} for text, label in zip(texts_of(n), labels, strict=True)]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("pooling", ["mean", "cls"])
def test_scores_of_a_head_are_those_of_plain_transformers_and_scikit_learn(headed, kind, pooling):
    names = ("ham", "spam", "other")
    folder = headed(kind, names)
    rows = labelled_rows(["ham", "spam"])
    result = asked(rows, explorer.load({"mine": folder}), pooling=pooling)
    found = result.heads.scores["mine"]
    logits = plain_logits(folder, [row["text"] for row in rows])
    assert found.probabilities == pytest.approx(softmax(logits, -1), abs=1e-5)
    truth = [row["label"] for row in rows]
    predicted = [names[place] for place in logits.argmax(-1)]
    assert found.accuracy.value == accuracy_score(truth, predicted)
    known = ["ham", "spam"]
    f1 = f1_score(truth, predicted, labels=known, average="macro", zero_division=0)
    assert found.macro_f1.value == pytest.approx(f1)
    wanted = confusion_matrix(truth, predicted, labels=[*known, "other"])[:2]
    np.testing.assert_array_equal(found.confusion, wanted)


def test_a_head_of_fifty_labels_and_a_row_of_600_tokens(headed):
    names = tuple(f"class {n}" for n in range(50))
    folder = headed("bert", names)
    rows = labelled_rows(["Class_3", "class-41"])
    rows[7]["text"] = "the cat sat on " * 150
    family = explorer.load({"mine": folder})
    whole = asked(rows, family)
    assert [row.number for row in whole.texts.left_out] == [8]
    assert "602 tokens" in whole.texts.left_out[0].reason
    cut = asked(rows, family, too_long="head")
    found = cut.heads.scores["mine"]
    texts = [row.read for row in cut.texts.rows]
    assert cut.texts.n_cut == 1
    assert found.probabilities == pytest.approx(softmax(plain_logits(folder, texts), -1), abs=1e-5)
    assert found.labels == ("Class_3", "class-41")
    rest = np.delete(found.probabilities, 7, 0)
    np.testing.assert_allclose(rest, whole.heads.scores["mine"].probabilities, atol=1e-6)


def test_a_sigmoid_head_on_rows_with_several_labels(headed):
    names = ("anger", "joy", "fear")
    folder = headed("distilbert", names, "multi_label_classification")
    generator = np.random.default_rng(3)
    given = generator.random((60, 3)) < 0.5
    rows = [
        {"text": text, "labels": [name for name, has in zip(names, row, strict=True) if has]}
        for text, row in zip(texts_of(60), given, strict=True)
    ]
    result = asked(rows, explorer.load({"mine": folder}), kind="multilabel")
    found = result.heads.scores["mine"]
    predicted = expit(plain_logits(folder, [row["text"] for row in rows])) > 0.5
    order = [names.index(label) for label in found.labels]
    truth = given[:, order]
    np.testing.assert_array_equal(found.predicted, predicted[:, order])
    for average, score in (("macro", found.scores.macro), ("micro", found.scores.micro)):
        wanted = f1_score(truth, predicted[:, order], average=average, zero_division=0)
        assert score.value == pytest.approx(wanted)
    assert as_json(result)["rows"][0]["head_predicted"] is not None


def test_a_head_with_one_score_on_rows_with_scores(headed):
    folder = headed("bert", ("LABEL_0",))
    generator = np.random.default_rng(5)
    rows = [
        {"text": text, "score": float(score)}
        for text, score in zip(texts_of(50), generator.normal(size=50), strict=True)
    ]
    result = asked(rows, explorer.load({"mine": folder}), kind="scored")
    found = result.heads.scores["mine"]
    values = plain_logits(folder, [row["text"] for row in rows])[:, 0]
    scores = [row["score"] for row in rows]
    assert found.values == pytest.approx(values, abs=1e-4)
    assert found.pearson.value == pytest.approx(pearsonr(values, scores).statistic, abs=1e-4)
    assert found.spearman.value == pytest.approx(spearmanr(values, scores).statistic, abs=1e-4)
    assert found.pearson.low < found.pearson.value < found.pearson.high


def test_names_decide_whatever_their_case_spaces_hyphens_and_underscores():
    assert matched(["Not_spam", "spam"], ["not spam", "SPAM"]) == (
        {"not spam": 0, "SPAM": 1},
        False,
    )
    assert matched(["a b", "a-b"], ["A_B"]) == ({}, False)  # two labels are alike
    assert matched(["a b", "a-b"], ["a-b"]) == ({"a-b": 1}, False)
    assert matched(["x"], ["y"]) == ({}, False)


@pytest.mark.parametrize(
    ("head", "names", "is_read"),
    [
        (["LABEL_0", "LABEL_1"], ["0", "1"], True),
        (["LABEL_0", "LABEL_1", "LABEL_2"], ["0", "2"], True),
        (["LABEL_0", "LABEL_1"], ["1", "2"], False),  # stars from 1 on are no numbers from 0 on
        (["LABEL_0", "LABEL_1"], ["0", "1", "2"], False),
        (["LABEL_0", "LABEL_1"], ["0", "yes"], False),
        (["no", "LABEL_1"], ["0", "1"], False),
        (["negative", "positive"], ["0", "1"], False),
    ],
)
def test_numbers_are_read_as_label_n_only_from_0_on_and_where_nothing_has_a_name(
    head, names, is_read
):
    places, by_number = matched(head, names)
    assert by_number is is_read
    assert places == ({name: int(name) for name in names} if is_read else {})


def test_numbers_and_label_n_are_said(headed):
    folder = headed("bert", ("LABEL_0", "LABEL_1"))
    family = explorer.load({"mine": folder})
    said = " ".join(lines_said(asked(labelled_rows(["0", "1"]), family)))
    assert "0 of your list is read as LABEL_0" in said
    named = asked(labelled_rows(["0", "1"]), family, labels={"mine": ["1", "0"]})
    assert "read as LABEL_0" not in " ".join(lines_said(named))
    assert dict(named.heads.asked.heads["mine"].places) == {"0": 1, "1": 0}


def test_other_names_are_said_and_naming_them_scores_the_head(headed):
    folder = headed("bert", ("negative", "positive"))
    family = explorer.load({"mine": folder})
    rows = labelled_rows(["bad", "good"])
    result = asked(rows, family)
    assert not result.heads.scores
    (said,) = [line for line in cautions(result) if "head" in line]
    assert "its labels are negative and positive, and yours are bad and good" in said
    assert "--labels mine=NAME,NAME" in said
    named = asked(rows, family, labels={"mine": ["bad", "good"]})
    assert named.heads.scores["mine"].accuracy.value > 0
    with pytest.raises(Refusal, match="has 2 labels; 3 names"):
        asked(rows, family, labels={"mine": ["bad", "good", "so"]})
    with pytest.raises(Refusal, match="the columns that can have such names are mine"):
        asked(rows, family, labels={"yours": ["bad", "good"]})


def test_rows_with_labels_that_a_head_does_not_know_are_counted_and_not_scored(headed):
    names = ("ham", "spam")
    folder = headed("bert", names)
    rows = labelled_rows(["ham", "spam", "news"])
    result = asked(rows, explorer.load({"mine": folder}))
    found = result.heads.scores["mine"]
    known = np.array([row["label"] != "news" for row in rows])
    np.testing.assert_array_equal(found.rows, known)
    logits = plain_logits(folder, [row["text"] for row in rows])[known]
    truth = [row["label"] for row in rows if row["label"] != "news"]
    predicted = [names[place] for place in logits.argmax(-1)]
    assert found.accuracy.value == accuracy_score(truth, predicted)
    assert "does not know “news”: 20 of 60 rows have it and are not scored" in " ".join(
        lines_said(result)
    )
    of_features = [result.result.judged["mine"].predicted == result.result.labels.truth]
    assert result.heads.same_rows["mine"].value == pytest.approx(of_features[0][known].mean())
    line = next(row for row in as_json(result)["rows"] if row["label"] == "news")
    assert line["head_right"] is None
    assert line["head_predicted"] in names


@pytest.mark.parametrize(
    ("given", "why"),
    [
        (["ham", "spam", "ham", "spam", "ham"], "5 labelled rows; at least 40 are needed"),
        (["ham"] * 45, "All rows have the label “ham”"),
        ([f"l{i}" for i in range(45)], "0 of 45 labelled rows can be used"),
        (["ham"] * 39 + ["spam"], "All rows that can be used have the label “ham”"),
    ],
)
def test_rows_that_nothing_can_learn_from_are_scored_with_own_heads_alone(headed, given, why):
    names = tuple(sorted(set(given) | {"ham", "spam", "more"}))
    folders = {key: headed(key, names) for key in ("bert", "albert")}
    texts = texts_of(len(given))
    rows = [{"text": text, "label": label} for text, label in zip(texts, given, strict=True)]
    result = asked(rows, explorer.load(folders), kind="labelled")
    said = " ".join(lines_said(result))
    assert why in said
    assert "Nothing is learnt from these rows" in said
    assert "no temperature is fitted" in said
    assert "From frozen features" not in said
    known = sorted(set(given))
    for key, folder in folders.items():
        found = result.heads.scores[key]
        logits = plain_logits(folder, texts)
        predicted = [names[place] for place in logits.argmax(-1)]
        assert found.accuracy.value == accuracy_score(given, predicted)
        assert found.accuracy.low < found.accuracy.value < found.accuracy.high or (
            found.accuracy.value in (0, 1)
        )
        f1 = f1_score(given, predicted, labels=known, average="macro", zero_division=0)
        assert found.macro_f1.value == pytest.approx(f1)
        assert found.calibration.temperature is None
        order = [*known, *(name for name in names if name not in known)]
        counts = confusion_matrix(given, predicted, labels=order)[: len(known)]
        np.testing.assert_array_equal(found.confusion[:, :-1], counts[:, : len(known)])
        right = [row["head_right"] for row in as_json(result)["rows"] if row["model"] == key]
        assert right == [a == b for a, b in zip(given, predicted, strict=True)]
    only = [row["predicted"] for row in as_json(result)["rows"] if row["model"] in folders]
    assert set(only) == {None}
    assert set(as_json(result)["summary"]["classifiers"]) == {"majority"}
    html = str(summary_html(result, {}, SUMMARY, NOTES))
    assert html.count("<table") == 2
    assert f">{SUMMARY['heads_macro_f1']}</th>" in html
    assert f">{SUMMARY['heads_frozen']}</th>" not in html
    assert f">{SUMMARY['heads_temperature']}</th>" not in html


def test_few_rows_are_drawn_on_the_page_with_what_the_heads_say_alone(headed):
    flags = [f"--model={key}={headed(key, ('ham', 'spam'))}" for key in ("bert", "albert")]
    family = parse_flags(flags).family
    rows = [{"text": f"the cat {i}", "label": ("ham", "spam")[i % 2]} for i in range(5)]
    result = explorer.texts(rows, family).answers
    drawn = json.loads(rows_canvas(result, {}, {}))
    assert drawn["models"] == ["bert", "distilbert", "albert"]
    heads = result.heads.scores
    for line in drawn["lines"]:
        at = line["n"] - 1
        assert line["right"] == [
            bool(heads["bert"].right[at]),
            None,
            bool(heads["albert"].right[at]),
        ]
    charts = json.loads(list_charts(result, CHARTS, {}))["figures"]
    assert len(charts) == 3  # reliability, and each head's confusion


def test_few_rows_of_which_no_head_knows_the_labels_are_refused(headed):
    family = explorer.load({"mine": headed("bert", ("yes", "no"))})
    rows = [{"text": f"the cat {i}", "label": "ab"[i % 2]} for i in range(5)]
    with pytest.raises(Refusal, match="5 labelled rows; at least 40 are needed"):
        asked(rows, family)


def test_a_head_that_is_right_on_30_rows_is_not_held_against_words_that_learnt_nothing():
    labels = Labels(("a", "b"), np.arange(30) % 2)
    head = OwnHead(("a", "b"), ONE_LABEL, {"a": 0, "b": 1})
    logits = {"mine": np.eye(2)[labels.truth] * 3}
    result = labelled_result(labels, {"majority": majority(labels.truth)})
    texts = TextList("labelled", {"text": "text", "label": "label"}, ())
    found = labelled_heads(AskedHeads({"mine": head}), logits, texts, result)
    assert found.verdict.best == ("mine",)
    assert found.verdict.words == -1


@pytest.mark.parametrize(
    ("labels", "problem", "wanted"),
    [
        (("LABEL_0",), None, "gives a score, and these rows have labels"),
        (("ham", "x"), None, "of your labels it knows only “ham”"),
    ],
)
def test_a_head_of_another_kind_is_said_and_not_scored(headed, labels, problem, wanted):
    family = explorer.load({"mine": headed("bert", labels, problem)})
    result = asked(labelled_rows(["ham", "spam"]), family)
    assert not result.heads.scores
    assert wanted in " ".join(cautions(result))


def test_a_classifier_on_rows_with_scores_has_nothing_to_compare(headed):
    rows = [{"text": text, "score": place % 7} for place, text in enumerate(texts_of(45))]
    family = explorer.load({"mine": headed("bert", ("ham", "spam"))})
    result = asked(rows, family, kind="scored")
    assert not result.heads.scores
    assert "gives one label to a text, and these rows have a score" in " ".join(cautions(result))


def test_an_adapter_is_scored_too_and_its_features_are_those_of_the_frozen_encoder(tmp_path):
    rows = [
        {"text": f"{text} {place}.", "label": label}
        for place in range(20)
        for text, label in (("a lovely film", "Positive"), ("a dreadful film", "Negative"))
    ]
    result = asked(rows, explorer.load("mini"))
    assert set(result.heads.scores) == {"bert", "distilbert", "albert"}
    for key, each in result.heads.scores.items():
        one = explorer.classify(rows[3]["text"], "mini").models[key]
        assert each.probabilities[3] == pytest.approx(one.values, abs=1e-5)
    features = result.result.judged["bert"].predicted
    alone = asked([{**row, "label": row["label"][::-1]} for row in rows], explorer.load("mini"))
    assert not alone.heads.scores
    names = [
        alone.result.labels.names[place][::-1] for place in alone.result.judged["bert"].predicted
    ]
    assert [result.result.labels.names[place] for place in features] == names


def heads_of(rights, names=("a", "b"), seed=0, groups=None, texts=None):
    """Return the result of heads that are right on these rows, bool [head, row], and the labels."""
    generator = np.random.default_rng(seed)
    n = len(rights[0])
    labels = Labels(tuple(names), generator.integers(0, len(names), n), groups)
    asked_heads, logits = {}, {}
    for number, right in enumerate(rights):
        key = f"h{number}"
        asked_heads[key] = OwnHead(
            tuple(names), ONE_LABEL, {name: i for i, name in enumerate(names)}
        )
        predicted = np.where(right, labels.truth, (labels.truth + 1) % len(names))
        logits[key] = 2.0 * np.eye(len(names))[predicted] + generator.normal(
            0, 0.1, (n, len(names))
        )
    regressions = {
        "tfidf": Judged(generator.integers(0, len(names), n), (Choice(1.0, "", 1.0),)),
        "majority": majority(labels.truth),
    }
    texts = texts or TextList("labelled", {"text": "text", "label": "label"}, ())
    result = labelled_result(labels, regressions)
    return labelled_heads(AskedHeads(asked_heads), logits, texts, result), labels


def test_two_heads_are_compared_by_the_exact_binomial_test_and_holm():
    generator = np.random.default_rng(2)
    rights = [generator.random(100) < share for share in (0.9, 0.7, 0.8)]
    found, _ = heads_of(rights)
    p_values = []
    for (a, b), duel in zip(combinations(range(3), 2), found.duels, strict=True):
        only = int((rights[a] & ~rights[b]).sum()), int((rights[b] & ~rights[a]).sum())
        assert (duel.only_first, duel.only_second) == only
        assert duel.p_value == pytest.approx(binomtest(only[0], sum(only)).pvalue)
        assert duel.difference.low < duel.difference.value < duel.difference.high
        p_values.append(duel.p_value)
    for level in np.linspace(0.001, 1, 400):  # Holm rejects step by step
        rejected, order = set(), np.argsort(p_values)
        for rank, place in enumerate(order):
            if p_values[place] > level / (3 - rank):
                break
            rejected.add(int(place))
        corrected = {i for i, duel in enumerate(found.duels) if duel.corrected <= level + 1e-12}
        assert corrected == rejected


def test_a_head_that_is_better_than_the_others_is_named():
    generator = np.random.default_rng(4)
    found, _ = heads_of([generator.random(200) < share for share in (0.97, 0.6, 0.65)])
    assert found.verdict.best == ("h0",)
    assert found.verdict.is_sole
    assert found.verdict.words == -1


def test_random_labels_lead_to_no_advice_in_any_of_20_draws():
    for seed in range(20):
        generator = np.random.default_rng(100 + seed)
        found, _ = heads_of(generator.random((3, 100)) < 0.5, seed=seed)
        assert found.verdict.best == ()


def test_a_head_counts_as_better_below_an_error_rate_of_1_percent_alone():
    levels = []
    for share in np.linspace(0.5, 0.9, 25):
        right = np.random.default_rng(9).random(100) < share
        found, _ = heads_of([right])
        p_values = [
            binomtest(duel.only_first, duel.only_first + duel.only_second).pvalue
            for duel in found.against
        ]
        guess, words = p_values
        level = 2 * guess if guess < words else max(guess, 2 * words)  # Holm's, of the two tests
        is_ahead = found.against[0].only_first > found.against[0].only_second
        assert bool(found.verdict.best) == (is_ahead and level < 0.01)
        levels.append(level if is_ahead else 1.0)
    assert any(0.01 < level < 0.2 for level in levels)
    assert min(levels) < 0.01


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_no_interval_has_a_width_of_0_at_the_ends_of_the_scale(share):
    found, _ = heads_of([np.full(50, bool(share))])
    each = found.scores["h0"]
    for score in (each.accuracy, each.macro_f1):
        assert score.value == share
        assert score.low <= share <= score.high
        assert 0.04 < score.high - score.low < 0.2


def test_groups_count_once():
    right = np.repeat(np.random.default_rng(0).random(50) < 0.8, 4)
    grouped, _ = heads_of([right], groups=np.repeat(np.arange(50), 4))
    alone, _ = heads_of([right])
    widths = [
        found.scores["h0"].accuracy.high - found.scores["h0"].accuracy.low
        for found in (grouped, alone)
    ]
    assert widths[0] > 1.7 * widths[1]


def test_labels_that_do_not_exclude_each_other_have_no_temperature():
    labels = Labels(("a", "b"), np.arange(40) % 2)
    head = OwnHead(("a", "b"), SEVERAL_LABELS, {"a": 0, "b": 1})
    logits = np.random.default_rng(0).normal(size=(40, 2))
    found = head_scores(head, logits, labels)
    assert found.probabilities == pytest.approx(expit(logits))
    assert found.calibration.temperature is None
    np.testing.assert_array_equal(found.predicted, logits.argmax(-1))


CARD = """---
license: mit
datasets:
- nyu-mll/glue
- SetFit/ag_news
model-index:
- name: x
  results:
  - dataset: {type: tweets_hate, name: "Hate"}
---
# A card that mentions imdb in its text
"""


def test_a_card_names_its_data_sets_in_its_metadata():
    assert data_sets_of(CARD) == ("nyu-mll/glue", "SetFit/ag_news", "tweets_hate", "Hate")
    assert data_sets_of("# imdb") == ()
    assert data_sets_of("---\n: [\n---\n") == ()
    assert data_sets_of("---\n- imdb\n---\n") == ()


@pytest.mark.parametrize(
    ("name", "content", "wanted"),
    [
        ("SST-2/train.tsv", "sentence\tlabel\nIt sings.\t1\n", "SST-2"),
        ("glue_mrpc.csv", "text,label\na b,1\n", "MRPC"),
        ("a.csv", "question1,question2,is_duplicate\nIs it?,Was it?,1\n", "QQP"),
        ("chocolate.csv", "text,label\na b,1\n", ""),
        ("a.csv", "text,label\na b,1\n", ""),
    ],
)
def test_a_list_is_recognised_by_its_name_and_its_columns(name, content, wanted):
    texts = text_list(read_table(content, name))
    assert [known.label for known in recognised_as(texts)] == [wanted] * bool(wanted)


KNOWN = (
    "that loves its characters and communicates something rather beautiful about human nature",
    "on the worst revenge-of-the-nerds clichés the filmmakers could dredge up",
)
"""The first training rows of SST-2 of eight words or more, as the hub shows them."""


def test_training_rows_of_sst2_are_known_whatever_their_case_and_signs():
    for text in KNOWN:
        assert fingerprint(text.upper() + " !") in in_training()
    other = ["the film that I saw was as long as a day without bread", "a b c d e f g h"]
    assert not {fingerprint(text) for text in other} & in_training()
    assert fingerprint("seven words are too few for it") == b""
    assert packed([KNOWN[0], KNOWN[0] + "."]) == packed(KNOWN[:1])


@pytest.mark.parametrize(
    ("n_copies", "share", "is_said"), [(6, 1, True), (4, 1, False), (6, 0.7, False)]
)
def test_a_head_that_is_right_on_copies_of_sst2_is_said_with_no_word_of_guilt(
    n_copies, share, is_said
):
    rows = tuple(
        TextRow(place + 1, KNOWN[0] if place < n_copies else f"row {place}", label="a")
        for place in range(50)
    )
    right = np.arange(50) < 50 * share
    found, _ = heads_of([right], texts=TextList("labelled", {}, rows))
    assert bool(found.as_if_seen) is is_said
    assert found.copies == (n_copies if n_copies >= 5 else 0)


def test_a_collection_stands_for_its_parts():
    known = recognised_as(text_list(read_table("sentence\tlabel\nIt sings.\t1\n", "cola.tsv")))
    assert in_both(["nyu-mll/glue"], known) == (("nyu-mll/glue", "CoLA"),)
    assert in_both(["imdb", "glutton"], known) == ()


@pytest.mark.parametrize(
    ("card", "is_said"), [(CARD, True), (CARD.replace("ag_news", "imdb"), False)]
)
def test_a_card_that_names_the_list_is_said_and_an_unrelated_one_is_not(
    headed, tmp_path, card, is_said
):
    folder = headed("bert", ("1", "2"), card=card)
    path = tmp_path / "ag_news" / "test.csv"
    path.parent.mkdir()
    path.write_text(
        "".join(f'"{row["label"]}","{row["text"]}"\n' for row in labelled_rows(["1", "2"])), "utf-8"
    )
    result = explorer.texts(path, explorer.load({"mine": folder}))
    said = " ".join(result.sentences())
    assert ("card names “SetFit/ag_news” among its data sets" in said) is is_said
    assert ("the columns or the name of AG News" in said) is is_said


@dataclass
class Listed:
    """What the sentences on own heads read of a result."""

    labels: dict
    heads: HeadsResult
    texts: TextList
    result: object = None


def sentences_of(rights, seed=0):
    """Return the verdict, and the sentences on tests and calibration, of heads right on these rows."""
    found, _ = heads_of(rights, seed=seed)
    rows = tuple(TextRow(n + 1, f"row {n}", label="a") for n in range(len(rights[0])))
    listed = Listed(
        {key: key.upper() for key in found.scores}, found, TextList("labelled", {}, rows)
    )
    return verdict_said(listed), [*duels_said(listed)], [*calibration_said(listed)]


def at(share, n=200, seed=0):
    return np.random.default_rng(seed).random(n) < share


@pytest.mark.parametrize(
    ("rights", "begins", "holds"),
    [
        ([at(0.5), at(0.52, seed=1)], "No own head is significantly better", "200 rows can show"),
        ([at(0.95)], "H0's own head is significantly better than always", "on 200 rows"),
        ([at(0.97), at(0.7, seed=1)], "H0's own head is the best of", "significantly worse on 200"),
        (
            [at(0.9), at(0.9, seed=1)],
            "The heads of H0 and H1 are significantly",
            "tell them apart.",
        ),
        (
            [at(0.75, 60), at(0.9, 60, 1), at(0.6, 60, 5)],
            "H1's own head is significantly better than always",
            "60 rows are too few to tell it from that of H0.",
        ),
    ],
)
def test_the_verdict_says_what_the_tests_allow(rights, begins, holds):
    said, _, _ = sentences_of(rights)
    assert said.startswith(begins)
    assert holds in said


def test_one_pair_has_no_correction_and_equal_heads_say_so():
    _, (said,), _ = sentences_of([at(0.9), at(0.9, seed=1)])
    assert said.endswith("tell the heads apart (McNemar's exact test, p = 0.096).")
    _, (said,), _ = sentences_of([at(0.97), at(0.7, seed=1)])
    assert said.endswith("(McNemar's exact test, p < 0.001).")
    _, (said,), _ = sentences_of([at(0.9), at(0.6, seed=1), at(0.9, seed=2)])
    assert "H0's head is right on more rows than H1's" in said
    assert "after Holm's correction for 3 comparisons" in said
    _, (said,), _ = sentences_of([at(0.9), at(0.9)])
    assert said == "The heads are right on the same rows and wrong on the same rows."


def test_too_much_and_too_little_confidence_are_told_apart():
    """The heads of ``heads_of`` give about 88% to the label that they choose."""
    _, _, (over,) = sentences_of([at(0.6)])
    assert over.startswith("H0's own head is overconfident: its mean probability is 88")
    _, _, (under,) = sentences_of([at(1.0)])
    assert under.startswith("H0's own head is underconfident")
    _, _, (fits,) = sentences_of([at(0.88)])
    assert fits.startswith("The probabilities of H0's own head agree with how often it is right")
