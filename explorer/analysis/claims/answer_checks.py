"""Live checks of answers: pair objectives, distillation, and agreement."""

from collections.abc import Iterator
from contextlib import contextmanager

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
from explorer.models.architectures import CheckModels
from explorer.models.choice.family import teacher_of
from explorer.models.forward import NO_HEAD, position_logits, run_model, tokenize
from explorer.models.hub import ModelUnavailable
from explorer.models.inside.activations import layer_cosines
from explorer.models.loading import LoadedModel
from explorer.models.run import Run
from explorer.models.task_heads import classifiers as heads
from explorer.models.task_heads.classifiers import has_pair_head
from explorer.models.tokens import spelling_of
from explorer.refusal import Sentence

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
"""Pairs of consecutive sentences; the last letters of no pair reveal their order."""
ORDERS = ("next", "random", "swapped")


def masking_shares(models: CheckModels) -> CheckOutcome:  # noqa: ARG001 - the recipe needs no network
    """Check LC13: shares of tokens masked, replaced and kept by pre-training's masking."""
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


def pair_shares(models: CheckModels) -> CheckOutcome:  # noqa: ARG001 - the recipe needs no network
    """Check LC14: share of random pairs built for NSP, and of swapped ones built for SOP."""
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
    """Draw one training example: two sentences and its label, 1 where they are not in order.

    With probability one half, NSP replaces the second by that of another pair (Devlin et al. 2019,
    section 3.1), and SOP swaps the two (Lan et al. 2019, section 3.1).
    """
    index, label = int(rng.integers(len(pairs))), int(rng.random() < 0.5)
    first, second = pairs[index]
    if not label:
        return first, second, 0
    if task == "sop":
        return second, first, 1
    other = int((index + 1 + rng.integers(len(pairs) - 1)) % len(pairs))
    return first, pairs[other][1], 1


def next_sentence_head(models: CheckModels) -> CheckOutcome:
    """Check LC15: share of next, random and swapped pairs that BERT's head classifies as next."""
    with models.leased("bert") as loaded:
        logits = {order: pair_logits(loaded, order) for order in ORDERS}
    follows = {order: float((x[:, 0] > x[:, 1]).float().mean()) for order, x in logits.items()}
    classes = logits["next"].shape[1]
    shares_text = ", ".join(f"{order} {of_few(follows[order], len(PAIRS))}" for order in ORDERS)
    return CheckOutcome(
        f"says that the second follows: {shares_text} of {len(PAIRS)} pairs, with 95% intervals",
        all_hold(_is_larger(follows[order], follows["random"]) for order in ("next", "swapped")),
        family_name(models.family),
        {
            "classes": Quantity(classes, f"{classes} classes"),
            "next": percent(100 * follows["next"], " of true pairs accepted", 0),
            "random": percent(100 * follows["random"], " of random pairs accepted", 0),
            "swapped": percent(100 * follows["swapped"], " of swapped pairs accepted", 0),
        },
    )


def sentence_order_head(models: CheckModels) -> CheckOutcome:
    """Check LC16: accuracy of ALBERT's head on ordered and swapped pairs."""
    with models.leased("albert") as loaded:
        ordered, swapped = pair_logits(loaded, "next"), pair_logits(loaded, "swapped")
    ordered_margin, swapped_margin = ordered[:, 0] - ordered[:, 1], swapped[:, 0] - swapped[:, 1]
    accuracy = float(torch.cat([ordered_margin > 0, swapped_margin < 0]).float().mean())
    ranked = float((ordered_margin > swapped_margin).float().mean())
    return CheckOutcome(
        f"{of_few(accuracy, 2 * len(PAIRS))} of {2 * len(PAIRS)} orders classified correctly; in "
        f"{of_few(ranked, len(PAIRS))} of the {len(PAIRS)} pairs the true order scores higher; "
        "with 95% intervals",
        all_hold(
            lies_in(share_interval(share * n, n), CHANCE, 1)
            for share, n in ((accuracy, 2 * len(PAIRS)), (ranked, len(PAIRS)))
        ),
        family_name(models.family),
        {"accuracy": percent(100 * accuracy, " of the orders classified correctly", 0)},
    )


def _is_larger(share: float, other: float) -> bool | None:
    """Return whether a share of pairs is larger than another; None if the pairs are too few."""
    n = len(PAIRS)
    low, high = share_interval(share * n, n), share_interval(other * n, n)
    if low[0] > high[1]:
        return True
    return False if share <= other else None


