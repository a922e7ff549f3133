"""Sentences of the distillation tab."""

from explorer.analysis.digits import none_or_all, probability, side_by_side
from explorer.analysis.distillation.soft import SoftPair
from explorer.models.choice.family import parent_of
from explorer.models.kinds import label_of
from explorer.models.specs import ModelSpec
from explorer.views.glossary import places
from explorer.views.markup import Markup, el, explained, finding, join, note, word

LABEL = "Distillation"
QUESTION = "How much of the teacher's knowledge did the student keep?"
NO_MASK = "The text has no [MASK]: put one where teacher and student are to be compared."
TOO_MANY_MASKS = "The text has {found} masks; at most {limit} are compared at once."
CURVES = {
    "title": "How temperature changes the divergence and the gradient",
    "temperature": "Temperature T",
    "overlap": "The lists share {1} of the top 1, {5} of the top 5 and {10} of the top 10, at "
    "every temperature.",
    "divergences": "Divergence from the teacher and soft loss, nats (log scale)",
    "gradients": "Gradient norm with respect to the student's logits (log scale)",
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
    "why": "Why T²? It makes up for gradients that shrink like 1/T² (second chart).",
    "because": "The gradient of KL with respect to a student logit is (student − teacher "
    "probability) / T. At a high temperature the difference of the probabilities itself shrinks "
    "like 1/T, so the gradient shrinks like 1/T²; the factor T² compensates. Values "
    "below 10⁻⁶ are not drawn.",
}
LAB: dict[str, object] = {
    "curves": CURVES,
    "terms": places("Dark knowledge", "KL", "Jensen–Shannon", "Entropy", "logits"),
    "strip": "The sentence: choose the word to mask",
    "pick": "Masked word (click another to mask it here):",
    "hide": "Mask this word",
    "hidden": "This word is masked",
    "back": "Back to the text as typed",
    "temperature": "Temperature",
    "typed": "Temperature, typed",
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
        ["kl_student_teacher", "KL(student ‖ teacher)", "What the teacher misses of the student"],
        ["js", "Jensen–Shannon (at most 0.6931)", "Symmetric, never above ln 2"],
        ["t2_kl", "T² · KL, the soft loss", "What this word adds to the training loss"],
        ["entropy_teacher", "Entropy, teacher", "0 is certain"],
        ["entropy_student", "Entropy, student", "0 is certain"],
    ],
    "beside": "Its top prediction is {first} ({p}).",
    "beside_origin": "Its training, and what the vocabularies share",
    "beside_shared": "{origin}. {pieces} of the teacher's pieces are also in its vocabulary "
    "({own} of its own). At this temperature they carry {teacher_mass} of the "
    "teacher's probability and {mass} of {name}'s; nothing is renormalised.",
    "scale": "Bars run from 0 to 1; outlines: T = 1.",
    "scale_log": "Bars run from 10⁻⁶ to 1 on a log scale; outlines: T = 1.",
}


BESIDE_TITLE = "{name}, for comparison"
NO_PARTNER = "Not one piece of {name}'s vocabulary"
BESIDE_ALONE = "{{name}} was trained independently, with its own vocabulary"
BESIDE_FITTED = (
    "This {{name}} was not trained independently: its shared layer was initialised from one of "
    "{teacher}'s and fitted to {teacher}'s layers and predictions; later it learned the words of "
    "its own vocabulary from {teacher}'s predictions too"
)


def lab_texts(beside: ModelSpec | None) -> dict[str, object]:
    """The lab's sentences, with how the model beside the pair came to be."""
    fitted = beside is not None and beside.fitted_to
    teacher = beside.prefix + label_of(beside.fitted_to) if beside else ""
    origin = BESIDE_FITTED.format(teacher=teacher) if fitted else BESIDE_ALONE.format()
    name = beside.label if beside else label_of("albert")
    return LAB | {
        "beside_shared": str(LAB["beside_shared"]).replace("{origin}", origin),
        "beside_title": BESIDE_TITLE.format(name=name),
        "no_partner": NO_PARTNER.format(name=name),
    }


def lineage_note(teacher: ModelSpec, student: ModelSpec) -> Markup | str:
    """Whether this student learned from this teacher, where it did not."""
    parent = parent_of(student)
    if parent == teacher:
        return ""
    if parent is None:
        return note(f"What {student.label} was distilled from is not known here.")
    return note(f"{student.label} was distilled from {parent.label}, not from {teacher.label}.")


def distillation_finding(
    pair: SoftPair, names: tuple[Markup, Markup], words: tuple[str, str], shared: int
) -> Markup:
    """Say how close the student is to the teacher, and what each predicts; the dial moves it.

    Args:
        pair: Both at one temperature.
        names: Teacher and student.
        words: Their top predictions.
        shared: How many of their top five words are the same.
    """
    first = side_by_side([float(pair.teacher.max()), float(pair.student.max())])
    t, p, q, kl = (
        el("span", shown, data_soft=name)
        for name, shown in (
            ("t", f"{pair.temperature:g}"),
            ("teacher", first[0]),
            ("student", first[1]),
            ("kl", probability(abs(round(pair.kl_teacher_student, 9)))),
        )
    )
    said = (
        join("both say ", word(words[0]), " (", p, " and ", q, ").")
        if words[0] == words[1]
        else join(
            *(names[0], " says ", word(words[0]), " (", p, "), "),
            *(names[1], " ", word(words[1]), " (", q, ")."),
        )
    )
    return finding(
        explained("At temperature T = ", "temperature"),
        join(t, ", student ", names[1], " is ", kl),
        explained(" nats (KL) from", "nats", "KL"),
        join(
            " teacher ",
            names[0],
            f", and they share {none_or_all(shared, 5)} of their top 5 words; ",
        ),
        said,
    )
