"""Last step: write a trained model as a transformers folder, never over a better one."""

import copy
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import nn
from transformers import AutoTokenizer, PreTrainedTokenizerBase

from explorer.refusal import Refusal
from training.family import load_model
from training.machine import machine
from training.provenance import fit_history, whole_history
from training.recipe import MODELS, kind_of
from training.report.card import write_card
from training.report.cloze_eval import probe_figures
from training.report.heldout import masked_accuracy
from training.report.overview import write_overview
from training.report.recall import primer_size
from training.report.regression_guard import is_worse
from training.steps.pretrain import FITTED, Setting, checkpointed, in_vocabulary
from training.text.vocabulary import albert_tokenizer, bert_tokenizer, load_pieces

EVALUATION_BATCHES = 50
WEIGHTS = "model.safetensors"
LARGEST_FILE = 35_000_000
LARGEST_FAMILY = 60_000_000


class WouldGetWorseError(Refusal):
    """Refusal to overwrite exported weights with worse ones."""


@dataclass(frozen=True, slots=True)
class Export:
    """Target folder of exported models, and the conditions for overwriting.

    Attributes:
        keep: Weight of the run's initial weights in the exported mean.
    """

    folder: Path
    force: bool = False
    batches: int = EVALUATION_BATCHES
    keep: float = 0.0

    @property
    def results(self) -> Path:
        """The path of the figures of all models."""
        return self.folder / "results.json"


def export_family(setting: Setting, export: Export, names: Sequence[str] = MODELS) -> list[str]:
    """Export every named model that has a checkpoint; return the names of those written."""
    written = [
        name
        for name in names
        if setting.paths.checkpoint(name).exists() and export_model(setting, export, name)
    ]
    if not written:
        raise WouldGetWorseError("Nothing was written: no checkpoint is better than what is there.")
    if family_bytes(export.folder) > LARGEST_FAMILY:
        raise Refusal("The family is larger than 60 MB.")
    return written


def export_model(setting: Setting, export: Export, name: str) -> bool:
    """Write a checkpoint unless the exported weights are better; return whether it was written."""
    model, mean = finished(setting, export, name)
    kind = kind_of(name)
    halved = halve(model)
    accuracy = masked_accuracy(
        halved, setting.shard(kind, "heldout"), setting.recipe, export.batches
    )
    probe = probe_figures(halved, tokenizer_of(setting, kind))
    results = read_results(export.results)
    measured = {"masked_top1": accuracy.top1, "masked_count": accuracy.count, **probe}
    folder = export.folder / name
    before = standing(setting, folder, results["models"].get(name, {}))
    if is_worse(measured, before) and not export.force:
        return False
    write_model(model, folder)
    write_tokenizer(setting, kind, folder)
    curve, history = whole_history(setting.paths, name)
    (folder / "learning_curve.csv").write_text(curve)
    results["models"][name] = {  # drops other figures, measured on the previous weights
        "masked_top1": accuracy.top1,
        "masked_top5": accuracy.top5,
        "masked_loss": accuracy.loss,
        "masked_count": accuracy.count,
        **probe,
        "parameters": sum(p.numel() for p in model.parameters()),
        "bytes": (folder / WEIGHTS).stat().st_size,
        "sha256": checksum(folder / WEIGHTS),
        "machine": machine(),
        "primer": primer_size(setting.recipe.primer_share),
        **history,
        **mean,
    }
    fit = fit_history(setting.paths, FITTED) if name == "mini-albert" else None
    if fit:
        results["models"][name]["fit"] = fit
    forget_stale(results, name)
    write_results(export.results, results)
    for other in export.folder.glob("*/learning_curve.csv"):
        write_card(other.parent, results)
    write_overview(export.folder, results)
    return True


