"""What a cheaper precision costs: how often the first answer changes, and how far it moves."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from explorer.analysis.measures import kl_of_logs, log_softmax
from explorer.models.specs import ModelSpec
from explorer.models.stop import StopSign
from explorer.models.workload import Workload

if TYPE_CHECKING:
    from explorer.models.loading import LoadedModel

N_SENTENCES = 40
SENTENCES = Path(__file__).parents[2] / "assets" / "sentences.json"


def bundled_sentences(n: int = N_SENTENCES) -> tuple[str, ...]:
    """The first bundled sentences with one masked word each."""
    listed = json.loads(SENTENCES.read_text("utf-8"))["sentences"]
    return tuple(sentence["text"] for sentence in listed[:n])


@dataclass(frozen=True, slots=True)
class AccuracyCost:
    """One variant of a model against float32 over the same masked sentences."""

    key: str
    name: str
    same_top1: float
    """Share of masks whose first answer stays the same."""
    mean_kl: float
    """Mean KL(float32 || variant) over the masks, nats."""
    n_masks: int


def accuracy_cost(key: str, name: str, exact: np.ndarray, changed: np.ndarray) -> AccuracyCost:
    """How far a variant's predictions are from the exact ones, logits [mask, vocabulary] each.

    Raises:
        ValueError: no masks to compare.
    """
    if not len(exact):
        raise ValueError("There is no mask to compare predictions at.")
    same = np.mean(exact.argmax(1) == changed.argmax(1))
    divergences = kl_of_logs(log_softmax(exact), log_softmax(changed))
    return AccuracyCost(key, name, float(same), float(divergences.mean()), len(exact))


def precision_costs(
    spec: ModelSpec, workload: Workload, sentences: Sequence[str], sign: StopSign
) -> Iterator[AccuracyCost]:
    """The cost of each precision that ``precision_variants`` times; needs real weights.

    Raises:
        ModelUnavailable: the weights cannot be had. Stopped: somebody asked for the end.
    """
    from explorer.analysis.latency_variants import precision_variants
    from explorer.models.loading import load_model

    loaded = load_model(spec, workload.device)
    exact: np.ndarray | None = None
    for variant in precision_variants(spec, workload):
        changed = replace(loaded, network=variant.timed.network)
        logits = _mask_logits(changed, sentences, sign)
        if exact is None:
            exact = logits
        else:
            yield accuracy_cost(spec.key, variant.name, exact, logits)


def _mask_logits(loaded: "LoadedModel", sentences: Sequence[str], sign: StopSign) -> np.ndarray:
    from explorer.models.forward import run_model, tokenize

    found = []
    for sentence in sentences:
        sign.check()
        found.append(run_model(loaded, tokenize(loaded, sentence)).mask_logits)
    return np.concatenate(found)
