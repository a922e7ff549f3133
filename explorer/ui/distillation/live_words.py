"""Sentences of the live distillation."""

from explorer.analysis.distillation.live import LiveReport, LiveSettings

FOLD = "Can I watch a student learn?"
INTRO = (
    "A fresh student learns from the bundled BERT on short plain sentences that come with the "
    "explorer. The recipe's own losses; every run is made for you, one at a time, and forgotten."
)
LAYERS, START, STEPS, SEED = "Student layers", "It starts", "Steps", "Seed"
STARTS = {"copied": "from alternate teacher layers", "random": "at random"}
TEMPERATURE = "T in the soft loss"
CE, MLM, COS = "α, soft labels", "β, hidden words", "γ, hidden states"
WITH, WITHOUT = "With the teacher: 5, 2, 1", "Without it: 0, 2, 0"
RUN, STOP, RESET = "Distil", "Stop", "Reset"
WAITING = "Another student is being taught. You are number {place} in line; the page waits."
PREPARING = "Making the student …"
CANVAS = {
    "run": "run {name}: {layers} layers {start}, α β γ = {weights}, T = {t}, {steps} steps",
    "starts": STARTS,
    "earlier": "run",
    "total": "this run",
    "parts": {"ce": "L_ce", "mlm": "L_mlm", "cos": "L_cos"},
    "same": "same first word",
    "five": "of the top 5 shared",
    "found": "finds the hidden word",
    "loss_title": "Total loss, weighted",
    "parts_title": "Its parts, unweighted",
    "agree_title": "On 126 words of sentences it is never taught (shares)",
    "soft": "Your sentence at T = {t}",
    "teacher": "BERT, teacher",
    "student": "the student, now",
    "step": "step",
    "progress": "Progress of the training",
    "lay_over": "Lay an earlier run over this one (dotted):",
    "stopped": "Stopped after step {step}.",
}


def live_sentence(settings: LiveSettings, reports: list[LiveReport]) -> str:
    """Where the run is, or what it came to."""
    exams = [report.agreement for report in reports if report.agreement is not None]
    losses = [report.parts["loss"] for report in reports if report.parts]
    step = reports[-1].step
    if not losses:
        return f"Step 0 of {settings.steps}: before any teaching."
    if step < settings.steps:
        return f"Step {step} of {settings.steps}: loss {losses[-1]:.2f}."
    first, last = exams[0], exams[-1]
    return (
        f"In {settings.steps} steps the loss went from {losses[0]:.2f} to {losses[-1]:.2f}; on "
        f"sentences it was never taught, the student's first word is the teacher's in "
        f"{last.same_first:.0%} of cases; at the start it was {first.same_first:.0%}."
    )
