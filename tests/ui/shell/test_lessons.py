"""The lessons: each opens what it names, and what its teacher's page says holds for the weights."""

import json
import re
from functools import cache
from pathlib import Path

import pytest
import torch
from scipy.stats import binomtest
from torch.nn.functional import cosine_similarity, kl_div
from transformers import AutoConfig, AutoModel, AutoModelForMaskedLM, AutoTokenizer

from explorer.analysis.parameters.shape import forward_flops
from explorer.assets import DATA, Broken, text_lists
from explorer.models.specs import BASE, BUNDLED
from explorer.ui.shell.lessons import WORD, lessons, lessons_route

DOCS = (Path(__file__).parents[3] / "docs" / "lessons.md").read_text("utf-8")
PARTS = ("Objective", "Minutes", "Answers", "A text that contradicts", "What usually goes wrong")
BY_NAME = {lesson.name: lesson for lesson in lessons()}


def section(name):
    """Return a lesson's section of the teacher's page."""
    return re.split(r"^## ", DOCS, flags=re.M)[
        1
        + [title.split("\n")[0] for title in re.split(r"^## ", DOCS, flags=re.M)[1:]].index(
            BY_NAME[name].title
        )
    ]


def test_each_lesson_takes_eight_to_ten_minutes_and_has_a_page_for_the_teacher():
    for lesson in lessons():
        said = section(lesson.name)
        assert 8 <= lesson.minutes <= 10
        assert f"?lesson={lesson.name}" in said
        for part in PARTS:
            assert f"**{part}" in said, (lesson.name, part)
        assert f"**Minutes.** {lesson.minutes}" in said


def test_the_browser_has_a_reader_for_each_lesson():
    code = (Path(__file__).parents[3] / "assets" / "js" / "lesson" / "read.js").read_text("utf-8")
    readers = re.findall(r"^  (\w+): \{", code.split("export const READERS")[1], re.M)
    assert sorted(readers) == sorted(BY_NAME)


def test_the_route_sends_every_lesson_with_the_text_of_the_panel():
    sent = json.loads(lessons_route().endpoint(None).body)
    assert [lesson["name"] for lesson in sent["lessons"]] == [*BY_NAME]
    assert set(sent["texts"]["stages"]) == {
        *("before", "guess", "act", "found", "contrary", "after", "card"),
    }


