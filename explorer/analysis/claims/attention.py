"""Live checks of attention: its formula, its two directions, and what positions add."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn
from torch.func import functional_call

from explorer.analysis.claims.measured import CLAIMED, CheckOutcome, Quantity, family_name, listed
from explorer.analysis.digits import power
from explorer.models.check_models import CheckModels
from explorer.models.forward import apply_head, inputs_of, tokenize
from explorer.models.loading import LoadedModel
from explorer.models.spelling import spelling_of

TEXT = "The cat that was chased by the dog ran away."
BEFORE, AFTER = "The [MASK] was very cold.", "The [MASK] was very sweet."
POSITIONS = "embeddings.position_embeddings.weight"
EXACT, MOVED = 1e-4, 1e-3
"""Below the first two results count as equal in float32; above the second as different."""


def attention_formula(specimens: CheckModels) -> CheckOutcome:
    """LC22: every head recomputed as softmax(Q K^T / sqrt(d)) from its own queries and keys."""
    worst = specimens.of_each(CLAIMED, formula_error)
    with specimens.leased("bert") as loaded:
        seen, pieces = _attention(loaded), tokenize(loaded, TEXT).pieces
        words = [spelling_of(loaded.vocabulary).text(piece) for piece in pieces]
    quantities = {"largest_difference": Quantity(max(worst.values()), _differ(max(worst.values())))}
    text = f"largest difference over all heads: {listed({k: power(x) for k, x in worst.items()})}"
    if "ran" in words and "cat" in words:
        weight = float(seen[:, :, words.index("ran"), words.index("cat")].max())
        quantities["ran_to_cat"] = Quantity(weight, f"ran attends to cat with {weight:.2f} at most")
        text += f"; {quantities['ran_to_cat'].text}"
    return CheckOutcome(
        text, max(worst.values()) < EXACT, family_name(specimens.family), quantities
    )


def _differ(x: float) -> str:
    return f"differs by {power(x)} at most"


@torch.inference_mode()
def _attention(loaded: LoadedModel) -> Tensor:
    """[layer, head, query, key] over the check's text."""
    inputs = inputs_of(loaded, tokenize(loaded, TEXT))
    with loaded.lock:
        out = loaded.network.base_model(**inputs, output_attentions=True)
    return torch.cat(out.attentions)


@torch.inference_mode()
def formula_error(loaded: LoadedModel) -> float:
    """The largest difference between a network's attention and the formula, over all heads."""
    inputs = inputs_of(loaded, tokenize(loaded, TEXT))
    kind = loaded.spec.kind
    encoder = loaded.network.base_model
    with loaded.lock, _outputs(encoder, kind.query) as q, _outputs(encoder, kind.key) as k:
        out = encoder(**inputs, output_attentions=True)
    errors = []
    for layer, given in enumerate(out.attentions):
        n_heads = given.shape[1]
        query, key = (_by_head(x[layer], n_heads) for x in (q, k))
        scores = query @ key.transpose(-1, -2) / query.shape[-1] ** 0.5
        errors.append(float((scores.softmax(-1) - given).abs().max()))
    return max(errors)


@contextmanager
def _outputs(encoder: nn.Module, pattern: str) -> Iterator[list[Tensor]]:
    """Outputs of every call of the modules with these names, in order; the hooks go afterwards."""
    kept: list[Tensor] = []
    modules = [module for name, module in encoder.named_modules() if re.search(pattern, name)]
    hooks = [m.register_forward_hook(lambda _m, _in, out: kept.append(out)) for m in modules]
    try:
        yield kept
    finally:
        for hook in hooks:
            hook.remove()


def _by_head(x: Tensor, n_heads: int) -> Tensor:
    """[1, pos, d_model] to [1, head, pos, d_head]."""
    return x.unflatten(-1, (n_heads, -1)).transpose(1, 2)


def both_directions(specimens: CheckModels) -> CheckOutcome:
    """LC23: what a word to the right of the mask changes, read both ways and left to right.

    The measure is total variation: the share of probability that moves.
    """
    free = specimens.of_each(CLAIMED, lambda model: moved_by_right_word(model, False))
    causal = specimens.of_each(CLAIMED, lambda model: moved_by_right_word(model, True))
    least, most = min(free.values()), max(causal.values())
    return CheckOutcome(
        f"probability moved: {listed({k: f'{100 * x:.1f}%' for k, x in free.items()})}; "
        f"left to right only: {power(most)} at most",
        least > MOVED and most < EXACT,
        family_name(specimens.family),
        {
            "right_word_change": Quantity(least, f"moves at least {100 * least:.1f}% probability"),
            "causal_change": Quantity(most, f"moves {power(most)} of the probability"),
        },
    )


def moved_by_right_word(loaded: LoadedModel, causal: bool) -> float:
    """Share of the prediction that moves when the last word changes from cold to sweet."""
    first, second = (_prediction(loaded, text, causal) for text in (BEFORE, AFTER))
    return float((first - second).abs().sum() / 2)


@torch.inference_mode()
def _prediction(loaded: LoadedModel, text: str, causal: bool) -> Tensor:
    tokens = tokenize(loaded, text)
    inputs = inputs_of(loaded, tokens)
    if causal:
        n, low = len(tokens), torch.finfo(torch.float32).min
        mask = torch.full((1, 1, n, n), low, device=loaded.device).triu(1)
        inputs["attention_mask"] = mask.to(next(loaded.network.parameters()).dtype)
    with loaded.lock:
        hidden = loaded.network.base_model(**inputs).last_hidden_state
        logits = apply_head(loaded, hidden[0, tokens.mask_positions[0]])
    return logits.double().softmax(-1)


def position_effect(specimens: CheckModels) -> CheckOutcome:
    """LC24: whether shuffling the tokens only shuffles the outputs, with and without positions."""
    without = specimens.of_each(CLAIMED, lambda model: shuffle_error(model, False))
    with_them = specimens.of_each(CLAIMED, lambda model: shuffle_error(model, True))
    most, least = max(without.values()), min(with_them.values())
    return CheckOutcome(
        f"outputs differ by {power(most)} at most without position embeddings, "
        f"by {least:.2g} or more with them",
        most < EXACT and least > MOVED,
        family_name(specimens.family),
        {
            "without_positions": Quantity(most, f"{_differ(most)} without positions"),
            "with_positions": Quantity(least, f"differs by {least:.2g} with positions"),
        },
    )


@torch.inference_mode()
def shuffle_error(loaded: LoadedModel, positions: bool) -> float:
    """Largest difference between outputs of shuffled tokens and shuffled outputs of tokens."""
    ids = inputs_of(loaded, tokenize(loaded, TEXT))["input_ids"]
    order = torch.randperm(ids.shape[1], generator=torch.Generator().manual_seed(0))
    encoder = loaded.network.base_model
    table = encoder.get_parameter(POSITIONS)
    used = {POSITIONS: table if positions else torch.zeros_like(table)}
    with loaded.lock:
        straight, shuffled = (
            functional_call(encoder, used, (), {"input_ids": x}).last_hidden_state
            for x in (ids, ids[:, order])
        )
    return float((straight[:, order] - shuffled).abs().max())
