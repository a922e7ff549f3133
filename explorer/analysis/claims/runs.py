"""Live checks of what the three models do with the same text: losses, layers, answers."""

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from explorer.analysis.claims.measured import (
    CLAIMED,
    CheckOutcome,
    Quantity,
    family_name,
    listed,
    of_few,
    percent,
)
from explorer.analysis.depth.lineage import weight_lineage
from explorer.analysis.distillation.layers import state_alignment
from explorer.analysis.distillation.losses import PairLogits, sentence_losses
from explorer.analysis.distillation.soft import NotAPair
from explorer.analysis.measures import kl_of_logs, log_softmax, share_interval
from explorer.assets import sentences
from explorer.models.check_models import CheckModels
from explorer.models.choice.family import teacher_of
from explorer.models.forward import position_logits, run_model, tokenize
from explorer.models.inside.lineage import layer_cosines
from explorer.models.loading import LoadedModel
from explorer.models.run import Run
from explorer.models.spelling import spelling_of

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
