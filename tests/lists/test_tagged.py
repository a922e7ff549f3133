"""Rows whose words have tags: against plain transformers, seqeval and scikit-learn."""

import json
from collections import Counter
from itertools import product

import numpy as np
import pytest
import torch
from seqeval.metrics import classification_report, f1_score, precision_score, recall_score
from sklearn.model_selection import KFold
from transformers import AutoModelForTokenClassification, AutoTokenizer

import explorer
from explorer.lists.heads import AskedHeads, OwnHead
from explorer.lists.read import read_table
from explorer.lists.roles import BadRows
from explorer.lists.rows import TextList, TextRow, text_list
from explorer.lists.tagged import Truths, f1_difference, tagged_list
from explorer.lists.views.rows import as_json, rows_canvas
from explorer.lists.views.verdict import lines_said
from explorer.models.specs import ONE_LABEL
from explorer.models.tokens import split_words
from explorer.refusal import Refusal
from tests.tiny_models import WORDS

BIO = ("O", "B-PER", "I-PER", "B-LOC", "I-LOC")
WHOLE = [word for word in WORDS if "#" not in word and word[0].isalpha()]


def tagged_rows(n=40, tags=BIO, seed=0):
    """Return sentences of 1 to 12 words of several pieces, with random tags."""
    generator = np.random.default_rng(seed)
    rows = []
    for _ in range(n):
        size = int(generator.integers(1, 13))
        words = [*generator.choice([*WHOLE, "unbelievable", "cat's", "#"], size)]
        given = [*generator.choice(tags, size)]
        rows.append({"tokens": words, "ner_tags": given})
    return rows


def plain_tags(folder, rows):
    """The tag of each word's first piece by plain transformers, whose tokenizer gets the words."""
    network = AutoModelForTokenClassification.from_pretrained(folder).eval()
    tokenizer = AutoTokenizer.from_pretrained(folder)
    names, found = network.config.id2label, []
    for row in rows:
        encoded = tokenizer(row["tokens"], is_split_into_words=True, return_tensors="pt")
        words = encoded.word_ids()
        if network.config.model_type == "distilbert":
            encoded.pop("token_type_ids", None)
        with torch.no_grad():
            best = network(**encoded).logits[0].argmax(-1).tolist()
        found.append([names[best[words.index(i)]] for i in range(len(row["tokens"]))])
    return found


@pytest.mark.parametrize("kind", ["bert", "distilbert", "albert"])
def test_scores_of_a_head_are_those_of_plain_transformers_and_seqeval(tagger, kind):
    folder, rows = tagger(kind, BIO), tagged_rows()
    result = explorer.texts(rows, explorer.load({"mine": folder})).answers
    found, predicted = result.heads.scores["mine"], plain_tags(folder, rows)
    assert [list(tags) for tags in found.tags] == predicted
    true = [row["ner_tags"] for row in rows]
    assert found.micro.f1.value == pytest.approx(f1_score(true, predicted))
    assert found.micro.precision.value == pytest.approx(precision_score(true, predicted))
    assert found.micro.recall.value == pytest.approx(recall_score(true, predicted))
    assert found.macro_f1.value == pytest.approx(f1_score(true, predicted, average="macro"))
    report = classification_report(true, predicted, output_dict=True, zero_division=0)
    assert set(found.by_type) == {"PER", "LOC"}
    for label, each in found.by_type.items():
        assert each.f1.value == pytest.approx(report[label]["f1-score"])
        assert each.precision.value == pytest.approx(report[label]["precision"])
        assert each.recall.value == pytest.approx(report[label]["recall"])
        assert each.n_true == report[label]["support"]
    assert 0 < found.micro.f1.value < 1
    assert found.micro.f1.low < found.micro.f1.value < found.micro.f1.high


def listed(tags, groups=()):
    rows = [
        TextRow(
            number,
            " ".join(f"w{i}" for i in range(len(of_row))),
            group=groups[number - 1] if groups else "",
            tokens=tuple(f"w{i}" for i in range(len(of_row))),
            tags=tuple(of_row),
        )
        for number, of_row in enumerate(tags, 1)
    ]
    return TextList("tagged", {"tokens": "tokens", "tags": "tags"}, tuple(rows))


