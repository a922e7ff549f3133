"""docs/library.md: its table of functions and its numbers are true."""

import inspect
import re
from pathlib import Path

import pytest
import torch
from transformers import AutoModelForMaskedLM, AutoTokenizer, pipeline

import explorer
from explorer.models import specs

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "docs" / "library.md").read_text("utf-8")
SENTENCE, ANSWER = "The capital of France is [MASK].", "paris"
FUNCTIONS = [name for name in explorer.__all__ if name[0].islower()]


def test_every_function_has_a_row_with_its_arguments():
    rows = dict(re.findall(r"^\| `(\w+)\(([^)]*)\)` \|", TEXT, re.MULTILINE))
    assert set(rows) == set(FUNCTIONS)
    for name, written in rows.items():
        arguments = [part.strip(" =") for part in written.split(",")]
        assert arguments == list(inspect.signature(getattr(explorer, name)).parameters), name


@pytest.mark.parametrize("key", specs.MODEL_KEYS)
def test_the_table_against_other_programs_is_computed(key):
    """Each number anew, to the four digits that are printed."""
    (row,) = re.findall(rf"^\| {key} \| (.+) \|$", TEXT, re.MULTILINE)
    path = specs.BUNDLED / f"mini-{key}"
    ours, half = (
        explorer.predict(SENTENCE, explorer.load("mini", dtype=dtype), 1).models[key]
        for dtype in ("float32", "bfloat16")
    )
    tokenizer = AutoTokenizer.from_pretrained(path)
    model = AutoModelForMaskedLM.from_pretrained(path).eval()
    inputs = tokenizer(SENTENCE, return_tensors="pt")
    place = int((inputs["input_ids"][0] == tokenizer.mask_token_id).nonzero()[0, 0])
    with torch.no_grad():
        by_hand = float(model(**inputs).logits[0, place].softmax(-1).max())
    (first,) = pipeline("fill-mask", model=model, tokenizer=tokenizer, top_k=1)(SENTENCE)
    assert first["token_str"] == ANSWER == ours.words[0][0]
    values = [ours.probabilities[0, 0], by_hand, first["score"], half.probabilities[0, 0]]
    printed = [float(cell) for cell in row.split(" | ")]
    assert printed[:3] == [pytest.approx(value, abs=6e-5) for value in values[:3]]
    assert printed[3] == pytest.approx(values[3], abs=2e-3)  # bfloat16 differs between processors
    assert ours.probabilities[0, 0] == pytest.approx(first["score"], abs=1e-5)


def test_a_pipeline_scores_the_first_piece_of_a_target_and_we_refuse_it():
    path = specs.BUNDLED / "mini-bert"
    scores = pipeline("fill-mask", model=str(path), tokenizer=str(path))
    (first,) = scores(SENTENCE, targets=["souvenirs"])
    assert first["token_str"] == "so"
    with pytest.raises(explorer.Refusal, match="“souvenirs” is not one piece"):
        explorer.attribute(SENTENCE, "mini", "souvenirs")
