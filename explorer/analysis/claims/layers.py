"""Live checks of what the layers share and what the inputs touch: calls, segments, limits, rows."""

import re

import torch
from torch.func import functional_call

from explorer.analysis.claims.measured import (
    CLAIMED,
    SHAPES,
    CheckOutcome,
    Quantity,
    family_name,
    listed,
    percent,
)
from explorer.analysis.parameters.applied import LayerCalls, layer_calls, loaded_layer_calls
from explorer.models.check_models import CheckModels
from explorer.models.forward import inputs_of, tokenize
from explorer.models.loading import LoadedModel
from explorer.models.specs import BASE, ModelSpec

TEXT = "The cat that was chased by the dog ran away."
_PAIR_PARTS = re.compile(r"pooler|seq_relationship|sop_classifier")
WORDS = "embeddings.word_embeddings.weight"


def shared_layers(specimens: CheckModels) -> CheckOutcome:
    """LC07: layer calls of one forward pass and the different weight tensors behind them.

    On the full-size shapes, and again on the family's own weights.
    """
    seen = {
        key: layer_calls(specimens.shape(spec).base_model, spec.kind.output)
        for key, spec in BASE.items()
    }
    counted = specimens.of_each(CLAIMED, lambda model: (loaded_layer_calls(model), model.spec))
    own = {key: calls for key, (calls, _) in counted.items()}
    as_built = all(_as_built(calls, spec) for calls, spec in counted.values())
    said = {key: f"{calls.calls} on {calls.distinct}" for key, calls in seen.items()}
    here = {key: f"{calls.calls} on {calls.distinct}" for key, calls in own.items()}
    return CheckOutcome(
        f"calls on tensors: {listed(said)}; {family_name(specimens.family)}: {listed(here)}",
        as_built and all(_as_built(seen[key], spec) for key, spec in BASE.items()),
        SHAPES,
        {f"{k}_calls": Quantity(c.calls, f"{c.calls} layer calls") for k, c in seen.items()}
        | {f"{k}_tensors": Quantity(c.distinct, _tensors(c)) for k, c in seen.items()},
    )


def _as_built(calls: LayerCalls, spec: ModelSpec) -> bool:
    shape = spec.architecture
    return calls.calls == shape.n_layers and calls.distinct == (
        1 if shape.shares_layers else shape.n_layers
    )


def _tensors(calls: LayerCalls) -> str:
    return f"{calls.distinct} distinct weight tensor{'s' * (calls.distinct > 1)}"


def segment_effect(specimens: CheckModels) -> CheckOutcome:
    """LC12: segment embeddings stored, and how far the outputs move when the segments change."""
    rows, moved = {}, {}
    for key in CLAIMED:
        with specimens.leased(key) as loaded:
            stored = loaded.network.named_parameters()
            rows[key] = sum(p.shape[0] for name, p in stored if "token_type" in name)
            moved[key] = _moved_by_segments(loaded)
    with specimens.leased("distilbert") as loaded:
        extra = [name for name in _names(loaded) if _PAIR_PARTS.search(name)]
    said = {key: f"{rows[key]} rows, moves {moved[key]:.2g}" for key in CLAIMED}
    return CheckOutcome(
        listed(said),
        rows["distilbert"] == 0 == moved["distilbert"]
        and not extra
        and min(rows["bert"], rows["albert"], moved["bert"], moved["albert"]) > 0,
        family_name(specimens.family),
        {f"{key}_segment_rows": Quantity(n, f"{n} segment embeddings") for key, n in rows.items()}
        | {f"{key}_moved": Quantity(x, f"outputs move by {x:.2g}") for key, x in moved.items()}
        | {"distilbert_nsp_weights": Quantity(len(extra), f"{len(extra)} sentence-pair tensors")},
    )


def _names(loaded: LoadedModel) -> list[str]:
    return [name for name, _ in loaded.network.named_parameters()]


