"""Sentences of the folds below the soft-probability lab."""

from explorer.analysis.distillation.agreement import AgreementAtLarge
from explorer.analysis.distillation.losses import SentenceLosses
from explorer.analysis.measures import share_interval

LOSSES_FOLD = "What would training do with this sentence?"
LOSSES_TITLE = "What it would say to the student"
LOSSES = {
    "ce": "soft labels, L_ce",
    "mlm": "hidden words, L_mlm",
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
    "table": "The parts of the loss",
    "columns": ["part", "value (nats; L_cos has no unit)", "weight", "adds", "share"],
    "unknown": "not counted",
    "strip": "KL of each token, the tallest bar is the largest",
    "head": "Where does the student fail? KL(teacher ‖ student) per token at T = {t}",
    "worst": "The student is furthest off at “{word}”: {kl} nats, {share} % of the sentence's sum.",
    "word": "{kl} nats; cosine of the last hidden states {cos}",
    "notes": [
        "L_ce = T² · KL(teacher ‖ student) averaged over all tokens, [CLS] and [SEP] too; L_mlm = "
        "cross-entropy of the student on hidden words; L_cos = 1 − cosine of the last hidden "
        "states. This is the authors' code with its published weights; the paper itself prints "
        "none.",
    ],
}
CE_TWICE = (
    "At T = 2, L_ce is {all:.4f} nats over all {n} tokens, as above, and {hidden:.4f} over the "
    "{masks} hidden {pieces} alone. The recipe has a switch for that (restrict_ce_to_mask); the "
    "bundled student was trained with it on, so that only the second number was ever its loss."
)
NO_ANSWER = (
    "L_mlm is left out: it needs the word behind the mask, which is not known here. Hide a word "
    "with a click in the sentence above and it is known."
)

NOT_ONE_PIECE = (
    "L_mlm is left out: “{word}” is not one piece of the vocabulary, and one mask stands for one "
    "piece."
)

AGREEMENT_FOLD = "How often do they agree over many sentences?"
RUN_AGREEMENT = "Run both over the bundled sentences"
STOP = "Stop"
STOPPED = "Stopped at {progress}."
AGREEMENT_PROGRESS = "{done} of {n} sentences"
AGREEMENT = {
    "first": "same first word",
    "five": "of the top 5 words shared",
    "kl": "mean KL(teacher ‖ student), nats, T = 1",
    "teacher_right": "teacher finds the hidden word",
    "student_right": "student finds the hidden word",
    "worst": "Where the student is furthest off (click one to open it above)",
    "columns": ["sentence, hidden word marked", "teacher", "student", "KL", "shared of 5"],
}

MASKING_TITLE = "Which words it would hide"
MASKING = (
    "Each token is chosen with probability 15 %; of the chosen, 80 % become [MASK], 10 % a random "
    "piece and 10 % stay as they are, but must be predicted all the same. So in the long run 12.0, "
    "1.5 and 1.5 % of all tokens. This is the first round in full."
)
OWN_MASKS = " {masks} hidden already: nothing is drawn from {them}, and {they} not counted."
ROUNDS = "Rounds"
SEED = "Seed"
REPLAY = "Hide again"


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


def ce_twice(losses: SentenceLosses, n_masks: int) -> str:
    """The soft loss over all tokens and over the hidden ones, which differ much."""
    if losses.ce_hidden is None:
        return ""
    at = list(losses.temperatures).index(2.0)
    return CE_TWICE.format(
        all=losses.ce[at],
        hidden=losses.ce_hidden[at],
        n=len(losses.cosine),
        masks=n_masks,
        pieces="piece" if n_masks == 1 else "pieces",
    )


def agreement_note(found: AgreementAtLarge, labels: tuple[str, str]) -> str:
    """What the figures rest on."""
    low, high = share_interval(float(found.same_first.sum()), len(found))
    return (
        f"{labels[1]} (student) against {labels[0]} (teacher) on {len(found)} short sentences with "
        "one hidden word each, which come with the explorer; too few and too plain for a "
        f"benchmark: the 95 % interval of the same first word is {low:.0%} to {high:.0%}."
    )
