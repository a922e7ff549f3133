"""Attention of every head, and predictions with heads switched off."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from explorer.inference.ask import Ask
from explorer.inference.runs import call_on_model, gather, get_run
from explorer.library import refusals
from explorer.library.family import Family, asked, is_index, masked_runs, missing_reasons
from explorer.library.progress import each
from explorer.library.results import Result
from explorer.models.run import Run, answer_id
from explorer.models.specs import ModelSpec
from explorer.refusal import Refusal
from explorer.views.notebook import Sketch

if TYPE_CHECKING:
    from explorer.analysis.alignment import Alignment
    from explorer.analysis.attention import HeadAblation, HeadImportance

Heads = Mapping[str, Sequence[Sequence[int]]]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Attention(Result):
    """Attention of one head on a text, and on request of all heads of all models."""

    text: str
    family: Family
    model: str
    layer: int
    head: int
    pieces: tuple[str, ...]
    """Tokens of the model, in vocabulary spelling."""
    weights: np.ndarray
    """float32 [query, key], after softmax: rows sum to 1."""

    COLUMNS: ClassVar = ("model", "layer", "head", "query", "key", "from", "to", "weight")
    SKETCH: ClassVar = Sketch("heatmap", "key", "weight", down="query")

    def heads(self, model: str = "") -> np.ndarray:
        """Return all heads of a model on the text: float32 [layer, head, query, key], read-only."""
        return self._run(model).attention

    def tokens(self, model: str = "") -> tuple[str, ...]:
        """Return a model's tokens of the text, in vocabulary spelling."""
        return self._run(model).tokens.pieces

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON of ``/attention``.

        The model's tokens and the head's weights after softmax: ``attention[query][key]``, every
        row sums to 1.
        """
        return {
            "model": self.model,
            "tokens": list(self.pieces),
            "layer": self.layer,
            "head": self.head,
            "attention": self.weights.tolist(),
        }

    def rows(self) -> list[tuple[Any, ...]]:
        """Return a row for each query and key, with their positions and their pieces."""
        place = (self.model, self.layer, self.head)
        return [
            (*place, query, key, self.pieces[query], self.pieces[key], float(weight))
            for query, weights in enumerate(self.weights)
            for key, weight in enumerate(weights)
        ]

    def _run(self, model: str) -> Run:
        with asked(self.family) as models:
            return get_run(models.spec(model or self.model), models.ask(self.text))


def attention(
    text: str, family: Family | str = "mini", model: str = "", layer: int = 0, head: int = 0
) -> Attention:
    """Return the attention of one head: the weight of every token for every other.

    Weights are those of eager attention, whatever implementation the checkpoint asks for.

    Args:
        text: The text; ``A [SEP] B`` makes a sentence pair.
        family: What ``load`` returned, or the name of a family.
        model: "bert", "distilbert" or "albert", or a column's own name; empty: the first.
        layer: The layer, counted from 0; for ALBERT the application of its one layer.
        head: The head, counted from 0.

    Returns:
        ``weights``, float32 [query, key]: every row sums to 1. ``heads(model)`` has all heads of a
        model, [layer, head, query, key].

    Raises:
        Refusal: there is no such model, layer or head, or the text is too long.

    Example:
        >>> explorer.attention("The cat sat.", model="bert", layer=2, head=5).heads("bert").shape
        (6, 12, 6, 6)
    """
    with asked(family) as models:
        spec = models.chosen(model)
        layer, head = check_head(spec, layer, head)
        run = get_run(spec, models.ask(text))
        pieces, weights = run.tokens.pieces, run.attention[layer, head]
        return Attention(run.tokens.text, models, spec.key, layer, head, pieces, weights)


def check_head(spec: ModelSpec, layer: int, head: int) -> tuple[int, int]:
    """Return a layer and a head of a model.

    Raises:
        Refusal: it has no such layer or head.
    """
    shape = spec.architecture
    if not (is_index(layer, shape.n_layers) and is_index(head, shape.n_heads)):
        last = {"layers": shape.n_layers - 1, "heads": shape.n_heads - 1}
        raise Refusal(refusals.BAD_HEAD.format(label=spec.label, **last))
    return int(layer), int(head)


def checked_heads(models: Family, heads: Heads) -> Heads:
    """Return the heads to switch off, by model key.

    Raises:
        Refusal: they are no mapping from models to pairs, or there is no such model or head.
    """
    try:
        pairs = {key: [(layer, head) for layer, head in places] for key, places in heads.items()}
    except (AttributeError, TypeError, ValueError) as error:
        raise Refusal(refusals.BAD_HEADS) from error
    return {
        key: [check_head(models.spec(key), *place) for place in places]
        for key, places in pairs.items()
    }


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Ablation(Result):
    """Predictions with some heads switched off, beside those with all heads."""

    text: str
    family: str
    off: Heads
    """By model key: the (layer, head) pairs that are off."""
    models: "Mapping[str, HeadAblation]"
    """By model key: ``kl`` float64 [mask], KL(before || after) in nats, and the changed words."""
    missing: Mapping[str, Refusal]

    COLUMNS: ClassVar = ("model", "mask", "word", "before", "after", "kl")
    SKETCH: ClassVar = Sketch("bars", "word", "after", panels="model mask")
    BAR: ClassVar = "after"

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON of ``/ablate`` with heads named.

        With ``heads``, per model those that are ``off`` and per mask ``kl``, KL(before || after) in
        nats, with the words whose probability is then another.
        """
        models = [
            {
                "model": key,
                "off": [list(place) for place in self.off[key]],
                "masks": [_mask(float(kl), words) for kl, words in zip(a.kl, a.words, strict=True)],
            }
            for key, a in self.models.items()
        ]
        answer = {"text": self.text, "family": self.family, "models": models}
        return answer | missing_reasons(self.missing)

    def rows(self) -> list[tuple[Any, ...]]:
        """Return a row for each model, mask and word, with its probability before and after."""
        return [
            (key, mask, word.word, word.before, word.after, float(result.kl[mask]))
            for key, result in self.models.items()
            for mask, words in enumerate(result.words)
            for word in words
        ]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Importance(Result):
    """Effect of switching off each head alone on the predictions."""

    text: str
    family: str
    models: "Mapping[str, HeadImportance]"
    """By model key: ``kl`` float64 [layer, head], KL(before || after) in nats, mean over masks."""
    missing: Mapping[str, Refusal]

    COLUMNS: ClassVar = ("model", "layer", "head", "kl")
    SKETCH: ClassVar = Sketch("heatmap", "head", "kl", down="layer")

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON of ``/ablate`` without heads.

        Without, per model ``kl[layer][head]``, the mean over the masks. A head's output is
        multiplied by 0 before the output projection.
        """
        models = [{"model": key, "kl": result.kl.tolist()} for key, result in self.models.items()]
        answer = {"text": self.text, "family": self.family, "models": models}
        return answer | missing_reasons(self.missing)

    def rows(self) -> list[tuple[Any, ...]]:
        """Return a row for each model, layer and head."""
        return [
            (key, layer, head, float(nats))
            for key, result in self.models.items()
            for layer, heads in enumerate(result.kl)
            for head, nats in enumerate(heads)
        ]


def ablate(
    text: str, family: Family | str = "mini", heads: Heads | None = None
) -> Ablation | Importance:
    """Switch heads off, and compare the predictions at the masks with those of all heads.

    A head's output is multiplied by 0 before the output projection, as ``head_mask`` did.

    Args:
        text: The text, with at least one [MASK].
        family: What ``load`` returned, or the name of a family.
        heads: By model the heads to switch off together, ``{"bert": [[layer, head]]}``, counted
            from 0; without it every head of every model is switched off alone.

    Returns:
        ``Ablation`` for the heads that were named, else ``Importance``, which takes a forward pass
        a layer.

    Raises:
        Refusal: there is no mask, no such model or no such head.

    Example:
        >>> off = explorer.ablate("The capital of France is [MASK].", heads={"bert": [(0, 3)]})
        >>> off.models["bert"].kl.shape  # KL(before || after) in nats, for each mask
        (1,)
    """
    with asked(family) as models:
        heads = None if heads is None else checked_heads(models, heads)
        runs, missing = masked_runs(models, text, refusals.NO_MASK_TO_ABLATE)
        text, ask = next(iter(runs.values())).tokens.text, models.ask(text)
        if heads is None:
            return Importance(text, models.name, importances(runs, ask), missing)
        off = {key: heads.get(key, ()) for key in runs}
        jobs = [partial(ablated, run, kept_heads(run, off[key]), ask) for key, run in runs.items()]
        return Ablation(text, models.name, off, dict(zip(runs, gather(jobs), strict=True)), missing)


def importances(runs: Mapping[str, Run], ask: Ask) -> "dict[str, HeadImportance]":
    """Compute the effect of every head of every model."""
    from explorer.analysis.attention import head_importance

    return {
        key: head_importance(run, list(each(swept_layers(run, ask), run.attention.shape[0], key)))
        for key, run in runs.items()
    }


def kept_heads(run: Run, off: object) -> np.ndarray:
    """Return the mask of heads that stay on: bool [layer, head]; unknown heads are ignored."""
    shape = run.spec.architecture
    mask = np.ones((shape.n_layers, shape.n_heads), dtype=bool)
    for layer, head in off if isinstance(off, list | tuple) else []:
        if layer in range(shape.n_layers) and head in range(shape.n_heads):
            mask[layer, head] = False
    return mask


def ablated(run: Run, kept: np.ndarray, ask: Ask) -> "HeadAblation":
    """Compute one model's answers without some heads; with all on, the run's own answers."""
    from explorer.analysis.attention import head_ablation
    from explorer.models.inside.interventions import ablated_logits

    if kept.all():
        return head_ablation(run, run.mask_logits, ())
    logits = call_on_model(ablated_logits, run.spec, ask, run.tokens, kept[None])[0]
    off = [(int(layer), int(head)) for layer, head in np.argwhere(~kept)]
    return head_ablation(run, logits, off)


def swept_layers(run: Run, ask: Ask) -> Iterator[np.ndarray]:
    """Yield per layer the mask logits with each head off; other jobs may run between layers."""
    from explorer.models.inside.interventions import ablated_logits, one_head_off

    shape = run.spec.architecture
    for layer in range(shape.n_layers):
        variants = one_head_off(shape.n_layers, shape.n_heads, layer)
        yield call_on_model(ablated_logits, run.spec, ask, run.tokens, variants)


def _mask(kl: float, words: Sequence[Any]) -> dict[str, Any]:
    names = ("word", "before", "after")
    return {"kl": kl, "words": [{n: getattr(word, n) for n in names} for word in words]}


def summary(run: Run, ask: Ask, kind: str, alignment: "Alignment") -> np.ndarray:
    """Return one summary of a run's attention between words: [query, key].

    Args:
        run: The run.
        ask: What it was asked with.
        kind: "mean" of all heads, "rollout" (Abnar and Zuidema 2020), "value", weighted by the
            values' norms, or "gradient" of the first mask's answer.
        alignment: The words of the text in every model.

    Returns:
        Rows keep their sums; of "gradient" the matrix keeps its total.
    """
    from explorer.analysis.alignment import word_attention

    groups = alignment.groups[run.spec.key]
    words = word_attention(_between_tokens(run, ask, kind), groups)
    if kind == "gradient":
        return words * np.array([len(group) for group in groups])[:, None]
    return words


def _between_tokens(run: Run, ask: Ask, kind: str) -> np.ndarray:
    """Return one summary of a run's attention between tokens: [query, key]."""
    from explorer.analysis import attention as analysis
    from explorer.models.inside.activations import attention_gradients, value_norms

    if kind == "mean":
        return analysis.mean_attention(run.attention)
    if kind == "rollout":
        return analysis.attention_rollout(run.attention)
    if kind == "value":
        norms = call_on_model(value_norms, run.spec, ask, run.hidden_states)
        return analysis.value_weighted(run.attention, norms)
    token, position = answer_id(run.mask_logits[0], run.vocabulary), run.tokens.mask_positions[0]
    gradient = call_on_model(attention_gradients, run.spec, ask, run.tokens, position, token)
    return analysis.gradient_attention(run.attention, gradient)
