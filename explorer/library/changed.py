"""Comparison of two checkpoints of one shape, each quantity with its control."""

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from explorer.inference.ask import Ask
from explorer.inference.runs import call_on_model, gather
from explorer.library import refusals, strings
from explorer.library.depth import MAX_WORDS, sentences, unread_share
from explorer.library.family import Family, asked, checked_text
from explorer.library.progress import result_of
from explorer.library.results import Result
from explorer.models.run import Run, length_batches, read_only
from explorer.models.specs import Architecture, ModelSpec
from explorer.models.tokens import MASK, Tokens, clean_text
from explorer.refusal import Refusal, brief
from explorer.views.notebook import Sketch

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from explorer.analysis.depth.changed import HeadChange, MaskChange
    from explorer.models.inside.changes import MatrixChange

MIN_TOKENS = 10
"""Fewer say nothing: the CKA of two tokens is always 1."""
SHAPE = (
    *("n_layers", "d_model", "n_heads", "d_ffn", "d_vocab", "d_embedding"),
    *("n_positions", "shares_layers"),
)
"""Fields of an architecture that two checkpoints of one shape have in common."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Changed(Result):
    """Differences of two checkpoints in weights, states, attention heads and predictions."""

    pair: tuple[str, str]
    """The columns before and after."""
    labels: tuple[str, str]
    texts: int
    unknown: float
    """Share of the texts' pieces that both read as [UNK]."""
    weights: "tuple[MatrixChange, ...]"
    cka: np.ndarray
    """float64 [layer + 1]: linear CKA of both models' states of the texts' tokens."""
    shuffled_cka: np.ndarray
    """float64 [layer + 1]: the same with the tokens after in another order."""
    cka_tokens: int
    heads: "HeadChange"
    masks: "MaskChange | None"
    """None where the model before has no masked-LM head."""
    skipped: float = 0.0
    """Share of the texts' characters for which the tokenizer has no token."""

    COLUMNS: ClassVar = ("quantity", "layer", "part", "value", "control")
    SKETCH: ClassVar = Sketch("bars", "part", "value", panels="quantity layer")

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON of ``/changed``.

        ``weights``: each matrix's ``distance`` in units of its length before. ``scale`` and
        ``cosine`` split it: ``distance^2 = of_scale^2 + of_turn^2``. ``shuffled`` is the distance
        with the rows after in another order. A ``layer`` counts from 0; null: the embeddings.
        ``states``: linear centered kernel alignment of the tokens by layer, from the embeddings on,
        and with the tokens after in another order. ``heads``: the mean Jensen-Shannon divergence in
        nats of each head's rows, ``js[layer][head]``, and of two heads of one layer before.
        ``masks``: KL(before || after) in nats at 15% of the tokens, masked at random, and how many
        each has right. ``one_layer_earlier`` is that of the model before to itself, read one layer
        earlier. ``head`` is the column whose masked-LM head reads the states after. ``masks`` is
        null where the model before has no such head.
        """
        names = ("layer", "matrix", "distance", "scale", "cosine", "of_scale", "of_turn")
        control = self.heads.control
        return {
            "before": self.pair[0],
            "after": self.pair[1],
            "texts": self.texts,
            "unknown": self.unknown,
            "skipped": self.skipped,
            "weights": [
                {name: getattr(change, name) for name in names} | {"shuffled": change.shuffled}
                for change in self.weights
            ],
            "states": {
                "tokens": self.cka_tokens,
                "cka": self.cka.tolist(),
                "shuffled": self.shuffled_cka.tolist(),
            },
            "heads": {
                "js": self.heads.js.tolist(),
                "two_heads": None if control is None else control.tolist(),
            },
            "masks": self._masks(),
        }

    def _masks(self) -> dict[str, Any] | None:
        masks = self.masks
        if masks is None or not len(masks.kl):
            return None
        return {
            "masks": len(masks.kl),
            "head": masks.head,
            "kl_mean": float(masks.kl.mean()),
            "kl_median": float(np.median(masks.kl)),
            "one_layer_earlier_mean": float(masks.one_earlier.mean()),
            "one_layer_earlier_median": float(np.median(masks.one_earlier)),
            "right_before": int(masks.right_before.sum()),
            "right_after": int(masks.right_after.sum()),
        }

    def rows(self) -> list[tuple[Any, ...]]:
        """Return a row for each quantity; layers of states count from the embeddings, 0."""
        rows: list[tuple[Any, ...]] = []
        for change in self.weights:
            place = (change.layer, change.matrix)
            rows.append(("distance", *place, change.distance, change.shuffled))
            rows += [(name, *place, getattr(change, name), None) for name in ("scale", "cosine")]
        states = zip(self.cka.tolist(), self.shuffled_cka.tolist(), strict=True)
        rows += [("cka", layer, "tokens", *values) for layer, values in enumerate(states)]
        control = self.heads.control
        for (layer, head), value in np.ndenumerate(self.heads.js):
            other = None if control is None else float(control[layer, head])
            rows.append(("js", layer, f"head {head}", float(value), other))
        if self.masks is not None:
            pairs = zip(self.masks.kl.tolist(), self.masks.one_earlier.tolist(), strict=True)
            rows += [("kl", None, f"mask {mask}", *values) for mask, values in enumerate(pairs)]
        return rows

    def sentences(self) -> tuple[str, ...]:
        """Return what moved and what stayed, each with its control; layers count from 1."""
        from explorer.analysis.depth.changed import layer_distances

        names = dict(zip(("before", "after"), self.labels, strict=True))
        distances = layer_distances(self.weights)
        said = [
            strings.weights_moved(names, distances, self.weights),
            strings.states_moved(self.cka, self.shuffled_cka),
            strings.heads_moved(names, self.heads.js, self.heads.control),
            strings.masks_moved(names, self._masks(), is_own=self._reads_itself()),
        ]
        said += strings.unknown_shares({strings.both(self.labels): self.unknown})
        said += strings.skipped_shares({strings.both(self.labels): self.skipped})
        return tuple(filter(None, said))

    def _reads_itself(self) -> bool:
        return self.masks is not None and self.masks.head == self.pair[1]

    def figure(self) -> "go.Figure":
        """Return four charts: weights, states, heads and predictions, with their controls."""
        from explorer.views.depth.changed import changed_figure
        from explorer.views.theme import colours_of

        return changed_figure(
            self.pair,
            self.weights,
            (self.cka, self.shuffled_cka),
            self.heads,
            self.masks,
            colours_of(self.model_columns),
        )


def changed(
    family: Family | str = "mini",
    before: str = "",
    after: str = "",
    rows: Sequence[str] | None = None,
) -> Changed:
    """Compare two checkpoints of one shape, such as a model before and after its fine-tuning.

    Weights: each matrix's distance divided by its norm before, split into scale and turn. Weight
    decay alone shrinks the rows of unread pieces and turns none. States: linear CKA of the
    tokens by layer (Kornblith et al. 2019). Heads: mean Jensen-Shannon divergence of their rows,
    in nats. Predictions: KL(before || after) in nats at 15% of the tokens, masked at random. Each
    has a control by the same procedure: shuffled rows, shuffled tokens, two heads of one layer,
    and the model before read one layer earlier.

    If ``after`` has no masked-LM head, like most fine-tuned encoders, that of ``before`` reads its
    states.

    Args:
        family: What ``load`` returned, or the name of a family. Its columns have models of one
            shape: "before=mini-bert,after=mini-bert".
        before: A column; empty: the first.
        after: A column; empty: the first other one.
        rows: Texts without masks; by default the bundled English sentences.

    Returns:
        ``weights``, ``cka`` by layer, ``heads`` and ``masks``, each with its control.

    Raises:
        Refusal: a column does not exist, the two differ in shape or read the texts as different
            tokens, or a text cannot be read.

    Example:
        >>> rows = ["The cat sat on the mat and it was good.", "He was not here today at all."]
        >>> explorer.changed("before=mini-bert,after=mini-bert", rows=rows).cka.round(3)
        array([1., 1., 1., 1., 1., 1., 1.])
    """
    with asked(family) as models:
        specs = _pair(models, before, after)
        texts = tuple(checked_text(text, "rows") for text in rows or ()) or sentences()
        return result_of(compared(specs, models.ask(texts[0]), texts), 2 * len(texts), "texts")


def _pair(models: Family, before: str, after: str) -> tuple[ModelSpec, ModelSpec]:
    first = models.chosen(before)
    others = [key for key in models.specs if key != first.key]
    if after == first.key or not (after or others):
        raise Refusal(refusals.ONE_COLUMN.format(label=first.label))
    second = models.spec(after or others[0])
    names = differs(first, second)
    if names:
        raise Refusal(
            refusals.TWO_SHAPES.format(
                before=first.label,
                after=second.label,
                name=strings.SHAPES[names[0]],
                one=_of(first, names[0]),
                other=_of(second, names[0]),
            )
        )
    return first, second


def differs(first: ModelSpec, second: ModelSpec) -> tuple[str, ...]:
    """Return the fields of ``SHAPE`` in which two models differ; empty: they have one shape."""
    return tuple(name for name in SHAPE if _of(first, name) != _of(second, name))


def _of(spec: ModelSpec, name: str) -> object:
    shape: Architecture = spec.architecture
    return getattr(shape, name)


def compared(
    specs: tuple[ModelSpec, ModelSpec],
    ask: Ask,
    texts: Sequence[str],
    reader: ModelSpec | None = None,
) -> Generator[int, None, Changed]:
    """Run all texts, plain and masked; yield how many are done, and return the result.

    ``reader`` is the model whose head reads the states after; None: that after, if it has one.
    """
    from explorer.analysis.depth.changed import HeadChange, mask_change
    from explorer.models.inside.changes import changes_from

    before, after = specs
    tokens = _tokens(specs, ask, texts)
    read = sorted({i for row in tokens for i in row.ids})
    weights = call_on_model(changes_from, after, ask, before, read)
    kept = _Kept(specs, ask, tokens, reader)
    done = 0
    for batch in length_batches([*map(len, tokens)], len(tokens)):
        kept.add(batch, [tokens[i] for i in batch])
        done += 2 * len(batch)
        yield done
    cka, shuffled, n_tokens = kept.similarity()
    unknown, skipped = unread_share(tokens)
    js, control = (total / kept.n_tokens for total in kept.moved)
    one_head = before.architecture.n_heads == 1
    return Changed(
        (before.key, after.key),
        (before.label, after.label),
        len(texts),
        unknown,
        weights,
        cka,
        shuffled,
        n_tokens,
        HeadChange(read_only(js), None if one_head else read_only(control)),
        mask_change(kept.reader.key, kept.all_masks()) if kept.masks else None,
        skipped,
    )


def _tokens(specs: tuple[ModelSpec, ModelSpec], ask: Ask, texts: Sequence[str]) -> list[Tokens]:
    """Return the tokens of the texts, which both models must read alike.

    Raises:
        Refusal: they do not, or a text has a mask or cannot be read.
    """
    from explorer.models.forward import tokenize

    if any(MASK in clean_text(text) for text in texts):
        raise Refusal(refusals.MASKED_ROW)

    tokens = []
    for text in texts:
        first, second = (call_on_model(tokenize, spec, ask, text) for spec in specs)
        if first.pieces != second.pieces or first.ids != second.ids:
            raise Refusal(
                refusals.TWO_TOKENIZERS.format(
                    before=specs[0].label, after=specs[1].label, text=brief(text)
                )
            )
        tokens.append(first)
    if sum(map(_n_words, tokens)) < MIN_TOKENS:
        raise Refusal(refusals.FEW_TOKENS.format(least=MIN_TOKENS))
    return tokens


def _n_words(tokens: Tokens) -> int:
    """Return the number of tokens that are the text's own."""
    return len(tokens) - sum(tokens.special)