def pair_logits(loaded: LoadedModel, order: str) -> torch.Tensor:
    """Compute the pair head's logits [pair, class] of all pairs in an order; class 0 is "next".

    Raises:
        ModelUnavailable: the checkpoint has no weights for the head.
    """
    if not has_pair_head(loaded):
        raise ModelUnavailable(loaded.spec, NO_PAIR_HEAD)
    firsts, seconds = zip(*PAIRS, strict=True)
    pairs_by_order = {
        "next": (firsts, seconds),
        "swapped": (seconds, firsts),
        "random": (firsts, seconds[5:] + seconds[:5]),
    }
    texts = [
        f"{first} [SEP] {second}" for first, second in zip(*pairs_by_order[order], strict=True)
    ]
    runs = [run_model(loaded, tokenize(loaded, text)) for text in texts]
    states = [run.hidden_states[-1, 0] for run in runs]
    return torch.stack([torch.tensor(heads.pair_logits(loaded, state)) for state in states])


NO_PAIR_HEAD = Sentence("no-sentence-head", "its checkpoint has no weights for the sentence head")
OTHER_TEACHER = Sentence("other-teacher", "{student} was not distilled from {teacher}.")
TWO_VOCABULARIES = Sentence(
    "two-vocabularies", "BERT and DistilBERT have two vocabularies, so no KL compares their words."
)
N_SENTENCES = 24
TEXT, ANSWER = "He sat down in the old [MASK] and read the letter.", "chair"
CAT, PUBLISHED = "The [MASK] sat on the mat.", {"ce": 5.0, "mlm": 2.0, "cos": 1.0}
TEMPERATURE = 2.0


def _run(loaded: LoadedModel, text: str) -> Run:
    return run_model(loaded, tokenize(loaded, text))


def _filled(loaded: LoadedModel, text: str) -> Run:
    """Return the run of a text with a mask.

    Raises:
        ModelUnavailable: the checkpoint predicts no words.
    """
    if not loaded.spec.has_head:
        raise ModelUnavailable(loaded.spec, NO_HEAD)
    return _run(loaded, text)


@contextmanager
def distilled(models: CheckModels) -> Iterator[tuple[LoadedModel, LoadedModel]]:
    """Lease a family's teacher and student.

    Raises:
        NotAPair: the student was not distilled from the teacher.
    """
    with models.leased("bert") as teacher, models.leased("distilbert") as student:
        parent = teacher_of(student.spec)
        if parent is None or parent.name != teacher.spec.name:
            raise NotAPair(
                OTHER_TEACHER.format(student=student.spec.label, teacher=teacher.spec.label)
            )
        yield teacher, student


def triple_loss_parts(models: CheckModels) -> CheckOutcome:
    """Check LC17: the three losses on one sentence, and their weighted sum as the total."""
    with distilled(models) as (teacher, student):
        runs = _run(teacher, TEXT), _run(student, TEXT)
        positions = tuple(range(len(runs[0].tokens)))
        pair = PairLogits(
            *runs,
            position_logits(teacher, runs[0], positions),
            position_logits(student, runs[1], positions),
        )
        answer_id = student.tokenizer.convert_tokens_to_ids(ANSWER)
    losses = sentence_losses(pair, (answer_id,), (TEMPERATURE,))
    parts = {"ce": float(losses.ce[0]), "mlm": losses.mlm or 0.0, "cos": losses.cos or 0.0}
    total = losses.total(0, PUBLISHED)
    gap = abs(total - (5 * parts["ce"] + 2 * parts["mlm"] + parts["cos"]))
    return CheckOutcome(
        f"5 × {parts['ce']:.3f} + 2 × {parts['mlm']:.3f} + 1 × {parts['cos']:.3f} = {total:.3f} "
        f"nats at T = {TEMPERATURE:g}",
        gap < 1e-6 and all(np.isfinite(x) and x > 0 for x in parts.values()),
        family_name(models.family),
        {name: Quantity(x, f"L_{name} = {x:.3f}") for name, x in parts.items()}
        | {"gap": Quantity(gap, f"three parts add up to {total:.3f}")},
    )


def layer_alignment(models: CheckModels) -> CheckOutcome:
    """Check LC18: cosine of student and teacher states in the trained pair and in between."""
    with distilled(models) as (teacher, student):
        cosine = state_alignment(_run(teacher, TEXT), _run(student, TEXT)).cosine
    last = float(cosine[-1, -1])
    step = (cosine.shape[1] - 1) // (cosine.shape[0] - 1)
    between = [float(cosine[i, i * step]) for i in range(1, cosine.shape[0] - 1)]
    return CheckOutcome(
        f"last with last {last:.3f} (trained), every second layer in between "
        f"{', '.join(f'{x:.3f}' for x in between)} (never trained)",
        last == float(cosine[-1].max()),
        family_name(models.family),
        {"trained": Quantity(last, f"cosine {last:.3f} of the last states")},
    )