def logits_of(tags, names):
    """Logits whose largest is that of each given tag."""
    return [4.0 * np.array([[name == tag for name in names] for tag in row]) for row in tags]


def scored(true, by_model, names=BIO, places=None, groups=()):
    """Return the result of heads that give these tags."""
    places = {"PER": 0, "LOC": 1} if places is None else places
    head = OwnHead(tuple(names), ONE_LABEL, places)
    labels = {key: key for key in by_model}
    logits = {key: logits_of(tags, names) for key, tags in by_model.items()}
    asked = AskedHeads(dict.fromkeys(by_model, head))
    return tagged_list(listed(true, groups), labels, asked, logits)


def drawn(n, seed, tags=BIO):
    generator = np.random.default_rng(seed)
    return [[*generator.choice(tags, generator.integers(2, 9))] for _ in range(n)]


def spoiled(true, share, generator, tags=BIO):
    """Tags of which each is another with a probability."""
    return [
        [str(generator.choice(tags)) if generator.random() < share else tag for tag in row]
        for row in true
    ]


def test_the_test_of_a_difference_is_that_of_all_exchanges_of_sentences():
    true = drawn(9, 1)
    generator = np.random.default_rng(2)
    models = {"a": spoiled(true, 0.1, generator), "b": spoiled(true, 0.5, generator)}
    (duel,) = scored(true, models).heads.duels
    a, b = models.values()
    apart = []
    for swaps in product([False, True], repeat=len(true)):
        first = [y if swap else x for x, y, swap in zip(a, b, swaps, strict=True)]
        second = [x if swap else y for x, y, swap in zip(a, b, swaps, strict=True)]
        apart.append(f1_score(true, first) - f1_score(true, second))
    assert duel.difference.value == pytest.approx(apart[0])
    exact = float(np.mean(np.abs(apart) >= abs(apart[0]) - 1e-12))
    assert duel.p_value == pytest.approx(exact, abs=0.02)
    together = scored(true, models, groups=["x"] * 5 + ["y"] * 4).heads.duels
    assert together[0].p_value >= 0.45  # two groups have four exchanges


def test_the_control_learns_each_word_s_tag_from_the_other_folds():
    rows = tagged_rows(23, seed=5)
    table = read_table("\n".join(json.dumps(row) for row in rows), "rows.jsonl")
    found = Truths(text_list(table)).of_lexicon()
    true = [row["ner_tags"] for row in rows]
    predicted = [None] * len(rows)
    for train, test in KFold(5, shuffle=True, random_state=0).split(rows):
        counts, of_word = Counter(), {}
        for place in train:
            for word, tag in zip(*rows[place].values(), strict=True):
                counts[str(tag)] += 1
                of_word.setdefault(word.casefold(), Counter())[str(tag)] += 1
        for place in test:
            predicted[place] = [
                of_word.get(word.casefold(), counts).most_common(1)[0][0]
                for word in rows[place]["tokens"]
            ]
    assert found.micro.f1.value == pytest.approx(f1_score(true, predicted))
    assert Truths(listed([["B-PER", "O"]])).of_lexicon() is None


def test_random_heads_are_never_said_to_be_better_than_the_control():
    for seed in range(20):
        generator = np.random.default_rng(seed)
        true = drawn(60, seed)
        models = {key: spoiled(true, 1.0, generator) for key in ("a", "b", "c")}
        result = scored(true, models)
        assert result.heads.learned == ()
        assert len(result.heads.best) == 3
        assert "No own head is significantly better" in lines_said(result)[0]


def test_a_head_that_is_right_is_the_best_and_said_to_be():
    true = drawn(60, 3)
    generator = np.random.default_rng(4)
    result = scored(true, {"a": spoiled(true, 0.8, generator), "b": true})
    assert (result.heads.best, result.heads.learned[-1:]) == (("b",), ("b",))
    first, second, *_ = lines_said(result)
    assert first.startswith("b's own head is the best of the models' heads for your tags")
    assert "b's head is significantly better than giving each word the tag" in first
    assert "b 100.0%" in second
    assert "b's head has the higher F1 than a's" in second
    assert result.heads.scores["b"].micro.f1.low < 1.0  # no interval has a width of 0