def standing(setting: Setting, folder: Path, figures: dict[str, Any]) -> dict[str, Any]:
    """Return the exported weights' figures that a new checkpoint can be compared with.

    Masked accuracy counts pieces, and pieces of another vocabulary are easier or harder to predict,
    so it is left out where the vocabularies differ.
    """
    tokenizer_path, figures = folder / "tokenizer.json", dict(figures)
    if not figures or not tokenizer_path.exists():
        return figures
    if load_pieces(tokenizer_path) != load_pieces(setting.paths.vocabulary(kind_of(folder.name))):
        figures.pop("masked_top1", None)
    if "probe_top5" not in figures:
        tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
        figures |= probe_figures(load_model(folder).eval(), tokenizer)
    return figures


def finished(setting: Setting, export: Export, name: str) -> tuple[nn.Module, dict[str, Any]]:
    """Return the weights to write, and the components of their mean for the report.

    Raises:
        Refusal: A mean is wanted, and the run did not start from exported weights.
    """
    model = checkpointed(setting, name).eval()
    if not export.keep:
        return model, {}
    earlier = Path(setting.start) / name
    if not (earlier / WEIGHTS).exists():
        raise Refusal(f"--keep mixes in the weights of --start, and {earlier} has none.")
    blend(model, in_vocabulary(setting, load_model(earlier), earlier), export.keep)
    tokens = read_results(earlier.parent / "results.json")["models"][name]["tokens"]
    return model, {"kept": {"share": export.keep, "tokens": tokens}}


@torch.no_grad()
def blend(model: nn.Module, earlier: nn.Module, keep: float) -> None:
    """Average a run's final and initial weights in place; the initial ones count ``keep``.

    Two checkpoints of one run can be averaged (Izmailov et al. 2018, arXiv 1803.05407): the mean
    retains some of what the later one forgot.
    """
    before = dict(earlier.named_parameters())  # lists tied weights once
    for name, weight in model.named_parameters():
        weight.lerp_(before[name].to(weight), keep)


def forget_stale(results: dict[str, Any], name: str) -> None:
    """Delete comparisons between two models once one of them has new weights."""
    if name != "mini-albert":
        results.pop("retention", None)
    if name == "mini-bert":
        results.pop("ablation", None)


def halve(model: nn.Module) -> nn.Module:
    """Return a copy of the model as users load it: rounded to float16, computing in float32."""
    return copy.deepcopy(model).half().float()


def write_model(model: nn.Module, folder: Path) -> None:
    """Write the weights in float16 and a config that loads them in float32."""
    folder.mkdir(parents=True, exist_ok=True)
    copy.deepcopy(model).half().save_pretrained(folder)
    (folder / WEIGHTS).chmod(0o644)
    path = folder / "config.json"
    config = json.loads(path.read_text())
    config["dtype"] = "float32"
    path.write_text(json.dumps(config, indent=2, sort_keys=True) + "\n")
    if (folder / WEIGHTS).stat().st_size > LARGEST_FILE:
        raise Refusal(f"{folder / WEIGHTS} is larger than 35 MB.")


def tokenizer_of(setting: Setting, kind: str) -> PreTrainedTokenizerBase:
    """Return the tokenizer that the shards were made with."""
    path = setting.paths.vocabulary(kind)
    if kind == "bert":
        return bert_tokenizer(load_pieces(path))
    vocabulary = json.loads(path.read_text())["model"]["vocab"]
    return albert_tokenizer([(piece, score) for piece, score in vocabulary])


def write_tokenizer(setting: Setting, kind: str, folder: Path) -> None:
    """Write the tokenizer beside the weights."""
    tokenizer = tokenizer_of(setting, kind)
    tokenizer.model_max_length = setting.recipe.positions
    tokenizer.save_pretrained(folder)
    tokenizer.backend_tokenizer.save(str(folder / "tokenizer.json"), pretty=False)


def checksum(path: Path) -> str:
    """Return the SHA-256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def read_results(path: Path) -> dict[str, Any]:
    """Return the stored figures; an empty set when there is no file."""
    return json.loads(path.read_text()) if path.exists() else {"models": {}}


def write_results(path: Path, results: dict[str, Any]) -> None:
    """Write the figures, sorted by key to keep diffs small."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(results, indent=2, sort_keys=True) + "\n")


def family_bytes(folder: Path) -> int:
    """Return the total size in bytes of a folder of exported models."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
