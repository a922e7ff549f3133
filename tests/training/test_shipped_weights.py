"""The weights in the repository are the ones that the cards and results.json speak of."""

import hashlib
import json
import re
import unicodedata
from pathlib import Path

import pytest
import torch
from transformers import AutoModelForMaskedLM, AutoModelForPreTraining, AutoTokenizer

from training.report.card_words import ABOUT
from training.tasks.lessons import TASKS

MODELS = Path(__file__).parents[2] / "assets/models"
NAMES = ("mini-bert", "mini-distilbert", "mini-albert")
RESULTS = json.loads((MODELS / "results.json").read_text())


@pytest.mark.parametrize("name", NAMES)
def test_checksums_match_card_and_results(name):
    weights = (MODELS / name / "model.safetensors").read_bytes()
    digest = hashlib.sha256(weights).hexdigest()
    card = (MODELS / name / "README.md").read_text()
    assert re.findall(r"[0-9a-f]{64}", card) == [digest]
    assert RESULTS["models"][name]["sha256"] == digest
    assert f"{len(weights):,} bytes" in card


def test_every_adapter_was_made_on_the_weights_beside_it():
    for path in sorted(MODELS.glob("*/tasks/*/card.json")):
        card, folder = json.loads(path.read_text()), path.parents[2]
        assert card["base_sha256"] == RESULTS["models"][folder.name]["sha256"], path
        assert (card["model"], card["task"]) == (folder.name, path.parent.name)
        assert (path.parent / "adapter_model.safetensors").stat().st_size < 600_000


def test_a_card_says_how_much_of_a_text_its_task_reads():
    """SST-2 has no window: in training the first 64 tokens of a phrase, dev sentences whole."""
    for path in sorted(MODELS.glob("*/tasks/*/card.json")):
        card, task = json.loads(path.read_text()), TASKS[path.parent.name]
        said = {key: card[key] for key in ("window", "stride", "phrase_tokens") if key in card}
        assert (said, card["data"]) == (task.max_tokens, task.data), path
        assert task.data in (path.parent / "README.md").read_text()


@pytest.mark.parametrize("name", NAMES)
def test_the_card_says_once_how_the_model_began(name):
    (start,) = re.findall(r"\*\*Start\.\*\* (.*)", (MODELS / name / "README.md").read_text())
    assert start.startswith(ABOUT[name][3])
    sentences = re.findall(r"[^.]+\.", start)
    assert len(set(sentences)) == len(sentences)
    parts = re.split(r"(?<=\.) (?:Its )?", start)
    assert len(set(parts)) == len(parts)


@pytest.mark.parametrize("name", NAMES)
def test_the_card_states_the_measured_figures(name):
    card, own = (MODELS / name / "README.md").read_text(), RESULTS["models"][name]
    for key in ("masked_top1", "masked_top5", "nsp", "sop", "sst2"):
        if key in own:
            assert f"{100 * own[key]:.1f}%" in card
            assert f"{100 * own[key]:.1f}%" in (MODELS / "README.md").read_text()


def test_the_family_is_small_enough_to_carry():
    sizes = [path.stat().st_size for path in MODELS.rglob("*") if path.is_file()]
    assert sum(sizes) <= 60_000_000
    assert max(sizes) <= 35_000_000


@pytest.mark.parametrize("name", NAMES)
def test_all_heads_are_there_and_the_decoder_is_tied(name):
    loader = AutoModelForMaskedLM if name == "mini-distilbert" else AutoModelForPreTraining
    model, report = loader.from_pretrained(
        MODELS / name, output_loading_info=True, local_files_only=True
    )
    assert not any(report.values())
    assert model.dtype == torch.float32
    assert model.get_output_embeddings().weight is model.get_input_embeddings().weight
    assert sum(p.numel() for p in model.parameters()) == RESULTS["models"][name]["parameters"]


def test_no_albert_piece_mixes_letters_digits_and_signs():
    pieces = list(AutoTokenizer.from_pretrained(MODELS / "mini-albert").get_vocab())
    assert len(pieces) == 10_500
    for piece in set(pieces) - {"<pad>", "<unk>", "[CLS]", "[SEP]", "[MASK]"}:
        kinds = {unicodedata.category(character)[0] for character in piece.removeprefix("▁")}
        assert len(kinds - {"M"}) <= 1, piece


@pytest.mark.parametrize("name", NAMES)
def test_the_tokenizer_covers_the_vocabulary_and_keeps_the_mask_whole(name):
    tokenizer = AutoTokenizer.from_pretrained(MODELS / name, local_files_only=True)
    config = json.loads((MODELS / name / "config.json").read_text())
    assert len(tokenizer) == config["vocab_size"]
    text = "The capital of France is  [MASK]."
    made = tokenizer(text, return_offsets_mapping=True)
    pieces = tokenizer.convert_ids_to_tokens(made["input_ids"])
    place = pieces.index(tokenizer.mask_token)
    start, stop = made["offset_mapping"][place]
    assert text[start:stop] == "[MASK]"
    assert pieces[place + 1] == "."
    assert tokenizer.unk_token_id not in tokenizer("Any word, qwxz; 42!")["input_ids"]