@pytest.mark.long
@pytest.mark.parametrize(("n", "share"), [(40, 0.02), (40, 0.3), (150, 0.3)])
def test_intervals_of_f1_and_of_a_difference_cover_95_of_100_draws_of_sentences(n, share):
    generator = np.random.default_rng(8)
    many = drawn(20_000, 9)
    models = {key: spoiled(many, share * by, generator) for key, by in (("a", 1), ("b", 1.3))}
    whole = {key: f1_score(many, tags) for key, tags in models.items()}
    truths = Truths(listed(many))
    every = {
        key: truths.of_head(OwnHead(BIO, ONE_LABEL, {"PER": 0, "LOC": 1}), logits_of(tags, BIO))
        for key, tags in models.items()
    }
    size = np.array([len(spans) for spans in truths.spans])
    n_draws, inside = 400, np.zeros(2)
    from explorer.lists.multilabel import set_f1_interval

    for _ in range(n_draws):
        rows = generator.integers(0, len(many), n)
        hits = [each.hits[rows, None] for each in every.values()]
        sizes = [(each.given + size)[rows, None] for each in every.values()]
        low, high = set_f1_interval(hits[0], sizes[0], n)
        apart = f1_difference(hits, sizes, n)
        inside += [low <= whole["a"] <= high, apart.low <= whole["a"] - whole["b"] <= apart.high]
    assert (inside / n_draws >= 0.92).all()


def test_labels_that_only_one_side_has_count_as_seqeval_counts_them_and_are_said():
    true = [["B-PER", "O"], ["B-MISC", "O"], ["O", "B-PER"]]
    given = [["B-PER", "B-LOC"], ["O", "O"], ["O", "O"]]
    result = scored(true, {"a": given}, places={"PER": 0})
    found = result.heads.scores["a"]
    assert found.micro.f1.value == pytest.approx(f1_score(true, given))
    assert found.macro_f1.value == pytest.approx(f1_score(true, given, average="macro"))
    said = lines_said(result)
    assert (
        "a's own head does not know “MISC”: 1 of 3 spans of your list has it and count as missed."
        in said
    )
    assert (
        "a's own head also gives “LOC”, which no row of your list has: 1 of its spans count as "
        "wrong." in said
    )


def test_names_decide_whatever_their_case_and_named_tags_are_scored(tagger):
    family = explorer.load({"mine": tagger("bert", ("O", "B-per", "I-per", "B-x", "I-x"))})
    rows = tagged_rows(6)
    result = explorer.texts(rows, family).answers
    assert {span[0] for row in result.heads.scores["mine"].spans for span in row} <= {"PER", "x"}
    named = explorer.texts(rows, family, labels={"mine": BIO}).answers
    assert set(named.heads.scores["mine"].by_type) == {"PER", "LOC"}
    with pytest.raises(Refusal, match="5 labels; 2 names"):
        explorer.texts(rows, family, labels={"mine": ["O", "B-PER"]})


def test_parts_of_speech_are_one_span_a_word_so_that_f1_is_the_accuracy(tagger):
    tags = ("NOUN", "VERB", "PUNCT")
    folder, rows = tagger("bert", tags), tagged_rows(20, tags)
    result = explorer.texts(rows, explorer.load({"mine": folder})).answers
    pairs = [
        (a, b)
        for row, tags in zip(rows, plain_tags(folder, rows), strict=True)
        for a, b in zip(row["ner_tags"], tags, strict=True)
    ]
    accuracy = np.mean([a == b for a, b in pairs])
    assert result.heads.scores["mine"].micro.f1.value == pytest.approx(accuracy)
    assert any("F1 is the share of words with the right tag" in line for line in lines_said(result))


def test_models_without_such_a_head_are_named_or_refused_in_a_sentence(tagger):
    rows = tagged_rows(5)
    family = explorer.load({"mine": tagger("bert", BIO), "plain": "mini-albert"})
    found = explorer.texts(rows, family)
    assert found.sentences()[-1] == "plain brings no head that tags words."
    with pytest.raises(Refusal, match="None of these models brings a head that tags words"):
        explorer.texts(rows)
    other = explorer.load({"mine": tagger("albert", ("O", "B-DRUG"))})
    with pytest.raises(Refusal, match=r"the tags of your list are LOC, PER, and those of mine's"):
        explorer.texts(rows, other)


