"""Sentences of the distillation tab."""

from explorer.analysis.distillation.soft import SoftPair
from explorer.models.kinds import label_of
from explorer.models.specs import ModelSpec
from explorer.views.glossary import places
from explorer.views.markup import Markup, explained, finding, word

LABEL = "Distillation"
QUESTION = "How much of the teacher's knowledge did the student keep?"
ELSEWHERE = (
    "Which teacher layers the student's layers resemble, and from which they were copied, stands "
    "in Depth: “Which layers of the models see words alike?”"
)
TOO_MANY_MASKS = "The text has {found} masks; at most {limit} are compared at once."
CURVES = {
    "title": "Every measure over temperature",
    "overlap": "Both lists share {1} of the top 1, {5} of the top 5 and {10} of the top 10. This "
    "holds at every temperature: dividing all logits by T never changes an order.",
    "divergences": "Divergences (nats, log scale)",
    "entropies": "Entropy (nats; the top of the chart is ln of the vocabulary)",
    "loss": "The soft loss (log scale)",
    "gradients": "Length of its gradient by the student's logits (log scale)",
    "names": {
        "ab": "KL(teacher ‖ student)",
        "ba": "KL(student ‖ teacher)",
        "js": "Jensen–Shannon",
        "ha": "teacher",
        "hb": "student",
        "soft_loss": "T² · KL",
        "mean": 'T² · KL with reduction="mean"',
        "gradient": "of KL",
        "soft_gradient": "of T² · KL",
    },
    "mean_switch": 'Show what PyTorch\'s kl_div(reduction="mean") would give',
    "mean_note": 'reduction="mean" divides by every element, so also by the {n} words of the '
    'vocabulary: the loss comes out {n} times too small. The right one is reduction="batchmean".',
    "why": "Why T²? The gradient of KL by one student logit is (student − teacher probability) / "
    "T. At a high temperature the difference of the probabilities itself shrinks like 1/T, so the "
    "gradient shrinks like 1/T²; the factor T² brings it back. The last chart measures this.",
}
LAB: dict[str, object] = {
    "curves": CURVES,
    "terms": places("Dark knowledge", "KL", "Jensen–Shannon", "Entropy", "logits"),
    "strip": "The sentence: choose the word to hide",
    "pick": "Hidden word (click another to hide it here):",
    "hide": "Hide this word",
    "hidden": "This word is hidden",
    "back": "Back to the text as it is",
    "temperature": "Temperature",
    "presets": [
        [1, "1: as the models are"],
        [2, "2: as in training"],
        [20, "20: nearly flat"],
    ],
    "listed": "Words from each list",
    "list": "Words by the teacher's probability",
    "hard": "teacher’s choice",
    "answer": "your word",
    "rest": "all other {n} words",
    "dark_title": "Dark knowledge",
    "dark_note": "Probability outside the model's own first choice. A hard label throws the "
    "teacher's away; a student of soft labels learns from it.",
    "measures_title": "How far apart, in nats",
    "measures": [
        ["kl_teacher_student", "KL(teacher ‖ student)", "What the student misses of the teacher"],
        ["kl_student_teacher", "KL(student ‖ teacher)", "What the teacher misses of the student"],
        ["js", "Jensen–Shannon (at most 0.6931)", "Symmetric, never above ln 2"],
        ["t2_kl", "T² · KL, the soft loss", "The part of the training loss this word adds"],
        ["entropy_teacher", "Entropy, teacher", "0 is certain"],
        ["entropy_student", "Entropy, student", "0 is certain"],
    ],
    "beside": "{origin}; it stands here for comparison. "
    "Its first choice is {first} ({p}). {pieces} of the teacher's pieces exist in its vocabulary "
    "({own} of its own). At this temperature they carry {teacher_mass} of the teacher's "
    "probability and {mass} of {name}'s; nothing is rescaled.",
    "sentence": "At {t}, {teacher} gives {word} {p} and leaves {dark} to every other word; "
    "{student} leaves {other} outside its own first choice.",
    "scale": "Probabilities over the full vocabulary; a full bar is {max}. Temperature never "
    "changes the order of a model's words, only how much the later ones count.",
}


BESIDE_TITLE = "{name}, beside the pair"
NO_PARTNER = "Not one piece of {name}'s vocabulary"
BESIDE_ALONE = "{{name}} learned alone, with its own vocabulary"
BESIDE_FITTED = (
    "This {{name}} did not learn alone: its shared layer began as one of {teacher}'s and was "
    "fitted to {teacher}'s layers and guesses; later it learned the words of its own vocabulary "
    "from {teacher}'s guesses too"
)


def lab_texts(beside: ModelSpec | None) -> dict[str, object]:
    """The lab's sentences, with how the model beside the pair came to be."""
    fitted = beside is not None and beside.fitted_to
    teacher = beside.prefix + label_of(beside.fitted_to) if beside else ""
    origin = BESIDE_FITTED.format(teacher=teacher) if fitted else BESIDE_ALONE.format()
    name = beside.label if beside else label_of("albert")
    return LAB | {
        "beside": str(LAB["beside"]).replace("{origin}", origin),
        "beside_title": BESIDE_TITLE.format(name=name),
        "no_partner": NO_PARTNER.format(name=name),
    }


def distillation_finding(
    pair: SoftPair, names: tuple[Markup, Markup], words: tuple[str, str]
) -> Markup:
    """The tab's one sentence: do the first answers agree, and how far apart are the two?"""
    teacher, student = names
    p, q = f"{pair.teacher.max():.3f}", f"{pair.student.max():.3f}"
    apart = f"{pair.kl_teacher_student:.2f} nats apart at temperature 1."
    distance = explained(apart, "nats", "temperature")
    if words[0] == words[1]:
        return finding(
            "Teacher ",
            teacher,
            " and student ",
            student,
            " both say ",
            word(words[0]),
            f" ({p} and {q}), ",
            distance,
        )
    return finding(
        "Teacher ",
        teacher,
        " says ",
        word(words[0]),
        f" ({p}), student ",
        student,
        " says ",
        word(words[1]),
        f" ({q}); they are ",
        distance,
    )
