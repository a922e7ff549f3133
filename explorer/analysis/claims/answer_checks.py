"""Live checks of answers: pair objectives, distillation, agreement, tuned tasks."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch

from explorer.analysis.claims.outcomes import (
    CLAIMED,
    CheckOutcome,
    Quantity,
    all_hold,
    family_name,
    lies_in,
    listed,
    of_few,
    percent,
)
from explorer.analysis.depth.states import weight_lineage
from explorer.analysis.distillation.losses import (
    KEPT,
    LEFT,
    MASKED,
    SWAPPED,
    PairLogits,
    masking_simulation,
    sentence_losses,
)
from explorer.analysis.distillation.soft import NotAPair, state_alignment
from explorer.analysis.measures import kl_of_logs, log_softmax, share_interval
from explorer.assets import sentences
from explorer.models.check_models import CheckModels
from explorer.models.choice.family import family_specs, teacher_of
from explorer.models.forward import position_logits, run_model, tokenize
from explorer.models.hub import ModelUnavailable
from explorer.models.inside.reading import layer_cosines
from explorer.models.loading import LoadedModel
from explorer.models.run import Run
from explorer.models.task_heads import classifiers as heads
from explorer.models.task_heads.adapters import NotTuned, fitting_card
from explorer.models.task_heads.classifiers import has_pair_head
from explorer.models.tokens import spelling_of

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


N_SENTENCES = 24
TEXT, ANSWER = "He sat down in the old [MASK] and read the letter.", "chair"
CAT, PUBLISHED = "The [MASK] sat on the mat.", {"ce": 5.0, "mlm": 2.0, "cos": 1.0}
TEMPERATURE = 2.0


def _run(loaded: LoadedModel, text: str) -> Run:
    return run_model(loaded, tokenize(loaded, text))


@contextmanager
def distilled(specimens: CheckModels) -> Iterator[tuple[LoadedModel, LoadedModel]]:
    """Use teacher and student.

    Raises:
        NotAPair: the one did not learn from the other.
    """
    with specimens.leased("bert") as teacher, specimens.leased("distilbert") as student:
        parent = teacher_of(student.spec)
        if parent is None or parent.name != teacher.spec.name:
            raise NotAPair(f"{student.spec.label} was not distilled from {teacher.spec.label}.")
        yield teacher, student


def triple_loss_parts(specimens: CheckModels) -> CheckOutcome:
    """LC17: the three losses on one sentence, and whether their weighted sum is the total."""
    with distilled(specimens) as (teacher, student):
        runs = _run(teacher, TEXT), _run(student, TEXT)
        everywhere = tuple(range(len(runs[0].tokens)))
        pair = PairLogits(
            *runs,
            position_logits(teacher, runs[0], everywhere),
            position_logits(student, runs[1], everywhere),
        )
        known = student.tokenizer.convert_tokens_to_ids(ANSWER)
    losses = sentence_losses(pair, (known,), (TEMPERATURE,))
    parts = {"ce": float(losses.ce[0]), "mlm": losses.mlm or 0.0, "cos": losses.cos or 0.0}
    total = losses.total(0, PUBLISHED)
    gap = abs(total - (5 * parts["ce"] + 2 * parts["mlm"] + parts["cos"]))
    return CheckOutcome(
        f"5 × {parts['ce']:.3f} + 2 × {parts['mlm']:.3f} + 1 × {parts['cos']:.3f} = {total:.3f} "
        f"nats at T = {TEMPERATURE:g}",
        gap < 1e-6 and all(np.isfinite(x) and x > 0 for x in parts.values()),
        family_name(specimens.family),
        {name: Quantity(x, f"L_{name} = {x:.3f}") for name, x in parts.items()}
        | {"gap": Quantity(gap, f"three parts add up to {total:.3f}")},
    )


def layer_alignment(specimens: CheckModels) -> CheckOutcome:
    """LC18: cosine of student and teacher states: the trained pair, and layers in between."""
    with distilled(specimens) as (teacher, student):
        cosine = state_alignment(_run(teacher, TEXT), _run(student, TEXT)).cosine
    last = float(cosine[-1, -1])
    step = (cosine.shape[1] - 1) // (cosine.shape[0] - 1)
    between = [float(cosine[i, i * step]) for i in range(1, cosine.shape[0] - 1)]
    return CheckOutcome(
        f"last with last {last:.3f} (trained), every second layer in between "
        f"{', '.join(f'{x:.3f}' for x in between)} (never trained)",
        last == float(cosine[-1].max()),
        family_name(specimens.family),
        {"trained": Quantity(last, f"cosine {last:.3f} of the last states")},
    )


def layer_lineage(specimens: CheckModels) -> CheckOutcome:
    """LC19: the teacher layer whose weights each student layer resembles most."""
    with distilled(specimens) as (teacher, student):
        lineage = weight_lineage(layer_cosines(student, teacher), student.spec.initialised_from)
    nearest = ", ".join(str(i) for i in lineage.nearest)
    started = ", ".join(str(i) for i in lineage.initialised_from)
    return CheckOutcome(
        f"nearest teacher layers {nearest}; copied at the start from {started} (counted from 0)",
        lineage.is_as_initialised,
        family_name(specimens.family),
        {"nearest": Quantity(len(set(lineage.nearest)), f"nearest {nearest}")},
    )


def _sentences() -> tuple[str, ...]:
    return tuple(sentence["text"] for sentence in sentences()[:N_SENTENCES])


def fill_agreement(specimens: CheckModels) -> CheckOutcome:
    """LC20: how often DistilBERT and ALBERT give BERT's first word, over 24 sentences."""
    texts = (*_sentences(), CAT)
    runs = specimens.of_each(CLAIMED, lambda model: [_run(model, text) for text in texts])
    on_the_mat = {key: rows.pop() for key, rows in runs.items()}
    first = {key: [_first_word(run) for run in rows] for key, rows in runs.items()}
    hits = {
        key: np.array([a == b for a, b in zip(first[key], first["bert"], strict=True)])
        for key in ("distilbert", "albert")
    }
    same = {key: float(found.mean()) for key, found in hits.items()}
    kl = float(
        np.mean([_divergence(t, s) for t, s in zip(runs["bert"], runs["distilbert"], strict=True)])
    )
    rank = rank_of_word(on_the_mat["bert"], "cat")
    return CheckOutcome(
        f"BERT's first word: {listed({k: of_few(x, N_SENTENCES) for k, x in same.items()})} of "
        f"{N_SENTENCES} sentences, with 95% intervals; KL to the teacher {kl:.2f} nats; "
        f"BERT puts cat at rank {rank:,} on the mat",
        _oftener(hits["distilbert"], hits["albert"]),
        family_name(specimens.family),
        {f"same_{k}": percent(100 * x, " the same first word", 0) for k, x in same.items()}
        | {
            "kl": Quantity(kl, f"{kl:.2f} nats"),
            "cat_rank": Quantity(rank, f"cat at rank {rank:,}"),
        },
    )