def test_the_json_and_the_rows_say_which_spans_are_missed(tagger):
    family = explorer.load({"mine": tagger("bert", BIO)})
    found = explorer.texts(tagged_rows(8), family)
    answer = found.to_dict()
    assert json.loads(json.dumps(answer)) == answer
    assert answer == {"family": family.name, "done": True} | as_json(found.answers)
    summary = answer["summary"]["models"]["mine"]
    assert summary["f1"]["value"] == found.answers.heads.scores["mine"].micro.f1.value
    for row in answer["rows"]:
        assert len(row["text"].split(" ")) == len(row["tags"].split(" "))
        assert len(row["tags"].split(" ")) == len(row["predicted"].split(" "))
        assert row["right"] == (not row["missed"] and not row["in_vain"])


def test_why_opens_the_first_span_that_a_head_misses_or_gives_in_vain(tagger):
    folders = {"mine": tagger("bert", BIO), "its": tagger("albert", BIO)}
    found = explorer.texts(tagged_rows(12), explorer.load(folders)).answers
    heads, asked = found.heads.scores.values(), []
    lines = json.loads(rows_canvas(found, {}, {}))["lines"]
    views = {line["n"]: line["open"] for line in lines}
    for place, row in enumerate(found.texts.rows):
        view = views[row.number]
        assert (view["tab"], view["fold"]) == ("tasks", "sentiment")
        if all(scores.right[place] for scores in heads):
            assert "span" not in view
            continue
        true = [*found.spans[place]]
        wrong = [span for span in true if any(span not in each.spans[place] for each in heads)]
        for scores in heads if not wrong else ():
            wrong += [span for span in scores.spans[place] if span not in true]
        word, _, label = view["span"].partition(":")
        at = min(span[1] for span in wrong)
        before = [*split_words(" ".join(row.tokens[:at]))] if at else []
        assert (int(word), label) in {(len(before), span[0]) for span in wrong if span[1] == at}
        asked.append(view["span"])
    assert len({*asked}) > 2


CONLL = """-DOCSTART- -X- -X- O

Anna NNP B-NP B-PER
Berg NNP I-NP I-PER
# NN I-NP O
paid VBD B-VP O

Paris NNP B-NP B-LOC
is VBZ B-VP O
far RB B-ADJP O
away RB I-ADJP O
"""
CONLL_U = """# sent_id = 1
# text = They don't sing.
1\tThey\tthey\tPRON\tPRP\t_\t4\tnsubj\t_\t_
2-3\tdon't\t_\t_\t_\t_\t_\t_\t_\t_
2\tdo\tdo\tAUX\tVBP\t_\t4\taux\t_\tSpaceAfter=No
3\tn't\tnot\tPART\tRB\t_\t4\tadvmod\t_\t_
4\tsing\tsing\tVERB\tVB\t_\t0\troot\t_\tSpaceAfter=No
5\t.\t.\tPUNCT\t.\t_\t4\tpunct\t_\t_
"""


def read(content, name="", **how):
    return text_list(read_table(content, name), **how)


@pytest.mark.parametrize("name", ["", "eng.testa", "a.txt", "a.tsv"])
def test_conll_2003_is_read_with_its_last_column_and_a_hash_among_its_tokens(name):
    texts = read(CONLL, name)
    assert texts.kind == "tagged"
    assert [(row.tokens, row.tags) for row in texts.rows] == [
        (("Anna", "Berg", "#", "paid"), ("B-PER", "I-PER", "O", "O")),
        (("Paris", "is", "far", "away"), ("B-LOC", "O", "O", "O")),
    ]
    assert texts.rows[0].text == "Anna Berg # paid"
    by_place = read(CONLL, name, columns={"tags": "column 2"})
    assert by_place.rows[0].tags == ("NNP", "NNP", "NN", "VBD")


