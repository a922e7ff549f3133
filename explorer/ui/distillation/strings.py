"""Sentences and labels of the Distillation tab."""

import re
from collections.abc import Sequence
from typing import Any

from explorer.analysis.digits import counted, nats, none_or_all, percent, side_by_side
from explorer.analysis.distillation.live import LiveReport, LiveSettings
from explorer.analysis.distillation.losses import SentenceLosses
from explorer.analysis.distillation.soft import AgreementAtLarge, SoftPair
from explorer.analysis.measures import share_interval
from explorer.models.choice.family import is_parent, parent_of
from explorer.models.specs import ModelSpec
from explorer.refusal import Sentence
from explorer.views.glossary import places
from explorer.views.markup import Markup, el, explained, finding, join, note, word

LABEL = "Distillation"
QUESTION = "How much of the teacher's knowledge did the student keep?"
QUESTION_OWN = "How close are two models' probabilities of a masked word?"
NO_PAIR = Sentence(
    "no-teacher-and-student",
    "No two of these models have a masked-LM head and one vocabulary, so there are no two "
    "predictions to compare word by word. The fold on the training loss still shows how BERT's "
    "recipe masks this text.",
)
UNKNOWN_LINEAGE = Sentence(
    "unknown-teacher",
    "The losses of the recipe are those of a student and the model that it was distilled from: "
    "{b} is not known to be distilled from {a}.",
)
CURVES: dict[str, Any] = {
    "title": "Divergence and gradient by temperature",
    "temperature": "Temperature T",
    "overlap": "Top words shared at every temperature: {1} of 1, {5} of 5, {10} of 10.",
    "divergences": "Divergence and soft loss, nats (log scale)",
    "gradients": "Gradient norm at the student's logits (log scale)",
    "names": {
        "ab": "KL(teacher ‖ student)",
        "js": "Jensen–Shannon",
        "soft_loss": "T² · KL",
        "mean": 'T² · KL with reduction="mean"',
        "gradient": "of KL",
        "soft_gradient": "of T² · KL",
    },
    "mean_switch": 'Show what PyTorch\'s kl_div(reduction="mean") would give',
    "mean_note": 'reduction="mean" divides by every element, so also by the {n} words of the '
    'vocabulary: the loss comes out {n} times too small. Use reduction="batchmean".',
    "why": "Why T²? Gradients shrink like 1/T².",
    "because": "The gradient of KL with respect to a student logit is (student − teacher "
    "probability) / T. At a high temperature the difference of the probabilities itself shrinks "
    "like 1/T, so the gradient shrinks like 1/T² (second chart); the factor T² makes up for it. "
    "Values below 10⁻⁶ are not drawn.",
}
LAB: dict[str, object] = {
    "curves": CURVES,
    "terms": places("Dark knowledge", "KL", "Jensen–Shannon", "Entropy", "logits"),
    "strip": "The sentence: choose the word to mask",
    "pick": "Masked word:",
    "hide": "Mask this word",
    "hidden": "This word is masked",
    "back": "Back to the text as typed",
    "temperature": "Temperature",
    "typed": "Temperature, typed",
    "outline": "outline: T = 1",
    "scales_label": "Bars",
    "scales": {"share": "0 to 1", "log": "log scale"},
    "presets": [
        [1, "1: plain softmax"],
        [2, "2: as in training"],
        [20, "20: nearly uniform"],
    ],
    "listed": "Words per model",
    "list": "Words sorted by the teacher's probability",
    "hard": "teacher’s top word",
    "answer": "your word",
    "rest": "all other {n} words",
    "dark_title": "Dark knowledge",
    "dark_note": "Probability not on the model's top word.\n"
    "Hard labels throw it away; a student of soft labels learns from it.",
    "measures_title": "Divergence, in nats",
    "measures": [
        ["kl_teacher_student", "KL(teacher ‖ student)", "What the student misses of the teacher"],
        ["kl_plain", "KL(teacher ‖ student), T = 1", "The same for the plain softmax"],
        ["kl_student_teacher", "KL(student ‖ teacher)", "What the teacher misses of the student"],
        ["js", "Jensen–Shannon", "Symmetric, never above ln 2 = 0.6931"],
        ["t2_kl", "T² · KL, the soft loss", "What this word adds to the training loss"],
        ["entropy_teacher", "Entropy, teacher", "0 is certain"],
        ["entropy_student", "Entropy, student", "0 is certain"],
    ],
    "beside": "Its top prediction is {first} ({p}).",
    "beside_origin": "Training and vocabulary",
    "beside_shared": "{origin}. {pieces} of the teacher's pieces are also in its vocabulary "
    "({own} of its own). At this temperature they carry {teacher_mass} of the "
    "teacher's probability and {mass} of {name}'s; nothing is renormalised.",
    "scale": "Bars: 0 to 1; outlines: T = 1.",
    "scale_log": "Bars: 10⁻⁶ to 1, log scale; outlines: T = 1.",
}
BESIDE_TITLE = "{name}, for comparison"
NO_PARTNER = "Not one piece of {name}'s vocabulary"
BESIDE_ALONE = "{{name}} was trained independently, with its own vocabulary"
BESIDE_BERT = "{{name}} was trained on its own"
BESIDE_DISTILLED = "{{name}} was distilled from {teacher}"
BESIDE_OWN = "How {{name}} was trained is not known here"
BESIDE_FITTED = (
    "This {{name}} was not trained independently: its shared layer was initialised from one of "
    "{teacher}'s and fitted to {teacher}'s layers and predictions; later it learned the words of "
    "its own vocabulary from {teacher}'s predictions too"
)


