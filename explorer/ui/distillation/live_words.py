"""Sentences of the live distillation."""

from explorer.analysis.digits import counted
from explorer.analysis.distillation.live import LiveReport, LiveSettings

FOLD = "Live distillation: can I watch a student learn?"
INTRO = (
    "A new student learns from the bundled BERT with the recipe's own losses. One run at a time; "
    "none is saved.\n"
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
    "teacher": "BERT, teacher",
    "student": "the student, now",
    "step": "step",
    "progress": "Progress of the training",
    "lay_over": "Overlay an earlier run (dotted):",
    "stopped": "Stopped after step {step}.",
}


def live_sentence(settings: LiveSettings, reports: list[LiveReport]) -> str:
    """Where the run is, or what it came to."""
    exams = [report.agreement for report in reports if report.agreement is not None]
    losses = [report.parts["loss"] for report in reports if report.parts]
    step = reports[-1].step
    if not losses:
        return f"Step 0 of {settings.steps}: before training."
    if step < settings.steps:
        return f"Step {step} of {settings.steps}: loss {losses[-1]:.2f}."
    first, last = exams[0], exams[-1]
    return (
        f"In {counted(settings.steps, 'step')} the loss went from {losses[0]:.2f} to "
        f"{losses[-1]:.2f}; on held-out sentences the student's top prediction is the teacher's in "
        f"{last.same_first:.0%} of cases, at the start in {first.same_first:.0%}."
    )
