"""Live checks of the architectures: attention, positions, segments, shared layers."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn
from torch.func import functional_call

from explorer.analysis.claims.outcomes import (
    CLAIMED,
    SHAPES,
    CheckOutcome,
    Quantity,
    family_name,
    listed,
    percent,
)
from explorer.analysis.digits import counted, power
from explorer.analysis.parameters.count import LayerCalls, layer_calls, loaded_layer_calls
from explorer.models.architectures import CheckModels
from explorer.models.forward import apply_head, inputs_of, tokenize
from explorer.models.loading import LoadedModel
from explorer.models.specs import BASE, ModelSpec
from explorer.models.tokens import spelling_of
from explorer.timing.protocol import Pass
from explorer.timing.workload import Workload

TEXT = "The cat that was chased by the dog ran away."
BEFORE, AFTER = "The [MASK] was very cold.", "The [MASK] was very sweet."
POSITIONS = "embeddings.position_embeddings.weight"
EXACT, MOVED = 1e-4, 1e-3
"""Differences below the first count as equal in float32, above the second as different."""


def attention_formula(models: CheckModels) -> CheckOutcome:
    """Check LC22: every head recomputed as softmax(Q K^T / sqrt(d)) from its queries and keys."""
    worst = models.of_each(CLAIMED, formula_error)
    with models.leased("bert") as loaded:
        attention, pieces = _attention(loaded), tokenize(loaded, TEXT).pieces
        words = [spelling_of(loaded.vocabulary).text(piece) for piece in pieces]
    quantities = {"largest_difference": Quantity(max(worst.values()), _differ(max(worst.values())))}
    text = f"largest difference over all heads: {listed({k: power(x) for k, x in worst.items()})}"
    if "ran" in words and "cat" in words:
        weight = float(attention[:, :, words.index("ran"), words.index("cat")].max())
        quantities["ran_to_cat"] = Quantity(weight, f"ran attends to cat with {weight:.2f} at most")
        text += f"; {quantities['ran_to_cat'].text}"
    return CheckOutcome(text, max(worst.values()) < EXACT, family_name(models.family), quantities)


def _differ(x: float) -> str:
    return f"differs by {power(x)} at most"


@torch.inference_mode()
def _attention(loaded: LoadedModel) -> Tensor:
    """Return the attention [layer, head, query, key] over the check's text."""
    inputs = inputs_of(loaded, tokenize(loaded, TEXT))
    with loaded.lock:
        out = loaded.network.base_model(**inputs, output_attentions=True)
    return torch.cat(out.attentions)


@torch.inference_mode()
def formula_error(loaded: LoadedModel) -> float:
    """Return the largest difference between a network's attention and the formula."""
    inputs = inputs_of(loaded, tokenize(loaded, TEXT))
    kind = loaded.spec.kind
    encoder = loaded.network.base_model
    with loaded.lock, _outputs(encoder, kind.query) as q, _outputs(encoder, kind.key) as k:
        out = encoder(**inputs, output_attentions=True)
    errors = []
    for layer, attention in enumerate(out.attentions):
        n_heads = attention.shape[1]
        # From [1, pos, d_model] to [1, head, pos, d_head].
        query, key = (x[layer].unflatten(-1, (n_heads, -1)).transpose(1, 2) for x in (q, k))
        scores = query @ key.transpose(-1, -2) / query.shape[-1] ** 0.5
        errors.append(float((scores.softmax(-1) - attention).abs().max()))
    return max(errors)


@contextmanager
def _outputs(encoder: nn.Module, pattern: str) -> Iterator[list[Tensor]]:
    """Record the outputs of modules by name, in call order, by forward hooks removed on exit."""
    outputs: list[Tensor] = []
    modules = [module for name, module in encoder.named_modules() if re.search(pattern, name)]
    hooks = [m.register_forward_hook(lambda _m, _in, out: outputs.append(out)) for m in modules]
    try:
        yield outputs
    finally:
        for hook in hooks:
            hook.remove()


def both_directions(models: CheckModels) -> CheckOutcome:
    """Check LC23: effect of a word to the right of the mask, with full and with causal attention.

    Measured by total variation distance: the share of probability that moves.
    """
    free = models.of_each(CLAIMED, lambda model: moved_by_right_word(model, False))
    causal = models.of_each(CLAIMED, lambda model: moved_by_right_word(model, True))
    smallest, largest = min(free.values()), max(causal.values())
    return CheckOutcome(
        f"probability moved: {listed({k: f'{100 * x:.1f}%' for k, x in free.items()})}; "
        f"if each word sees only those to its left: {power(largest)} at most",
        smallest > MOVED and largest < EXACT,
        family_name(models.family),
        {
            "right_word_change": Quantity(
                smallest, f"moves at least {100 * smallest:.1f}% of the probability"
            ),
            "causal_change": Quantity(largest, f"moves {power(largest)} of the probability"),
        },
    )