PLAIN_ROLES: dict[str, str] = {
    "2: as in training": "2: softened",
    str(LAB["dark_note"]): "Probability not on the model's top word.",
    "What this word adds to the training loss": "The same, multiplied by the square of T",
    "T² · KL, the soft loss": "T² · KL",
    CURVES["divergences"]: "Divergence, nats (log scale)",
    CURVES["because"]: CURVES["because"].replace(
        "a student logit is (student − teacher probability)",
        "a logit of {b} is (probability of {b} − of {a})",
    ),
}
"""Sentences of the lab that speak of training, and what stands there for two other models."""
_PART = re.compile(r"\b(?:[Tt]he )?(teacher|student)\b")


def in_roles(texts: Any, teacher: ModelSpec, student: ModelSpec) -> Any:  # noqa: ANN401 - JSON
    """Return texts that say teacher and student, with the models' names if they are none."""
    if is_parent(teacher, student):
        return texts
    if isinstance(texts, dict):
        return {name: in_roles(text, teacher, student) for name, text in texts.items()}
    if isinstance(texts, list):
        return [in_roles(text, teacher, student) for text in texts]
    if not isinstance(texts, str):
        return texts
    names = {"teacher": teacher.label, "student": student.label}
    plain = PLAIN_ROLES.get(texts, texts)
    plain = plain.replace("{a}", names["teacher"]).replace("{b}", names["student"])
    return _PART.sub(lambda found: names[found[1]], plain)


def roles_of(teacher: ModelSpec, student: ModelSpec) -> dict[str, str]:
    """Return what the lab calls each model after its name."""
    beside = {"beside": "for comparison"}
    is_known = is_parent(teacher, student)
    labels = {"teacher": teacher.label, "student": student.label}
    # A column may be called after its part.
    roles = {part: part if is_known and part != label else "" for part, label in labels.items()}
    return roles | beside


def no_pair() -> Markup:
    """Return that no two models can be compared, and what the tab shows instead."""
    return join(note(NO_PAIR), no_lineage())


def no_lineage() -> Markup:
    """Return the mark by which the style sheet hides what is of a teacher and its student only."""
    return el("span", class_="no-lineage", hidden=True)


