"""The lessons: each opens what it names, and what its teacher's page says holds for the weights."""

import json
import re
from pathlib import Path

import pytest

from explorer.assets import DATA, Broken
from explorer.models.specs import BUNDLED
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
    readers = re.findall(r"^  (\w+): \{read", code.split("export const READERS")[1], re.M)
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


def first_word(key, text):
    """Return a bundled model's first word for the mask and its probability, by transformers."""
    import torch
    from transformers import AutoModelForMaskedLM, AutoTokenizer

    path = BUNDLED / f"mini-{key}"
    tokenizer, model = (
        AutoTokenizer.from_pretrained(path),
        AutoModelForMaskedLM.from_pretrained(path),
    )
    tokens = tokenizer(text, return_tensors="pt")
    place = tokens["input_ids"][0].tolist().index(tokenizer.mask_token_id)
    with torch.no_grad():
        p, best = model.eval()(**tokens).logits[0, place].softmax(-1).max(-1)
    return tokenizer.convert_ids_to_tokens(int(best)).strip("▁#"), float(p)


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