def moved_by_right_word(loaded: LoadedModel, causal: bool) -> float:
    """Return the share of probability that moves when the last word goes from cold to sweet."""
    first, second = (_prediction(loaded, text, causal) for text in (BEFORE, AFTER))
    return float((first - second).abs().sum() / 2)


@torch.inference_mode()
def _prediction(loaded: LoadedModel, text: str, causal: bool) -> Tensor:
    tokens = tokenize(loaded, text)
    inputs = inputs_of(loaded, tokens)
    if causal:
        n, lowest = len(tokens), torch.finfo(torch.float32).min
        mask = torch.full((1, 1, n, n), lowest, device=loaded.device).triu(1)
        inputs["attention_mask"] = mask.to(next(loaded.network.parameters()).dtype)
    with loaded.lock:
        hidden = loaded.network.base_model(**inputs).last_hidden_state
        logits = apply_head(loaded, hidden[0, tokens.mask_positions[0]])
    return logits.double().softmax(-1)


def position_effect(models: CheckModels) -> CheckOutcome:
    """Check LC24: shuffled tokens only shuffle the outputs if positions are removed."""
    without = models.of_each(CLAIMED, lambda model: shuffle_error(model, False))
    with_them = models.of_each(CLAIMED, lambda model: shuffle_error(model, True))
    largest, smallest = max(without.values()), min(with_them.values())
    return CheckOutcome(
        f"outputs differ by {power(largest)} at most without position embeddings, "
        f"by {smallest:.2g} or more with them",
        largest < EXACT and smallest > MOVED,
        family_name(models.family),
        {
            "without_positions": Quantity(largest, f"{_differ(largest)} without positions"),
            "with_positions": Quantity(smallest, f"differs by {smallest:.2g} with positions"),
        },
    )


@torch.inference_mode()
def shuffle_error(loaded: LoadedModel, positions: bool) -> float:
    """Return the largest difference of outputs of shuffled tokens from shuffled outputs."""
    ids = inputs_of(loaded, tokenize(loaded, TEXT))["input_ids"]
    order = torch.randperm(ids.shape[1], generator=torch.Generator().manual_seed(0))
    encoder = loaded.network.base_model
    table = encoder.get_parameter(POSITIONS)
    parameters = {POSITIONS: table if positions else torch.zeros_like(table)}
    with loaded.lock:
        original, shuffled = (
            functional_call(encoder, parameters, (), {"input_ids": x}).last_hidden_state
            for x in (ids, ids[:, order])
        )
    return float((original[:, order] - shuffled).abs().max())


_PAIR_PARTS = re.compile(r"pooler|seq_relationship|sop_classifier")
WORDS = "embeddings.word_embeddings.weight"


def shared_layers(models: CheckModels) -> CheckOutcome:
    """Check LC07: layer calls of one forward pass, and the distinct weight tensors they use.

    On the full-size shapes, and on the family's own weights.
    """
    shape_calls = {
        key: layer_calls(models.shape(spec).base_model, spec.kind.output)
        for key, spec in BASE.items()
    }
    own = models.of_each(CLAIMED, lambda model: (loaded_layer_calls(model), model.spec))
    own_calls = {key: calls for key, (calls, _) in own.items()}
    as_built = all(_as_built(calls, spec) for calls, spec in own.values())
    texts = {key: f"{calls.calls} on {calls.distinct}" for key, calls in shape_calls.items()}
    own_texts = {key: f"{calls.calls} on {calls.distinct}" for key, calls in own_calls.items()}
    return CheckOutcome(
        f"calls on tensors: {listed(texts)}; {family_name(models.family)}: {listed(own_texts)}",
        as_built and all(_as_built(shape_calls[key], spec) for key, spec in BASE.items()),
        SHAPES,
        {
            f"{k}_calls": Quantity(c.calls, counted(c.calls, "layer call"))
            for k, c in shape_calls.items()
        }
        | {f"{k}_tensors": Quantity(c.distinct, _tensors(c)) for k, c in shape_calls.items()},
    )


def _as_built(calls: LayerCalls, spec: ModelSpec) -> bool:
    shape = spec.architecture
    return calls.calls == shape.n_layers and calls.distinct == (
        1 if shape.shares_layers else shape.n_layers
    )


def _tensors(calls: LayerCalls) -> str:
    return counted(calls.distinct, "distinct weight tensor")


def segment_effect(models: CheckModels) -> CheckOutcome:
    """Check LC12: number of segment embeddings, and the outputs' change with the segments."""
    rows, moved = {}, {}
    for key in CLAIMED:
        with models.leased(key) as loaded:
            stored = loaded.network.named_parameters()
            rows[key] = sum(p.shape[0] for name, p in stored if "token_type" in name)
            moved[key] = _moved_by_segments(loaded)
    with models.leased("distilbert") as loaded:
        names = [name for name, _ in loaded.network.named_parameters()]
    extra = [name for name in names if _PAIR_PARTS.search(name)]
    texts = {
        key: f"{counted(rows[key], 'segment row')}, outputs move by {moved[key]:.2g}"
        for key in CLAIMED
    }
    return CheckOutcome(
        listed(texts),
        rows["distilbert"] == 0 == moved["distilbert"]
        and not extra
        and min(rows["bert"], rows["albert"], moved["bert"], moved["albert"]) > 0,
        family_name(models.family),
        {
            f"{key}_segment_rows": Quantity(n, counted(n, "segment embedding"))
            for key, n in rows.items()
        }
        | {f"{key}_moved": Quantity(x, f"outputs move by {x:.2g}") for key, x in moved.items()}
        | {
            "distilbert_nsp_weights": Quantity(
                len(extra), counted(len(extra), "sentence-pair tensor")
            )
        },
    )