def lab_texts(beside: ModelSpec | None, third: ModelSpec | None = None) -> dict[str, object]:
    """Return the lab's sentences, with the origin of the third model.

    ``third`` is the model in its column, which may have no run.
    """
    parent = parent_of(beside) if beside else None
    origin = _origin(beside).format(teacher=parent.model_label if parent else "")
    shown = beside or third
    name = shown.label if shown else ""
    return LAB | {
        "beside_shared": str(LAB["beside_shared"]).replace("{origin}", origin),
        "beside_title": BESIDE_TITLE.format(name=name),
        "no_partner": NO_PARTNER.format(name=name),
    }


def _origin(model: ModelSpec | None) -> str:
    """Return how a third model was trained, as far as that is known."""
    if model is None:
        return BESIDE_ALONE
    if model.is_own:
        return BESIDE_OWN
    if model.fitted_to:
        return BESIDE_FITTED
    if model.kind.teacher:
        return BESIDE_DISTILLED
    return BESIDE_ALONE if model.architecture.has_projection else BESIDE_BERT


def distillation_finding(
    pair: SoftPair,
    names: tuple[Markup, Markup],
    words: tuple[str, str],
    shared: int,
    roles: tuple[str, str] = ("teacher", "student"),
) -> Markup:
    """Return how close student and teacher are and their predictions; the dial updates it.

    Args:
        pair: Teacher's and student's distributions at one temperature.
        names: Names of teacher and student.
        words: Their top predictions.
        shared: Number of words that both have in their top five.
        roles: What stands before each name: ``teacher``, ``student``, or nothing.
    """
    teacher, student = (f"{role} " if role else "" for role in roles)
    first = side_by_side([float(pair.teacher.max()), float(pair.student.max())])
    t, p, q, kl = (
        el("span", value, data_soft=name)
        for name, value in (
            ("t", f"{pair.temperature:g}"),
            ("teacher", first[0]),
            ("student", first[1]),
            ("kl", nats(abs(pair.kl_teacher_student))),
        )
    )
    predictions = (
        join("both say ", word(words[0]), " (", p, " and ", q, ").")
        if words[0] == words[1]
        else join(
            *(names[0], " says ", word(words[0]), " (", p, "), "),
            *(names[1], " ", word(words[1]), " (", q, ")."),
        )
    )
    return finding(
        explained("At temperature T = ", "temperature"),
        join(t, f", {student}", names[1], " is ", kl),
        explained(" nats (KL) from", "nats", "KL"),
        join(
            f" {teacher}",
            names[0],
            f"; at every T they share {none_or_all(shared, 5)} of their top 5 words; ",
        ),
        predictions,
    )


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
    "worst": "Largest divergence at “{word}”: {kl} nats, {share} of the sentence's total.",
    "word": "{kl} nats; cosine of the last hidden states {cos}",
    "notes": [
        "L_ce = T² · KL(teacher ‖ student), token mean; L_mlm = cross-entropy on masked words, "
        "here on the chosen one; "
        "L_cos = 1 − cosine.\n"
        "L_ce is averaged over all tokens, [CLS] and [SEP] included; L_cos is of the last hidden "
        "states. Terms and weights are those of the authors' code; the paper prints no weights.",
    ],
}
CE_TWICE = (
    "At T = 2, L_ce is {all} nats over all {n} tokens and {hidden} over the {masks} "
    "masked {pieces} only.\n"
    "The recipe has a switch for that (restrict_ce_to_mask), and the bundled student was trained "
    "with it: on the second number only."
)
NO_ANSWER = "L_mlm is left out: the masked word is unknown here."
MASK_A_WORD = "Click a word above to mask it, and it is known."
NOT_ONE_PIECE = (
    "L_mlm is left out: “{word}” is not one piece of the vocabulary, and one mask stands for one "
    "piece."
)
AGREEMENT_FOLD = "Agreement: how often do both predict the same word?"
RUN_AGREEMENT = "Run both over the bundled sentences"
AGREEMENT_STOP = "Stop"
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
MASKING_SEED = "Seed"
REPLAY = "Draw again"