def test_conll_u_is_read_with_its_words_and_universal_tags():
    (row,) = read(CONLL_U, "en.conllu").rows
    assert row.tokens == ("They", "do", "n't", "sing", ".")
    assert row.tags == ("PRON", "AUX", "PART", "VERB", "PUNCT")


@pytest.mark.parametrize("name", ["ner_tags", "tags", "pos_tags"])
def test_json_lines_with_words_and_names_of_tags_are_read(name):
    rows = [
        {"id": "1", "tokens": ["Anna", "ran"], name: ["B-PER", "O"]},
        {"tokens": ["Hm"], name: ["O"]},
    ]
    texts = read("\n".join(map(json.dumps, rows)), "a.jsonl")
    assert (texts.kind, [row.tags for row in texts.rows]) == ("tagged", [("B-PER", "O"), ("O",)])
    assert texts.unused == ("id",)


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ({"tokens": ["a", "b", "c"], "tags": ["O", "O"]}, "It has 3 words and 2 tags."),
        ({"tokens": [], "tags": []}, "It has no text."),
        ({"tokens": ["a", " "], "tags": ["O", "O"]}, "Its word “” is empty, or holds a space."),
        (
            {"tokens": ["a", "b c"], "tags": ["O", "O"]},
            "Its word “b c” is empty, or holds a space.",
        ),
        ({"tokens": ["a", "b"], "tags": ["O", None]}, "Its word “b” has no tag."),
        ({"tokens": ["a", {"b": 1}], "tags": ["O", "O"]}, "Its “tokens” holds an object"),
    ],
)
def test_a_row_whose_words_and_tags_do_not_fit_is_left_out_with_the_reason(row, reason):
    good = {"tokens": ["Anna", "ran"], "tags": ["B-PER", "O"]}
    texts = read("\n".join(map(json.dumps, [good, row, good])), "a.jsonl")
    assert [each.number for each in texts.rows] == [1, 3]
    assert reason in texts.left_out[0].reason


def test_numbers_of_tags_and_tags_without_a_span_are_refused_in_a_sentence():
    numbers = json.dumps({"tokens": ["Anna", "ran"], "ner_tags": [1, 0]})
    with pytest.raises(BadRows, match="The tags in “ner_tags” are numbers: save their names"):
        read(numbers, "a.jsonl")
    with pytest.raises(Refusal, match="No row has a span: all tags are O"):
        explorer.texts([{"tokens": ["a", "b"], "tags": ["O", "O"]}])


def test_a_word_that_the_models_read_as_another_thing_leaves_its_row_out(tagger):
    family = explorer.load({"mine": tagger("bert", BIO)})
    good = {"tokens": ["the", "cat"], "tags": ["O", "B-PER"]}
    bad = [["[he|she]", "cat"], ["the", "[SEP]"], ["the", "\u00ad\u200b"]]
    rows = [good, *({"tokens": words, "tags": ["O", "O"]} for words in bad)]
    reasons = {
        row.number: row.reason for row in explorer.texts(rows, family).answers.texts.left_out
    }
    assert "read as a mask, a choice or a separator" in reasons[2]
    assert "read as a mask, a choice or a separator" in reasons[3]
    assert set(reasons) == {2, 3, 4}


def test_a_row_of_600_tokens_is_left_out_with_its_sentence(tagger):
    family = explorer.load({"mine": tagger("bert", BIO)})
    good = {"tokens": ["the", "cat"], "tags": ["O", "B-PER"]}
    long = {"tokens": ["cat"] * 600, "tags": ["O"] * 600}
    (left_out,) = explorer.texts([good, long], family).answers.texts.left_out
    assert left_out.number == 2
    assert "602 tokens" in left_out.reason
    assert "512 fit" in left_out.reason


def test_a_list_of_another_kind_keeps_its_columns_named_words_or_tags():
    rows = [{"text": f"it sat {i}.", "tags": ["a", "b"][: i % 3]} for i in range(40)]
    assert read("\n".join(map(json.dumps, rows)), "a.jsonl").kind == "multilabel"
    assert read("words\tn\nthe cat sat.\t1\nit ran.\t2\n", "a.tsv").columns["text"] == "words"
