"""docs/library.md: its examples run, its table of functions and its numbers are true."""

import inspect
import re
import shlex
from pathlib import Path

import pytest
import torch
from transformers import AutoModelForMaskedLM, AutoTokenizer, pipeline

import explorer
from explorer.library.command import build_parser
from explorer.models import specs

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "docs" / "library.md").read_text("utf-8")
README = (ROOT / "README.md").read_text("utf-8")
SENTENCE, ANSWER = "The capital of France is [MASK].", "paris"
FUNCTIONS = [name for name in explorer.__all__ if name[0].islower()]


def blocks(text, language):
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


@pytest.mark.long
def test_the_examples_run_from_top_to_bottom(
    tmp_path, monkeypatch, own_models, eight_rounds, three_sentences, little_training
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my-bert").symlink_to(specs.BUNDLED / "mini-bert")
    names = {}
    for block in blocks(TEXT, "python"):
        exec(block, names)
    assert names["answer"].models["bert"].words[0][0] == ANSWER
    assert (tmp_path / "table.csv").exists()
    assert (tmp_path / "depth.html").exists()
    assert len(names["table"]) == 6
    assert names["distance"].min() >= 0


def test_the_readme_s_example_runs():
    (block,) = [block for block in blocks(README, "python") if "import explorer" in block]
    exec(block, {})


def test_every_function_has_a_row_with_its_arguments():
    rows = dict(re.findall(r"^\| `(\w+)\(([^)]*)\)` \|", TEXT, re.MULTILINE))
    assert set(rows) == set(FUNCTIONS)
    for name, written in rows.items():
        arguments = [part.strip(" =") for part in written.split(",")]
        assert arguments == list(inspect.signature(getattr(explorer, name)).parameters), name


def test_every_command_of_the_page_can_be_read():
    lines = [line for block in blocks(TEXT, "bash") for line in block.splitlines()]
    parser = build_parser()
    assert len(lines) == 4
    for line in lines:
        words = shlex.split(line.partition("<")[0])
        assert words[:3] == ["python", "-m", "explorer"]
        parser.parse_args(words[3:])


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