def layer_lineage(models: CheckModels) -> CheckOutcome:
    """Check LC19: the teacher layer with the most similar weights, for each student layer."""
    with distilled(models) as (teacher, student):
        lineage = weight_lineage(layer_cosines(student, teacher), student.spec.initialised_from)
    nearest = ", ".join(str(i) for i in lineage.nearest)
    origins = ", ".join(str(i) for i in lineage.initialised_from)
    return CheckOutcome(
        f"nearest teacher layers {nearest}; copied at the start from {origins} (counted from 0)",
        lineage.is_as_initialised,
        family_name(models.family),
        {"nearest": Quantity(len(set(lineage.nearest)), f"nearest {nearest}")},
    )


def fill_agreement(models: CheckModels) -> CheckOutcome:
    """Check LC20: share of 24 sentences where DistilBERT and ALBERT predict BERT's top word."""
    texts = (*(sentence["text"] for sentence in sentences()[:N_SENTENCES]), CAT)
    runs = models.of_each(CLAIMED, lambda model: [_filled(model, text) for text in texts])
    if runs["bert"][0].vocabulary != runs["distilbert"][0].vocabulary:
        raise NotAPair(TWO_VOCABULARIES)
    on_the_mat = {key: rows.pop() for key, rows in runs.items()}
    first = {key: [_first_word(run) for run in rows] for key, rows in runs.items()}
    hits = {
        key: np.array([a == b for a, b in zip(first[key], first["bert"], strict=True)])
        for key in ("distilbert", "albert")
    }
    same = {key: float(same_word.mean()) for key, same_word in hits.items()}
    kl = float(
        np.mean([_divergence(t, s) for t, s in zip(runs["bert"], runs["distilbert"], strict=True)])
    )
    rank = rank_of_word(on_the_mat["bert"], "cat")
    return CheckOutcome(
        f"the same first word as BERT: "
        f"{listed({k: of_few(x, N_SENTENCES) for k, x in same.items()})} of "
        f"{N_SENTENCES} sentences, with 95% intervals; KL to the teacher {kl:.2f} nats; "
        f"on the mat {_cat_at(rank, on_the_mat['bert'])}",
        _hits_more_often(hits["distilbert"], hits["albert"]),
        family_name(models.family),
        {f"same_{k}": percent(100 * x, " the same first word", 0) for k, x in same.items()}
        | {
            "kl": Quantity(kl, f"{kl:.2f} nats"),
            "cat_rank": Quantity(rank, _cat_at(rank, on_the_mat["bert"])),
        },
    )


def _cat_at(rank: int, run: Run) -> str:
    return f"BERT ranks cat {rank:,}" if rank <= len(run.vocabulary) else "BERT has no piece cat"


def _hits_more_often(first: np.ndarray, second: np.ndarray) -> bool | None:
    """Return whether the first hits more often, by the sentences that only one of the two hits.

    None where these are too few: the interval of the first's share of them contains one half.
    """
    wins, losses = int((first & ~second).sum()), int((second & ~first).sum())
    if wins == losses:
        return None
    return lies_in(share_interval(wins, wins + losses), CHANCE, 1)


def _first_word(run: Run) -> str:
    first = run.vocabulary[int(run.mask_logits[0].argmax())]
    return spelling_of(run.vocabulary).text(first).lower()


def _divergence(teacher: Run, student: Run) -> float:
    logs = log_softmax(teacher.mask_logits[0]), log_softmax(student.mask_logits[0])
    return float(kl_of_logs(*logs))


def rank_of_word(run: Run, word: str) -> int:
    """Return the rank of a word at the first mask, from 1; vocabulary size + 1 if unknown."""
    if word not in run.vocabulary:
        return len(run.vocabulary) + 1
    logits = run.mask_logits[0]
    return int((logits > logits[run.vocabulary.index(word)]).sum()) + 1


def layer_steps(models: CheckModels) -> CheckOutcome:
    """Check LC28: change of the hidden states from layer to layer, and its unevenness.

    Unevenness is the standard deviation of the changes' L2 norms divided by their mean.
    """
    steps = models.of_each(("bert", "albert"), lambda model: state_steps(_run(model, TEXT)))
    uneven = {key: float(x.std() / x.mean()) for key, x in steps.items()}
    texts = {key: f"{x:.2f}" for key, x in uneven.items()}
    return CheckOutcome(
        f"unevenness of the steps: {listed(texts)}",
        uneven["albert"] < uneven["bert"],
        family_name(models.family),
        {f"{key}_unevenness": Quantity(x, f"unevenness {x:.2f}") for key, x in uneven.items()},
    )


def state_steps(run: Run) -> np.ndarray:
    """Compute the mean L2 norm [layer] of each layer's change to a token's state."""
    change = np.diff(run.hidden_states.astype(np.float64), axis=0)
    return np.linalg.norm(change, axis=-1).mean(axis=-1)