class _Kept:
    """Values kept of the batches: states of the first tokens, sums over heads, values of masks."""

    def __init__(
        self,
        specs: tuple[ModelSpec, ModelSpec],
        ask: Ask,
        tokens: Sequence[Tokens],
        reader: ModelSpec | None,
    ) -> None:
        self.specs, self.ask = specs, ask
        before = np.cumsum([0, *(_n_words(row) for row in tokens)])
        self.wanted = {i for i in range(len(tokens)) if before[i] < MAX_WORDS}
        self.reader = reader or (specs[1] if specs[1].has_head else specs[0])
        self.states: dict[int, tuple[np.ndarray, np.ndarray]] = {}
        self.moved = [np.zeros(()), np.zeros(())]
        self.n_tokens = 0
        self.masks: dict[int, np.ndarray] = {}
        # A generator for each text: its masks do not depend on the other texts' lengths.
        self.random = [np.random.default_rng((0, i)) for i in range(len(tokens))]

    def add(self, numbers: Sequence[int], tokens: Sequence[Tokens]) -> None:
        """Run a batch of texts through both models, as they are and masked at random."""
        from explorer.analysis.depth.changed import heads_moved, masked_at_random

        pairs = list(zip(*self._runs(tokens), strict=True))
        for number, (old, new) in zip(numbers, pairs, strict=True):
            words = [i for i, special in enumerate(old.tokens.special) if not special]
            if number in self.wanted:
                self.states[number] = (old.hidden_states[:, words], new.hidden_states[:, words])
            sums = heads_moved(old, new)
            self.moved = [total + more for total, more in zip(self.moved, sums, strict=True)]
            self.n_tokens += len(words)
        if not self.specs[0].has_head:
            return
        mask_id = pairs[0][0].mask_id
        masked = {
            i: masked_at_random(row, mask_id, self.random[i])
            for i, row in zip(numbers, tokens, strict=True)
        }
        masked = {i: (row, hidden) for i, (row, hidden) in masked.items() if hidden}
        if masked:
            self._add_masks(masked)

    def _add_masks(self, masked: Mapping[int, tuple[Tokens, tuple[int, ...]]]) -> None:
        from explorer.analysis.depth.changed import masks_moved
        from explorer.models.forward import state_logits

        old, new = self._runs([row for row, _ in masked.values()])
        hidden = [i for _, ids in masked.values() for i in ids]
        logits = np.concatenate([run.mask_logits for run in old])
        after = call_on_model(state_logits, self.reader, self.ask, _at_masks(new, -1))
        earlier = call_on_model(state_logits, self.specs[0], self.ask, _at_masks(old, -2))
        moved = masks_moved(logits, after, earlier, hidden)
        ends = np.cumsum([len(ids) for _, ids in masked.values()])
        self.masks |= zip(masked, np.split(moved, ends[:-1]), strict=True)

    def all_masks(self) -> np.ndarray:
        """Return the values of all masks, in the order of the texts."""
        return np.concatenate([self.masks[i] for i in sorted(self.masks)])

    def _runs(self, tokens: Sequence[Tokens]) -> tuple[list[Run], list[Run]]:
        from explorer.models.forward import run_together

        old, new = gather(
            [partial(call_on_model, run_together, spec, self.ask, tokens) for spec in self.specs]
        )
        return old, new

    def similarity(self) -> tuple[np.ndarray, np.ndarray, int]:
        """Return CKA by layer of the first tokens' states, the same shuffled, and their number."""
        from explorer.analysis.depth.states import layer_similarity

        ordered = [self.states[i] for i in sorted(self.states)]
        pair = [np.concatenate(states, 1)[:, :MAX_WORDS] for states in zip(*ordered, strict=True)]
        by_layer = [
            layer_similarity({"before": old[None], "after": new[None]})
            for old, new in zip(*pair, strict=True)
        ]
        return (
            read_only(np.array([layer.cka[0, 1] for layer in by_layer])),
            read_only(np.array([layer.shuffled[0, 1] for layer in by_layer])),
            pair[0].shape[1],
        )


def _at_masks(runs: Sequence[Run], layer: int) -> np.ndarray:
    places = [run.hidden_states[layer, list(run.tokens.mask_positions)] for run in runs]
    return np.concatenate(places)