def _oftener(first: np.ndarray, second: np.ndarray) -> bool | None:
    """Whether the first hits more often, from the sentences that only one of the two hits.

    None where these are too few to say so: the interval of the first's share of them holds half.
    """
    wins, losses = int((first & ~second).sum()), int((second & ~first).sum())
    if wins <= losses:
        return False
    return True if share_interval(wins, wins + losses)[0] > 1 / 2 else None


def _first_word(run: Run) -> str:
    first = run.vocabulary[int(run.mask_logits[0].argmax())]
    return spelling_of(run.vocabulary).text(first).lower()


def _divergence(teacher: Run, student: Run) -> float:
    logs = log_softmax(teacher.mask_logits[0]), log_softmax(student.mask_logits[0])
    return float(kl_of_logs(*logs))


def rank_of_word(run: Run, word: str) -> int:
    """The rank of a word at the first mask, 1 for the likeliest; beyond the last if not a piece."""
    if word not in run.vocabulary:
        return len(run.vocabulary) + 1
    logits = run.mask_logits[0]
    return int((logits > logits[run.vocabulary.index(word)]).sum()) + 1


def layer_steps(specimens: CheckModels) -> CheckOutcome:
    """LC28: how far hidden states move from one layer to the next, and how evenly.

    Unevenness is the standard deviation of the steps' L2 lengths over their mean.
    """
    steps = specimens.of_each(("bert", "albert"), lambda model: state_steps(_run(model, TEXT)))
    uneven = {key: float(x.std() / x.mean()) for key, x in steps.items()}
    said = {key: f"{x:.2f}" for key, x in uneven.items()}
    return CheckOutcome(
        f"unevenness of the steps: {listed(said)}",
        uneven["albert"] < uneven["bert"],
        family_name(specimens.family),
        {f"{key}_unevenness": Quantity(x, f"unevenness {x:.2f}") for key, x in uneven.items()},
    )


def state_steps(run: Run) -> np.ndarray:
    """Mean L2 length [layer] of the change that each layer makes to a token's state."""
    change = np.diff(run.hidden_states.astype(np.float64), axis=0)
    return np.linalg.norm(change, axis=-1).mean(axis=-1)


def sentiment_accuracy(specimens: CheckModels) -> CheckOutcome:
    """LC21: SST-2 accuracy of the tuned models, against always saying the commoner label."""
    return _reached(specimens, ("sst2", "accuracy", "SST-2 dev accuracy"))


def answer_overlap(specimens: CheckModels) -> CheckOutcome:
    """LC29: SQuAD F1 of the tuned models, against always answering the first three words."""
    return _reached(specimens, ("squad", "f1", "SQuAD v1.1 dev F1"))


def _reached(specimens: CheckModels, what: tuple[str, str, str]) -> CheckOutcome:
    """Whether each model's interval lies above what a guess without reading would reach."""
    task, score, called = what
    found = {spec.key: _score(specimens, spec.key, task, score) for spec in _specs(specimens)}
    said = {
        key: f"{100 * one['value']:.1f}% [{100 * one['interval'][0]:.1f}, "
        f"{100 * one['interval'][1]:.1f}]"
        for key, one in found.items()
    }
    guess = max(one["guess"] for one in found.values())
    return CheckOutcome(
        f"{called} when they were tuned, with 95% intervals: {listed(said)}; a guess that reads "
        f"nothing reaches {100 * guess:.1f}%",
        all_hold(lies_in((*one["interval"],), guess, 1) for one in found.values()),
        family_name(specimens.family),
        {key: percent(100 * one["value"], f" ({called})") for key, one in found.items()},
    )


def _specs(specimens: CheckModels) -> tuple:
    return tuple(spec for spec in family_specs(specimens.family) if spec.key in CLAIMED)


def _score(specimens: CheckModels, key: str, task: str, score: str) -> dict[str, Any]:
    """One score of a model's card.

    Raises:
        ModelUnavailable: the model has no adapter that fits.
    """
    spec = next(spec for spec in _specs(specimens) if spec.key == key)
    try:
        return fitting_card(spec, task)["scores"][score]
    except NotTuned as error:
        raise ModelUnavailable(spec, "it has no adapter for this task that fits") from error