DAMAGE = {
    "an unknown field": lambda row: row | {"answer": "3"},
    "no question": lambda row: {k: v for k, v in row.items() if k != "question"},
    "one choice": lambda row: row | {"choices": row["choices"][:1]},
    "a choice twice": lambda row: row | {"choices": [row["choices"][0]] * 2},
    "no view": lambda row: row | {"acts": []},
    "a tab that does not exist": lambda row: (
        row | {"acts": [row["acts"][0] | {"link": {"tab": "x"}}]}
    ),
    "a field that no link has": lambda row: (
        row | {"acts": [row["acts"][0] | {"link": {"tab": "depth", "colour": "red"}}]}
    ),
    "a word that nobody is asked for": lambda row: {k: v for k, v in row.items() if k != "word"},
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_file_is_named_and_not_shown(damage, tmp_path):
    row = json.loads((DATA / "lessons.json").read_text("utf-8"))["lessons"][0]
    path = tmp_path / "lessons.json"
    path.write_text(json.dumps({"lessons": [row]}), "utf-8")
    assert lessons(path)[0].name == row["name"]
    path = tmp_path / "damaged.json"
    path.write_text(json.dumps({"lessons": [DAMAGE[damage](row)]}), "utf-8")
    with pytest.raises(Broken, match=r"damaged\.json"):
        lessons(path)


@cache
def passed(key, text):
    """Return the words of the tokens, and the pass of a bundled model, by transformers."""
    path = BUNDLED / f"mini-{key}"
    model = AutoModelForMaskedLM.from_pretrained(path, attn_implementation="eager").eval()
    tokenizer = AutoTokenizer.from_pretrained(path)
    ids = tokenizer(text, return_tensors="pt")
    with torch.no_grad():
        found = model(**ids, output_attentions=True, output_hidden_states=True)
    words = tokenizer.convert_ids_to_tokens(ids["input_ids"][0])
    return [word.strip("▁#").lower() for word in words], found, tokenizer


def logits(key, text):
    words, found, _ = passed(key, text)
    return found.logits[0, words.index("[mask]")]


def first_word(key, text):
    """Return a bundled model's first word for the mask and its probability, by transformers."""
    p, best = logits(key, text).softmax(-1).max(-1)
    return passed(key, text)[2].convert_ids_to_tokens(int(best)).strip("▁#"), float(p)


def rows_of(name):
    """Return the cells of the tables of a lesson's section by their first one."""
    lines = [line for line in section(name).splitlines() if line.startswith("| ")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return {row[0]: row[1:] for row in cells}


@pytest.mark.long
def test_who_is_the_surest_of_the_hidden_word():
    said = section("mask")
    texts = re.findall(r"^\| ([A-Z][^|]*\[MASK\]\.) \| (.*) \|$", said, re.M)
    assert texts[0][0] == BY_NAME["mask"].acts[0].shows
    assert texts[0][0] == BY_NAME["mask"].acts[0].link["text"].replace(WORD, "[MASK]")
    assert len(texts) >= 3
    surest = []
    for text, cells in texts:
        found = [first_word(key, text) for key in ("bert", "distilbert", "albert")]
        assert cells == " | ".join(f"{word} {p:.3f}" for word, p in found), text
        surest.append(max(range(3), key=lambda i: found[i][1]))
    assert surest[0] == 2, "mini-ALBERT"
    assert 2 not in surest[1:], "these contradict it"


KEYS = ("bert", "distilbert", "albert")
LABELS = dict(zip(KEYS, ("mini-BERT", "mini-DistilBERT", "mini-ALBERT"), strict=True))


def attended(key, text, word):
    """Return by layer and head which token a word attends to most, and how much."""
    words, found, _ = passed(key, text)
    rows = torch.stack(found.attentions)[:, 0, :, words.index(word)]
    return {
        (layer, head): (words[int(row.argmax())], float(row.max()))
        for layer, heads in enumerate(rows)
        for head, row in enumerate(heads)
    }


@pytest.mark.long
def test_which_heads_lead_from_a_preposition_to_its_noun():
    acts, rows = BY_NAME["head"].acts, rows_of("head")
    expected = {}
    for key in KEYS:
        by_text = [attended(key, act.link["text"], act.pair[0]) for act in acts]
        for (layer, head), (word, _) in by_text[0].items():
            if word == acts[0].pair[1]:
                name = f"{LABELS[key]}, layer {layer + 1}, head {head + 1}"
                found = [one[layer, head] for one in by_text]
                expected[name] = [f"{w if w[0] != '[' else w.upper()} {p:.3f}" for w, p in found]
    assert {name: row for name, row in rows.items() if name in expected} == expected
    assert len([name for name in rows if name.startswith("mini-")]) == len(expected) == 5
    nouns = [act.pair[1] for act in acts]
    whole = [name for name, row in expected.items() if [c.split()[0] for c in row] == nouns]
    assert whole == ["mini-BERT, layer 4, head 2"]
    text = "In the house he found a dog."
    to, share = attended("bert", text, "in")[3, 1]
    assert rows[text] == [f"in → {to.upper()} {share:.3f}"]
    for text in ("He lived in a house.", "He lived in a very old house."):
        assert attended("bert", text, "in")[3, 1][0] == "house"


def cosines(key, first, second, word):
    states = []
    for text in (first, second):
        words, found, _ = passed(key, text)
        states.append(torch.stack(found.hidden_states)[:, 0, words.index(word)])
    return cosine_similarity(*states, dim=-1)


@pytest.mark.long
def test_in_which_layer_the_meanings_of_a_word_part():
    rows, said, largest = rows_of("layer"), section("layer"), {}
    for word in ("promotion", "bank"):
        first, second = re.search(rf"“{word}” in “(.*)” and “(.*)”:", said).groups()
        for key in KEYS:
            found = cosines(key, first, second, word)
            name = f"{word}, {LABELS[key]}, layers 0 to {len(found) - 1}"
            assert rows[name] == [", ".join(f"{x:.3f}" for x in found.tolist())]
            if key == "bert":
                largest[word] = int((found[:-1] - found[1:]).argmax()) + 1
        if word == "promotion":
            (act,) = BY_NAME["layer"].acts
            assert (first, second) == (act.link["first"], act.link["second"])
    assert largest == {"promotion": 6, "bank": 1}


@pytest.mark.long
def test_what_albert_stores_and_computes():
    rows = rows_of("albert")
    large, small = (BASE[key].architecture for key in ("bert", "albert"))
    assert (large.n_layers, small.n_layers) == (12, 12)
    totals = {}
    for key in ("bert", "albert"):
        config = AutoConfig.from_pretrained(BUNDLED / f"mini-{key}")
        shape = BASE[key].architecture
        for name, value in {
            "hidden_size": shape.d_model,
            "num_hidden_layers": shape.n_layers,
            "num_attention_heads": shape.n_heads,
            "intermediate_size": shape.d_ffn,
            "vocab_size": shape.d_vocab,
            "max_position_embeddings": shape.n_positions,
            **({"embedding_size": shape.d_embedding} if key == "albert" else {}),
        }.items():
            setattr(config, name, value)
        with torch.device("meta"):
            totals[key] = sum(p.numel() for p in AutoModel.from_config(config).parameters())
    flops = {key: forward_flops(BASE[key], 128) for key in totals}
    assert rows["weights"] == [
        *(f"{n / 1e6:.1f} M" for n in totals.values()),
        f"{totals['bert'] / totals['albert']:.1f}",
    ]
    assert rows["compute of one pass of 128 tokens"] == [
        *(f"{n / 1e9:.1f} GFLOP" for n in flops.values()),
        f"{flops['bert'] / flops['albert']:.2f}",
    ]
    text = "The quokka is a small [MASK] found only in Australia."
    assert rows[text] == [str(len(passed(key, text)[0])) for key in KEYS]


def kl(text, temperature):
    teacher, student = (
        (logits(key, text).double() / temperature).log_softmax(-1) for key in KEYS[:2]
    )
    return float(kl_div(student, teacher, log_target=True, reduction="sum"))


@pytest.mark.long
def test_what_the_temperature_does_to_the_kl():
    rows, (first, second) = rows_of("temperature"), BY_NAME["temperature"].acts
    found = {t: kl(act.link["text"], t) for t, act in ((4, first), (8, second))}
    assert first.link["temperature"] == "4"
    assert second.link["temperature"] == "8"
    for t, value in found.items():
        assert rows[str(t)] == [f"{value:.3f}", f"{t * t * value:.3f}"]
    assert f"divided by the second is {found[4] / found[8]:.2f}." in section("temperature")
    for text in ("The capital of France is [MASK].", "Bees make [MASK]."):
        low, high = kl(text, 1), kl(text, 2)
        assert rows[text] == [f"{low:.4f}", f"{high:.4f}"]
        assert low < high


@pytest.mark.long
def test_who_has_which_of_the_fifty_facts():
    content = next(one["content"] for one in text_lists() if one["name"] == "facts")
    facts = [line.split(",")[:2] for line in content.splitlines()[1:]]
    right = {key: [first_word(key, text)[0] == answer for text, answer in facts] for key in KEYS}
    rows, lesson = rows_of("facts"), BY_NAME["facts"]
    assert {key: rows[LABELS[key]] for key in KEYS} == {k: [str(sum(v))] for k, v in right.items()}
    only = [
        sum(a and not b for a, b in zip(right[x], right[y], strict=True))
        for x, y in (("bert", "albert"), ("albert", "bert"))
    ]
    said = section("facts").replace("\n", " ")
    assert f"mini-BERT has {only[0]} and mini-ALBERT {only[1]}." in said
    assert f"p = {binomtest(only[0], sum(only)).pvalue:.3f}" in said
    assert f"mini-BERT ranks {sum(right['bert']) / 50:.0%} first" in lesson.question
    assert f"mini-ALBERT {sum(right['albert']) / 50:.0%}" in lesson.question
    text = "The largest ocean is the [MASK] ocean."
    assert rows[text] == [f"{w} {p:.3f}" for w, p in (first_word(k, text) for k in KEYS[::2])]
