"""Evaluation of exported models on held-out documents, on both pair tasks, and on SST-2."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from torch import nn
from transformers import AutoTokenizer

from training.family import load_model
from training.recipe import MODELS, kind_of
from training.report.card import write_card
from training.report.cloze_eval import probe_figures, single_figures, single_sentences
from training.report.heldout import HELDOUT_SEED, masked_accuracy, measured, pair_accuracy
from training.report.overview import write_overview
from training.report.perplexity import pseudo_perplexity, shared_passages
from training.report.recall import recall_figures
from training.report.sentiment import Sentiment, sst2_accuracy
from training.steps.export import (
    Export,
    read_results,
    tokenizer_of,
    write_results,
)
from training.steps.pretrain import Setting, albert_recipe
from training.text.batches import Sampler
from training.text.spelling import spelling_figures

CAPITAL = ("The capital of France is [MASK].", "paris")
RETAINED = ("masked_top1", "masked_top5", "sst2")


@dataclass(frozen=True, slots=True)
class Evaluation:
    """Sizes and parts of an evaluation.

    Attributes:
        batches: Held-out batches for masked accuracy.
        pair_batches: Held-out batches for each pair task.
        passages: Held-out passages for pseudo-perplexity, one forward pass per piece.
        singles: Held-out single sentences, one word masked in each.
        sentiment: SST-2 fine-tuning; left out when None.
        parts: Keys of `PARTS` to run.
    """

    batches: int = 50
    pair_batches: int = 80
    passages: int = 40
    singles: int = 2000
    sentiment: Sentiment | None = None
    parts: Sequence[str] = ("masked", "belief", "primer", "perplexity", "pairs", "sst2")


def evaluate(
    setting: Setting, export: Export, evaluation: Evaluation, names: Sequence[str] = MODELS
) -> dict[str, Any]:
    """Measure exported models; results.json and the cards are rewritten after every part."""
    for name in names:
        model = load_model(export.folder / name).eval()
        for part in evaluation.parts:
            figures = PARTS[part](setting, model, export.folder / name, evaluation)
            results = read_results(export.results)  # read late: another process may have written
            results["models"].setdefault(name, {}).update(figures)
            results["retention"] = retention(results["models"])
            lines = protocol(setting, evaluation)
            if figures:
                results.setdefault("protocol", {}).update({key: lines[key] for key in SAID[part]})
            write_results(export.results, results)
            write_card(export.folder / name, results)
            write_overview(export.folder, results)
    return read_results(export.results)


def masked_part(
    setting: Setting, model: nn.Module, folder: Path, evaluation: Evaluation
) -> dict[str, Any]:
    """Measure masked accuracy on held-out passages."""
    shard = setting.shard(kind_of(folder.name), "heldout")
    accuracy = masked_accuracy(model, shard, setting.recipe, evaluation.batches)
    return {
        "masked_top1": accuracy.top1,
        "masked_top5": accuracy.top5,
        "masked_loss": accuracy.loss,
        "masked_count": accuracy.count,
    }


def belief_part(
    setting: Setting, model: nn.Module, folder: Path, evaluation: Evaluation
) -> dict[str, Any]:
    """Measure the probe, held-out single sentences, the capital of France, and the spelling."""
    kind = kind_of(folder.name)
    readings = [setting.reading(which, "heldout") for which in ("bert", "albert")]
    own = readings[kind == "albert"]
    chosen = single_sentences(readings, evaluation.singles)
    return {
        "capital_rank": answer_rank(folder, *CAPITAL),
        "spelling": spelling_figures(own),
        **probe_figures(model, tokenizer_of(setting, kind)),
        **single_figures(model, own, chosen),
    }


def primer_part(
    setting: Setting, model: nn.Module, folder: Path, _evaluation: Evaluation
) -> dict[str, Any]:
    """Measure the primer's facts in held-out wordings, and the two parts of the probe."""
    return recall_figures(model, tokenizer_of(setting, kind_of(folder.name)))


def perplexity_part(
    setting: Setting, model: nn.Module, folder: Path, evaluation: Evaluation
) -> dict[str, Any]:
    """Measure pseudo-perplexity on held-out passages."""
    bert, albert = (setting.reading(kind, "heldout") for kind in ("bert", "albert"))
    count, room = evaluation.passages, setting.recipe.positions
    passages = shared_passages(bert.shard, albert.shard, count, room)
    own = albert if kind_of(folder.name) == "albert" else bert
    result = pseudo_perplexity(model, own, passages)
    return {
        "pseudo_perplexity": result.alone,
        "pseudo_perplexity_onward": result.onward,
        "pseudo_perplexity_words": result.words,
    }