@torch.inference_mode()
def _moved_by_segments(loaded: LoadedModel) -> float:
    """Return the largest change of an output when every token has segment 1 instead of 0."""
    if loaded.spec.architecture.n_segments == 1:
        return 0.0
    ids = inputs_of(loaded, tokenize(loaded, TEXT))["input_ids"]
    with loaded.lock:
        first, second = (
            loaded.network.base_model(input_ids=ids, token_type_ids=torch.full_like(ids, segment))
            for segment in (0, 1)
        )
    return float((first.last_hidden_state - second.last_hidden_state).abs().max())


def longest_text(models: CheckModels) -> CheckOutcome:
    """Check LC25: the last position works and one more is an error, in all three shapes."""
    longest = {key: _longest(models, key) for key in CLAIMED}
    return CheckOutcome(
        f"longest text: {listed(longest)} tokens; one more is an error",
        all(n == BASE[key].architecture.n_positions for key, n in longest.items()),
        SHAPES,
        {"longest": Quantity(max(longest.values()), f"{max(longest.values())} tokens at most")},
    )


def _longest(models: CheckModels, key: str) -> int:
    """Return the longest of three lengths around the limit that the encoder accepts.

    Raises:
        ValueError: the encoder accepts none of them.
    """
    encoder, limit = models.shape(BASE[key]).base_model, BASE[key].architecture.n_positions
    for length in (limit + 1, limit, limit - 1):
        try:
            encoder(input_ids=torch.zeros(1, length, dtype=torch.long, device="meta"))
        except (RuntimeError, IndexError):
            continue  # this error is what is measured
        return length
    raise ValueError(f"{BASE[key].label} refuses texts of {limit} tokens.")


def special_tokens(models: CheckModels) -> CheckOutcome:
    """Check LC32: special tokens of the three tokenizers at the two ends of a text."""
    pieces = models.of_each(CLAIMED, lambda model: tokenize(model, TEXT).pieces)
    ends = {key: f"{row[0]} … {row[-1]}" for key, row in pieces.items()}
    starts = sum(row[0] == "[CLS]" for row in pieces.values())
    stops = sum(row[-1] == "[SEP]" for row in pieces.values())
    return CheckOutcome(
        listed(ends),
        starts == stops == len(CLAIMED),
        family_name(models.family),
        {
            "starts_with_cls": Quantity(starts, f"[CLS] first in {starts} of 3"),
            "ends_with_sep": Quantity(stops, f"[SEP] last in {stops} of 3"),
        },
    )


def updated_rows(models: CheckModels) -> CheckOutcome:
    """Check LC34: rows of BERT's word embedding that get a gradient from one sentence.

    As the input layer only the rows of its tokens; as the tied output layer every row, because
    softmax changes the scores of all words.
    """
    with models.leased("bert") as loaded, loaded.lock, torch.enable_grad():
        inputs = inputs_of(loaded, tokenize(loaded, TEXT))
        n_pieces = len(set(inputs["input_ids"].flatten().tolist()))
        as_input, size = _rows_with_gradient(loaded, inputs, by_output=False)
        as_output, _ = _rows_with_gradient(loaded, inputs, by_output=True)
    share = 100 * as_input / size
    return CheckOutcome(
        f"as input {as_input} of {size:,} rows ({share:.2f}%) after one sentence of {n_pieces} "
        f"different pieces; with the output layer {as_output:,}",
        0 < as_input <= n_pieces < as_output,
        family_name(models.family),
        {"rows_updated": percent(share, " of the rows, as input", 2)},
    )


def _rows_with_gradient(
    loaded: LoadedModel, inputs: dict[str, torch.Tensor], *, by_output: bool
) -> tuple[int, int]:
    """Count the rows of the word embedding with a gradient after a backward pass, and all rows."""
    # A whole network whose checkpoint lacks a pooler cannot run: its pair head reads one.
    network = Pass(loaded.spec, loaded.network, Workload(head=by_output))
    table = loaded.network.base_model.get_parameter(WORDS)
    name = next(name for name, parameter in network.named_parameters() if parameter is table)
    words = table.detach().clone().requires_grad_()
    out = functional_call(network, {name: words}, (inputs["input_ids"],))
    if by_output:
        loss = torch.nn.functional.cross_entropy(out[0], inputs["input_ids"][0])
    else:
        loss = out.square().mean()
    (gradient,) = torch.autograd.grad(loss, words)
    return int(gradient.abs().sum(1).count_nonzero()), len(words)
