"""Sentences of the folds below the soft-probability lab."""

from explorer.analysis.distillation.agreement import AgreementAtLarge
from explorer.analysis.distillation.losses import PairLogits, SentenceLosses
from explorer.analysis.measures import share_interval

LOSSES_FOLD = "Training loss: what would training do with this sentence?"
LOSSES_TITLE = "The training loss on this sentence"
LOSSES = {
    "ce": "soft labels, L_ce",
    "mlm": "masked words, L_mlm",
    "cos": "hidden states, L_cos",
    "weights": {
        "ce": "α, weight of L_ce",
        "mlm": "β, weight of L_mlm",
        "cos": "γ, weight of L_cos",
    },
    "temperature": "T in L_ce",
    "reset": "The published values: 5, 2, 1, T = 2",
    "total": "Total loss",
    "total_without": "Total loss without L_mlm",
    "table": "The terms of the loss",
    "columns": ["term", "value (nats; L_cos has no unit)", "weight", "contribution", "share"],
    "unknown": "not counted",
    "no_cosine": "undefined",
    "strip": "KL of each token; the tallest bar is the largest",
    "head": "Where does the student fail? KL(teacher ‖ student) per token at T = {t}",
    "worst": "Largest divergence at “{word}”: {kl} nats, {share}% of the sentence's total.",
    "word": "{kl} nats; cosine of the last hidden states {cos}",
    "notes": [
        "L_ce = T² · KL(teacher ‖ student), token mean; L_mlm = cross-entropy on masked words; "
        "L_cos = 1 − cosine.\n"
        "L_ce is averaged over all tokens, [CLS] and [SEP] included; L_cos is of the last hidden "
        "states. Terms and weights are those of the authors' code; the paper prints no weights.",
    ],
}
CE_TWICE = (
    "At T = 2, L_ce is {all:.4f} nats over all {n} tokens and {hidden:.4f} over the {masks} "
    "masked {pieces} alone.\n"
    "The recipe has a switch for that (restrict_ce_to_mask), and the bundled student was trained "
    "with it: on the second number only."
)
UNLIKE_WIDTHS = (
    "L_cos is undefined: {teacher}'s hidden states have {t} dimensions, {student}'s {s}."
)
NO_ANSWER = (
    "L_mlm is left out: the masked word is unknown here. Click a word above to mask it, and it is "
    "known."
)

NOT_ONE_PIECE = (
    "L_mlm is left out: “{word}” is not one piece of the vocabulary, and one mask stands for one "
    "piece."
)

AGREEMENT_FOLD = "Agreement: how often do teacher and student predict the same word?"
RUN_AGREEMENT = "Run both over the bundled sentences"
STOP = "Stop"
STOPPED = "Stopped at {progress}."
AGREEMENT_PROGRESS = "{done} of {n} sentences"
AGREEMENT = {
    "first": "same top prediction",
    "five": "of the top 5 words shared",
    "kl": "mean KL(teacher ‖ student), nats, T = 1",
    "teacher_right": "teacher predicts the masked word",
    "student_right": "student predicts the masked word",
    "worst": "Largest divergences (click one to open it above)",
    "columns": ["sentence, masked word marked", "teacher", "student", "KL", "shared of 5"],
}

MASKING_TITLE = "Masking: which words would be masked in training?"
MASKING = (
    "15% of tokens are selected: 80% of them become [MASK], 10% a random piece, 10% stay "
    "unchanged.\n"
    "All selected tokens must be predicted. In the long run that is 12%, 1.5% and 1.5% of all "
    "tokens. This is the first round in full."
)
OWN_MASKS = " {masks} already masked: nothing is drawn from {them}, and {they} not counted."
NOTHING_TO_MASK = "No word in this text can be masked in training."
ROUNDS = "Rounds"
SEED = "Seed"
REPLAY = "Draw again"


def masking_note(n_own: int) -> str:
    """What the marks mean, and that the reader's own masks are left out."""
    if not n_own:
        return MASKING
    one = n_own == 1
    return MASKING + OWN_MASKS.format(
        masks="Your own [MASK] is" if one else f"Your own {n_own} [MASK]s are",
        them="it" if one else "them",
        they="it is" if one else "they are",
    )


def unlike_widths(pair: PairLogits) -> str:
    """Why the cosine loss has no value for this pair."""
    teacher, student = pair.teacher, pair.student
    return UNLIKE_WIDTHS.format(
        teacher=teacher.spec.label,
        student=student.spec.label,
        t=teacher.hidden_states.shape[-1],
        s=student.hidden_states.shape[-1],
    )


def ce_twice(losses: SentenceLosses, n_masks: int) -> str:
    """The soft loss over all tokens and over the hidden ones, which differ much."""
    if losses.ce_hidden is None:
        return ""
    at = list(losses.temperatures).index(2.0)
    return CE_TWICE.format(
        all=losses.ce[at],
        hidden=losses.ce_hidden[at],
        n=losses.kl.shape[1],
        masks=n_masks,
        pieces="piece" if n_masks == 1 else "pieces",
    )


ELSEWHERE = "Which teacher layers do the student's layers resemble, and come from?"


def agreement_note(found: AgreementAtLarge, labels: tuple[str, str]) -> str:
    """What the figures rest on."""
    low, high = share_interval(float(found.same_first.sum()), len(found))
    return (
        f"{labels[1]} (student) against {labels[0]} (teacher) on {len(found)} short sentences with "
        "one masked word each, which come with the explorer: too few and too simple for a "
        f"benchmark. Same top prediction: 95% CI {low:.0%} to {high:.0%}."
    )
