"""Live checks of pre-training: masking, sentence pairs, and the two pair heads on real pairs."""

import numpy as np
import torch

from explorer.analysis.claims.measured import (
    CheckOutcome,
    Quantity,
    all_hold,
    family_name,
    lies_in,
    of_few,
    percent,
)
from explorer.analysis.distillation.masking import KEPT, LEFT, MASKED, SWAPPED, masking_simulation
from explorer.analysis.measures import share_interval
from explorer.models.check_models import CheckModels
from explorer.models.forward import run_model, tokenize
from explorer.models.hub import ModelUnavailable
from explorer.models.loading import LoadedModel
from explorer.models.task_heads import pair as heads
from explorer.models.task_heads.pair import has_pair_head

ROUNDS, TOKENS = 2_000, 500
N_PAIRS = 20_000
CHANCE = 0.5
PAIRS: tuple[tuple[str, str], ...] = (
    ("The kettle began to whistle.", "She took it off the stove and poured the tea."),
    ("He missed the last train home.", "So he walked along the river until morning."),
    ("The museum was closed on Monday.", "They came back the next day and saw it all."),
    ("A storm broke the old bridge.", "The village was cut off for a whole week."),
    ("The dog heard a noise in the garden.", "It ran outside and barked at the fence."),
    ("The farmer planted corn in spring.", "In autumn the harvest filled the barn."),
    ("She wrote a letter to her brother.", "He answered it two months later."),
    ("The king died without a son.", "His daughter was crowned the same year."),
    ("The company built its first ship in 1890.", "It was sold to the navy ten years later."),
    ("He opened the box with a knife.", "Inside he found a map and a small key."),
    ("The team lost the first game.", "They won all the others and took the cup."),
    ("The boy fell from the tree.", "His mother carried him to the doctor."),
)
"""Sentences that follow each other; the last letters of no pair give the order away."""
ORDERS = ("next", "random", "swapped")


def masking_shares(specimens: CheckModels) -> CheckOutcome:  # noqa: ARG001 - the recipe needs no network
    """LC13: what becomes of the tokens when the masking of pre-training is drawn many times."""
    shares = 100 * masking_simulation(TOKENS, np.arange(1_000), seed=0, rounds=ROUNDS).shares
    chosen = 100 - shares[LEFT]
    return CheckOutcome(
        f"of {TOKENS * ROUNDS:,} tokens {shares[MASKED]:.2f}% become [MASK], "
        f"{shares[SWAPPED]:.2f}% another piece, {shares[KEPT]:.2f}% stay",
        bool(
            abs(shares[MASKED] - 12) < 0.2
            and abs(shares[SWAPPED] - 1.5) < 0.1
            and abs(shares[KEPT] - 1.5) < 0.1
        ),
        "masking simulation",
        {
            "chosen": percent(float(chosen), " of the tokens chosen"),
            "masked": percent(float(shares[MASKED]), " of the tokens become [MASK]"),
        },
    )


def pair_shares(specimens: CheckModels) -> CheckOutcome:  # noqa: ARG001 - the recipe needs no network
    """LC14: how often the pairs built for NSP are random and those for SOP swapped."""
    rng = np.random.default_rng(0)
    random = np.mean([sentence_pair(PAIRS, "nsp", rng)[2] for _ in range(N_PAIRS)])
    swapped = np.mean([sentence_pair(PAIRS, "sop", rng)[2] for _ in range(N_PAIRS)])
    return CheckOutcome(
        f"NSP: {100 * random:.1f}% random second sentences; SOP: {100 * swapped:.1f}% swapped",
        bool(abs(random - 0.5) < 0.02 and abs(swapped - 0.5) < 0.02),
        f"{N_PAIRS:,} pairs each",
        {
            "random": percent(100 * float(random), " random pairs"),
            "swapped": percent(100 * float(swapped), " swapped pairs"),
        },
    )