@torch.inference_mode()
def _moved_by_segments(loaded: LoadedModel) -> float:
    """Largest change of an output when every token is said to be in the second sentence."""
    ids = inputs_of(loaded, tokenize(loaded, TEXT))["input_ids"]
    with loaded.lock:
        first, second = (
            loaded.network.base_model(input_ids=ids, token_type_ids=torch.full_like(ids, segment))
            for segment in (0, 1)
        )
    return float((first.last_hidden_state - second.last_hidden_state).abs().max())


def longest_text(specimens: CheckModels) -> CheckOutcome:
    """LC25: whether the last position works and one more is refused, in all three shapes."""
    longest = {key: _longest(specimens, key) for key in CLAIMED}
    return CheckOutcome(
        f"longest text: {listed(longest)} tokens; one more is an error",
        all(n == BASE[key].architecture.n_positions for key, n in longest.items()),
        SHAPES,
        {"longest": Quantity(max(longest.values()), f"{max(longest.values())} tokens at most")},
    )


def _longest(specimens: CheckModels, key: str) -> int:
    """The longest of three lengths around the limit that the encoder accepts.

    Raises:
        ValueError: it accepts none of them.
    """
    encoder, limit = specimens.shape(BASE[key]).base_model, BASE[key].architecture.n_positions
    for length in (limit + 1, limit, limit - 1):
        try:
            encoder(input_ids=torch.zeros(1, length, dtype=torch.long, device="meta"))
        except (RuntimeError, IndexError):
            continue  # being refused is what is measured
        return length
    raise ValueError(f"{BASE[key].label} refuses texts of {limit} tokens.")


def special_tokens(specimens: CheckModels) -> CheckOutcome:
    """LC32: which pieces the three tokenizers put at the two ends of a text."""
    pieces = specimens.of_each(CLAIMED, lambda model: tokenize(model, TEXT).pieces)
    ends = {key: f"{row[0]} … {row[-1]}" for key, row in pieces.items()}
    starts = sum(row[0] == "[CLS]" for row in pieces.values())
    stops = sum(row[-1] == "[SEP]" for row in pieces.values())
    return CheckOutcome(
        listed(ends),
        starts == stops == len(CLAIMED),
        family_name(specimens.family),
        {
            "starts_with_cls": Quantity(starts, f"[CLS] first in {starts} of 3"),
            "ends_with_sep": Quantity(stops, f"[SEP] last in {stops} of 3"),
        },
    )


def updated_rows(specimens: CheckModels) -> CheckOutcome:
    """LC34: rows of BERT's word embeddings that get a gradient from one sentence, by both doors.

    As input only the rows that were read; as the tied output layer every row, since softmax
    moves the scores of all words.
    """
    with specimens.leased("bert") as loaded, loaded.lock, torch.enable_grad():
        inputs = inputs_of(loaded, tokenize(loaded, TEXT))
        different = len(set(inputs["input_ids"].flatten().tolist()))
        read, size = _rows_with_gradient(loaded, inputs, by_output=False)
        moved, _ = _rows_with_gradient(loaded, inputs, by_output=True)
    share = 100 * read / size
    return CheckOutcome(
        f"as input {read} of {size:,} rows ({share:.2f}%) after one sentence of {different} "
        f"different pieces; with the tied output layer {moved:,}",
        0 < read <= different < moved,
        family_name(specimens.family),
        {"rows_updated": percent(share, " of the rows, as input", 2)},
    )


def _rows_with_gradient(
    loaded: LoadedModel, inputs: dict[str, torch.Tensor], *, by_output: bool
) -> tuple[int, int]:
    """Rows of the word table that one backward pass reaches, and how many rows there are."""
    network = loaded.network if by_output else loaded.network.base_model
    table = loaded.network.base_model.get_parameter(WORDS)
    name = next(name for name, parameter in network.named_parameters() if parameter is table)
    words = table.detach().clone().requires_grad_()
    out = functional_call(network, {name: words}, (), dict(inputs))
    if by_output:
        logits = out.prediction_logits if "prediction_logits" in out else out.logits
        loss = torch.nn.functional.cross_entropy(logits[0], inputs["input_ids"][0])
    else:
        loss = out.last_hidden_state.square().mean()
    (gradient,) = torch.autograd.grad(loss, words)
    return int(gradient.abs().sum(1).count_nonzero()), len(words)