def pairs_part(
    setting: Setting, model: nn.Module, folder: Path, evaluation: Evaluation
) -> dict[str, Any]:
    """Measure both pair tasks, for models that have a pair head."""
    figures: dict[str, Any] = {}
    if folder.name == "mini-distilbert":
        return figures
    shard = setting.shard(kind_of(folder.name), "heldout")
    for task, recipe in (("nsp", setting.recipe), ("sop", albert_recipe(setting.recipe))):
        recipe = measured(replace(recipe, single_share=0.0))
        sampler = Sampler(shard, recipe, task, HELDOUT_SEED)
        share, count = pair_accuracy(model, sampler, evaluation.pair_batches)
        figures |= {task: share, f"{task}_count": count}
    return figures


def sst2_part(
    _setting: Setting, _model: nn.Module, folder: Path, evaluation: Evaluation
) -> dict[str, Any]:
    """Measure SST-2 after fine-tuning, when its folder is given."""
    if evaluation.sentiment is None:
        return {}
    return {"sst2": sst2_accuracy(folder, evaluation.sentiment)}


PARTS = {
    "masked": masked_part,
    "belief": belief_part,
    "primer": primer_part,
    "perplexity": perplexity_part,
    "pairs": pairs_part,
    "sst2": sst2_part,
}
SAID = {
    "masked": ("heldout", "masked"),
    "belief": ("single", "probe"),
    "primer": ("primer",),
    "perplexity": ("pseudo_perplexity",),
    "pairs": ("pairs",),
    "sst2": ("sst2",),
}
"""Keys of the protocol lines that explain each part."""


@torch.no_grad()
def answer_rank(folder: Path, text: str, answer: str) -> int | None:
    """Return the rank of the answer, from 1; None if the vocabulary lacks the word."""
    tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
    answer_ids = tokenizer(answer, add_special_tokens=False)["input_ids"]
    if len(answer_ids) != 1:
        return None
    inputs = tokenizer(text, return_tensors="pt", return_token_type_ids=False)
    scores = load_model(folder).eval()(**inputs)[0][inputs["input_ids"] == tokenizer.mask_token_id]
    return int((scores[0] > scores[0, answer_ids[0]]).sum()) + 1


def retention(models: dict[str, Any]) -> dict[str, float]:
    """Return the student's figures as shares of the teacher's, per metric that both have."""
    teacher, student = (models.get(name, {}) for name in MODELS[:2])
    return {
        key: student[key] / teacher[key] for key in RETAINED if key in teacher and key in student
    }


def protocol(setting: Setting, evaluation: Evaluation) -> dict[str, Any]:
    """Return the conditions of each measurement, for comparisons."""
    sentiment = evaluation.sentiment
    return {
        "heldout": "1% of the documents, by a hash of their text",
        "masked": f"{evaluation.batches} batches of {setting.recipe.heldout_tokens} positions, "
        "sequences of up to 128, one text each, 15% of pieces hidden 80/10/10",
        "pairs": f"{evaluation.pair_batches} batches, sequences of up to 128, nothing masked; "
        "in sentence order both texts have at least 40 pieces",
        "single": f"up to {evaluation.singles:,} held-out sentences of 6 to 30 pieces, the same "
        "for all, one word hidden that is one piece in both vocabularies; a content word is one "
        "that is not on a list of function words",
        "probe": "assets/data/probe.json, 25 sentences of each of eight kinds, never trained on; "
        "an accepted word of several pieces cannot be answered",
        "primer": "every fact of assets/data/primer in wordings that are never trained on, each "
        "argument that may be asked hidden in turn; of the probe, the facts that the primer has in "
        "other words, and the rest",
        "pseudo_perplexity": f"{evaluation.passages} passages, each piece masked in turn: alone "
        "(Salazar et al. 2020), where the rest of its word gives it away, and with the rest of its "
        "word (Kauf and Ivanova 2023), the figure to compare across vocabularies",
        "sst2": None
        if sentiment is None
        else f"{sentiment.examples} training examples, {sentiment.epochs} epoch(s), "
        f"rate {sentiment.rate}, all 872 of dev",
    }