def sentence_pair(
    pairs: tuple[tuple[str, str], ...], task: str, rng: np.random.Generator
) -> tuple[str, str, int]:
    """One training example: two sentences and its label, 1 where they do not follow in order.

    NSP replaces the second by that of another pair (Devlin et al. 2019, section 3.1); SOP puts
    the same two the other way round (Lan et al. 2019, section 3.1). Half of each.
    """
    which, label = int(rng.integers(len(pairs))), int(rng.random() < 0.5)
    first, second = pairs[which]
    if not label:
        return first, second, 0
    if task == "sop":
        return second, first, 1
    other = int((which + 1 + rng.integers(len(pairs) - 1)) % len(pairs))
    return first, pairs[other][1], 1


def next_sentence_head(specimens: CheckModels) -> CheckOutcome:
    """LC15: how often BERT's head says "follows" to next, random and swapped second sentences."""
    with specimens.leased("bert") as loaded:
        logits = {order: pair_logits(loaded, order) for order in ORDERS}
    follows = {order: float((x[:, 0] > x[:, 1]).float().mean()) for order, x in logits.items()}
    classes = logits["next"].shape[1]
    said = ", ".join(f"{order} {of_few(follows[order], len(PAIRS))}" for order in ORDERS)
    return CheckOutcome(
        f"says that the second follows: {said} of {len(PAIRS)} pairs, with 95% intervals",
        all_hold(_more(follows[order], follows["random"]) for order in ("next", "swapped")),
        family_name(specimens.family),
        {
            "classes": Quantity(classes, f"{classes} classes"),
            "next": percent(100 * follows["next"], " of true pairs accepted", 0),
            "random": percent(100 * follows["random"], " of random pairs accepted", 0),
            "swapped": percent(100 * follows["swapped"], " of swapped pairs accepted", 0),
        },
    )


def sentence_order_head(specimens: CheckModels) -> CheckOutcome:
    """LC16: how often ALBERT's head tells ordered pairs from swapped ones."""
    with specimens.leased("albert") as loaded:
        ordered, swapped = pair_logits(loaded, "next"), pair_logits(loaded, "swapped")
    lead, trail = ordered[:, 0] - ordered[:, 1], swapped[:, 0] - swapped[:, 1]
    accuracy = float(torch.cat([lead > 0, trail < 0]).float().mean())
    apart = float((lead > trail).float().mean())
    return CheckOutcome(
        f"{of_few(accuracy, 2 * len(PAIRS))} of {2 * len(PAIRS)} orders classified correctly; in "
        f"{of_few(apart, len(PAIRS))} of the {len(PAIRS)} pairs the true order scores higher; "
        "with 95% intervals",
        all_hold(
            lies_in(share_interval(share * n, n), CHANCE, 1)
            for share, n in ((accuracy, 2 * len(PAIRS)), (apart, len(PAIRS)))
        ),
        family_name(specimens.family),
        {"accuracy": percent(100 * accuracy, " of the orders classified correctly", 0)},
    )


def _more(share: float, than: float) -> bool | None:
    """Whether one share of the pairs is larger than another; None where the pairs are too few."""
    n = len(PAIRS)
    low, high = share_interval(share * n, n), share_interval(than * n, n)
    if low[0] > high[1]:
        return True
    return False if share <= than else None


def pair_logits(loaded: LoadedModel, order: str) -> torch.Tensor:
    """The pair head's two scores [pair, class] for pairs in an order; class 0 is "follows".

    Raises:
        ModelUnavailable: the checkpoint has no weights for the head, so it would say anything.
    """
    if not has_pair_head(loaded):
        raise ModelUnavailable(loaded.spec, "its checkpoint has no weights for the sentence head")
    firsts, seconds = zip(*PAIRS, strict=True)
    shifted = {
        "next": (firsts, seconds),
        "swapped": (seconds, firsts),
        "random": (firsts, seconds[5:] + seconds[:5]),
    }
    texts = [f"{first} [SEP] {second}" for first, second in zip(*shifted[order], strict=True)]
    runs = [run_model(loaded, tokenize(loaded, text)) for text in texts]
    states = [run.hidden_states[-1, 0] for run in runs]
    return torch.stack([torch.tensor(heads.pair_logits(loaded, state)) for state in states])