def masking_note(n_own: int) -> str:
    """Return the legend of the marks, and that the reader's own masks are left out."""
    if not n_own:
        return MASKING
    is_single = n_own == 1
    return MASKING + OWN_MASKS.format(
        masks="Your own [MASK] is" if is_single else f"Your own {n_own} [MASK]s are",
        them="it" if is_single else "them",
        they="it is" if is_single else "they are",
    )


def ce_twice(losses: SentenceLosses, n_masks: int) -> str:
    """Return the soft loss over all tokens and over the masked ones, which differ much."""
    if losses.ce_hidden is None:
        return ""
    at = list(losses.temperatures).index(2.0)
    return CE_TWICE.format(
        all=nats(losses.ce[at]),
        hidden=nats(losses.ce_hidden[at]),
        n=losses.kl.shape[1],
        masks=n_masks,
        pieces="piece" if n_masks == 1 else "pieces",
    )


ELSEWHERE = "Which layers of the models are alike?"


def agreement_note(
    agreement: AgreementAtLarge, labels: tuple[str, str], *, is_lineage: bool = True
) -> str:
    """Return the number of sentences, their limits and the confidence interval."""
    teacher, student = (" (teacher)", " (student)") if is_lineage else ("", "")
    low, high = share_interval(float(agreement.same_first.sum()), len(agreement))
    return (
        f"{labels[1]}{student} against {labels[0]}{teacher} on {len(agreement)} short sentences "
        "with one masked word each, which come with the explorer: too few and too simple for a "
        f"benchmark. Same top prediction: 95% CI {percent(low)} to {percent(high)}."
    )


FOLD = "Live distillation: can I watch a student learn?"
INTRO = (
    "A new student learns from the bundled mini-BERT with the recipe's own losses. One run at a "
    "time; none is saved.\n"
    "It learns on short plain sentences that come with the explorer."
)
LAYERS, START, STEPS, SEED = "Student layers", "Initialised", "Steps", "Seed"
STARTS = {"copied": "from alternate teacher layers", "random": "at random"}
TEMPERATURE = "T in the soft loss"
CE, MLM, COS = "α, soft labels", "β, masked words", "γ, hidden states"
WITH, WITHOUT = "With the teacher (α, β, γ = 5, 2, 1)", "Without the teacher (0, 2, 0)"
RUN, STOP, RESET = "Distil", "Stop", "Reset"
WAITING = "Another student is training. You are number {place} in line; the page waits."
PREPARING = "Making the student …"
CANVAS = {
    "run": "run {name}: layers {layers} ({start}), α β γ = {weights}, T = {t}, steps {steps}",
    "starts": STARTS,
    "earlier": "run",
    "total": "this run",
    "parts": {"ce": "L_ce", "mlm": "L_mlm", "cos": "L_cos"},
    "same": "same top prediction",
    "five": "of the top 5 shared",
    "found": "predicts the masked word",
    "loss_title": "Total loss, weighted",
    "parts_title": "Its parts, unweighted",
    "agree_title": "On 126 masked words of held-out sentences (shares)",
    "soft": "Your sentence at T = {t}",
    "teacher": "mini-BERT, teacher",
    "student": "the student, now",
    "step": "step",
    "progress": "Progress of the training",
    "lay_over": "Overlay an earlier run (dotted):",
}
LIVE_STOPPED = "Stopped after step {step}."


def live_sentence(settings: LiveSettings, reports: Sequence[LiveReport]) -> str:
    """Return the progress of the live training, or its result."""
    agreements = [report.agreement for report in reports if report.agreement is not None]
    losses = [report.parts["loss"] for report in reports if report.parts]
    step = reports[-1].step
    if not losses:
        return f"Step 0 of {settings.steps}: before training."
    if step < settings.steps:
        return f"Step {step} of {settings.steps}: loss {losses[-1]:.3f}."
    first, last = agreements[0], agreements[-1]
    return (
        f"In {counted(settings.steps, 'step')} the loss went from {losses[0]:.3f} to "
        f"{losses[-1]:.3f}; on held-out sentences the student's top prediction is the teacher's in "
        f"{percent(last.same_first)} of cases ({percent(first.same_first)} at the start)."
    )
