"""Charts of the Distillation tab: soft probabilities, losses, agreement, masking, live run."""

import base64
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from explorer.analysis.distillation.live import PARTS, LiveReport, LiveSettings
from explorer.analysis.distillation.losses import (
    KEPT,
    LABELS,
    LEFT,
    MASKED,
    OUTCOME_SHARES,
    SWAPPED,
    MaskedText,
    MaskingSimulation,
    SentenceLosses,
)
from explorer.analysis.distillation.soft import (
    AgreementAtLarge,
    HiddenWord,
    centred,
    shared_vocabulary,
)
from explorer.analysis.measures import top_ids
from explorer.analysis.records import Records, unrounded
from explorer.models.run import Run, answer_id, named_only
from explorer.models.tokens import MASK, Word, spelling_of, split_words
from explorer.views.chart import figure_json, line
from explorer.views.markup import Markup, el, join, note, script_json, table
from explorer.views.theme import LOSSES

if TYPE_CHECKING:
    import plotly.graph_objects as go


WORST = 12


def agreement_canvas(
    agreement: AgreementAtLarge,
    sentences: Sequence[Mapping[str, str]],
    vocabulary: tuple[str, ...],
    texts: Mapping[str, object],
    ran: Mapping[str, str],
) -> str:
    """Return the JSON of mean agreement and of the sentences with the largest divergence.

    ``ran`` has the models, device and precision, for files: the page may show others by then.
    """
    worst = [
        {
            "text": sentences[i]["text"],
            "answer": sentences[i]["answer"],
            "opens": opened_by(sentences[i]),
            "teacher": shown_word(vocabulary, int(agreement.teacher_first[i])),
            "student": shown_word(vocabulary, int(agreement.student_first[i])),
            "kl": float(agreement.kl[i]),
            "shared": int(agreement.shared_five[i]),
        }
        for i in agreement.worst[:WORST]
    ]
    return script_json(
        {
            "first": float(agreement.same_first.mean()),
            "five": float(agreement.shared_five.mean() / 5),
            "kl": float(agreement.kl.mean()),
            "teacher_right": float(agreement.teacher_right.mean()),
            "student_right": float(agreement.student_right.mean()),
            "worst": worst,
            "texts": dict(texts),
            "ran": dict(ran),
        }
    )


def opened_by(sentence: Mapping[str, str]) -> dict[str, object]:
    """Return the text and the index of the hidden word that open a sentence in the lab."""
    words = split_words(sentence["text"])
    return {
        "text": sentence["text"].replace(MASK, sentence["answer"]),
        "word": next(i for i, word in enumerate(words) if word.is_mask),
    }


def progress_canvas(done: int | None, n: int, sentence: str) -> str:
    """Return the progress over the sentences; None is done of a run that was stopped."""
    return script_json({"done": done, "n": n, "sentence": sentence})


CURVES_HEIGHT, STEPS = 360, 81
TICKS = (0.05, 0.2, 0.5, 1, 2, 5, 20)
ALWAYS = (1.0, 2.0)
"""Temperatures that always have a point: 1 as the models are, 2 as in training."""
LOOKS: dict[str, dict[str, Any]] = {
    "soft_loss": {"color": LOSSES["ce"], "width": 4.5},
    "soft_gradient": {"color": LOSSES["ce"], "width": 4.5},
    "ab": {"dash": "dot", "width": 2.25},
    "gradient": {"dash": "dot", "width": 2.25},
    "js": {"color": LOSSES["mlm"], "width": 2.25},
    "mean": {"color": LOSSES["cos"], "width": 2.25, "dash": "dash"},
}
"""Line styles: wide below dotted, so that both are visible where they coincide."""


def temperature_figures(ends: tuple[float, float], texts: Mapping[str, Any]) -> "list[go.Figure]":
    """Draw divergences and gradients over temperature without values.

    The browser has the logits and computes each trace by its ``meta``. The last trace is a marker
    on every line at the chosen temperature; the shape is a vertical line there.
    """
    steps = np.geomspace(*ends, STEPS).tolist()
    temperatures = sorted({*steps, *ALWAYS})
    charts = {
        "divergences": ("soft_loss", "ab", "js", "mean"),
        "gradients": ("soft_gradient", "gradient"),
    }
    return [_figure(temperatures, names, texts[title], texts) for title, names in charts.items()]


def _figure(
    temperatures: list[float], names: tuple[str, ...], title: str, texts: Mapping[str, Any]
) -> "go.Figure":
    import plotly.graph_objects as go

    figure = go.Figure(layout={"height": CURVES_HEIGHT, "hovermode": "x unified"})
    for name in names:
        curve = line(temperatures, [], texts["names"][name], line=LOOKS[name], meta=name)
        figure.add_trace(curve.update(visible=name != "mean", hovertemplate="%{y:.4g}"))
    figure.add_scatter(mode="markers", marker_size=9, showlegend=False, hoverinfo="skip")
    figure.add_vline(ALWAYS[0], line_width=1.25)
    figure.update_layout(title=title)
    figure.update_xaxes(type="log", tickvals=TICKS, ticktext=[f"{t:g}" for t in TICKS])
    figure.update_xaxes(title=texts["temperature"], hoverformat=".3~g")
    figure.update_yaxes(type="log", dtick=1)
    return figure


LIVE_HEIGHT = 300
AGREEMENTS = ("same_first", "shared_five", "found")


def live_canvas(
    settings: LiveSettings,
    reports: Sequence[LiveReport],
    words: Sequence[str],
    teacher: np.ndarray,
    texts: Mapping[str, object],
) -> str:
    """Return the JSON of a live run.

    Args:
        settings: The run's settings.
        reports: All reports so far.
        words: The watched words of the reader's sentence.
        teacher: The teacher's probabilities of them at the run's temperature.
        texts: The chart's texts, with ``sentence`` for the progress and ``done``.
    """
    trained = [report for report in reports if report.parts]
    exams = [report for report in reports if report.agreement is not None]
    steps, exam_steps = ([report.step for report in subset] for subset in (trained, exams))
    parts = {p: unrounded(np.array([r.parts[p] for r in trained])) for p in PARTS}
    agreement = {n: [round(getattr(r.agreement, n), 5) for r in exams] for n in AGREEMENTS}
    figures = live_figures((steps, parts), (exam_steps, agreement), texts["texts"])  # type: ignore[arg-type]
    for figure in figures:  # so that the axis covers the whole run from the start
        figure.update_xaxes(autorangeoptions={"include": [0, settings.steps]})
    return script_json(
        {
            "settings": asdict(settings),
            "steps": steps,
            "parts": parts,
            "exams": exam_steps,
            "agreement": agreement,
            "figures": [figure_json(figure) for figure in figures],
            "words": list(words),
            "teacher": unrounded(teacher),
            "first": _soft(reports[0]),
            "student": _soft(reports[-1]),
            **texts,
        }
    )


Course = tuple[Sequence[int], Mapping[str, Sequence[float]]]
"""Steps, and the values of named measures at each of them."""


def live_figures(
    losses: Course, evaluations: Course, texts: Mapping[str, Any]
) -> "list[go.Figure]":
    """Draw agreement, loss and the parts of the loss over the steps so far."""
    import plotly.graph_objects as go

    named = dict(zip(AGREEMENTS, (texts["same"], texts["five"], texts["found"]), strict=True))
    charts = (
        (texts["agree_title"], evaluations, named),
        (texts["loss_title"], losses, {"loss": texts["total"]}),
        (texts["parts_title"], losses, texts["parts"]),
    )
    figures = []
    for title, (steps, values), names in charts:
        figure = go.Figure(layout={"title": title, "height": LIVE_HEIGHT, "hovermode": "x unified"})
        for (key, name), colour in zip(names.items(), LOSSES.values(), strict=False):
            curve = line(steps, values[key], name, mode="lines+markers", line_color=colour)
            figure.add_trace(curve.update(marker_size=5, hovertemplate="%{y:.4~g}"))
        figure.update_xaxes(title=texts["step"], rangemode="tozero")
        figure.update_yaxes(rangemode="tozero")
        figures.append(figure)
    figures[0].update_yaxes(range=[0, 1.02])
    return figures


def waiting_canvas(sentence: str) -> str:
    """Return the JSON of a run that waits in the queue."""
    return script_json({"waiting": sentence})


def _soft(report: LiveReport) -> list[float]:
    return [] if report.soft is None else unrounded(report.soft)


def distillation_losses(
    losses: SentenceLosses, teacher: Run, position: int, answer: int, texts: Mapping[str, object]
) -> str:
    """Return the JSON of the losses at every temperature step, and the KL of each token.

    ``position`` is that of the mask, ``answer`` the hidden token's id, -1 where that is unknown.
    """
    spelling = spelling_of(teacher.vocabulary)
    return script_json(
        {
            "temperatures": [float(t) for t in losses.temperatures],
            "ce": unrounded(losses.ce),
            "mlm": losses.mlm,
            "cos": losses.cos,
            "kl": unrounded(losses.kl),
            "cosine": None if losses.cosine is None else unrounded(losses.cosine),
            "tokens": [spelling.word(piece) for piece in teacher.tokens.pieces],
            "place": position,
            "answer": answer if answer >= 0 else None,
            "texts": dict(texts),
        }
    )


LIMITS = {
    MASKED: 15 * OUTCOME_SHARES[0],
    SWAPPED: 15 * OUTCOME_SHARES[1],
    KEPT: 15 * OUTCOME_SHARES[2],
    LEFT: 85.0,
}
"""Expected share of each fate, in percent of all tokens."""
CLASSES = {MASKED: "dm-masked", SWAPPED: "dm-swapped", KEPT: "dm-kept"}


def masking_html(masked: MaskedText, sentence: str) -> Markup:
    """Draw the first round in full, and the shares of all rounds with the expected ones.

    ``sentence`` explains the marks.
    """
    simulation = masked.simulation
    fates = zip(simulation.outcomes, masked.replacements, strict=True)
    words = [
        el("span", piece, class_="dm-own") if is_own else _word(piece, *next(fates))
        for piece, is_own in masked.pieces
    ]
    text = join(*(part for word in words for part in (word, " ")))
    return el("div", el("p", text, class_="dm-text"), note(sentence), _counters(simulation))


def masking_records(masked: MaskedText) -> Records:
    """Return the fates over all rounds."""
    simulation = masked.simulation
    rows = [
        [LABELS[fate], simulation.counts[fate], simulation.shares[fate], limit / 100]
        for fate, limit in LIMITS.items()
    ]
    state = {"rounds": simulation.rounds, "seed": simulation.seed}
    constants = {name.upper(): value for name, value in state.items()}
    constants |= {"TOKENS": len(simulation.outcomes), "POOL": masked.n_candidates}
    header = {"models": None, "state": state}
    columns = ("token", "count", "share_of_all_tokens", "tends_to")
    return Records(columns, rows, header, constants)


def _word(piece: str, outcome: int, replacement: str) -> Markup:
    outcome = int(outcome)
    if outcome == LEFT:
        return el("span", piece)
    text = {MASKED: "[MASK]", SWAPPED: replacement, KEPT: piece}[outcome]
    return el("span", text, el("small", f"{LABELS[outcome]}: {piece}"), class_=CLASSES[outcome])


def _counters(simulation: MaskingSimulation) -> Markup:
    rows: list[list[str | Markup]] = [
        [
            LABELS[fate],
            f"{simulation.counts[fate]:,}",
            f"{simulation.shares[fate]:.3%}",
            f"{limit:.1f}%",
        ]
        for fate, limit in LIMITS.items()
    ]
    rounds = "1 round" if simulation.rounds == 1 else f"{simulation.rounds:,} rounds"
    caption = f"{rounds}, {simulation.counts.sum():,} tokens seen, seed {simulation.seed}"
    return table(["token", "count", "share of all tokens", "tends to"], rows, caption)


LISTED = 20
"""The longest top list that the reader can choose."""


def distillation_lab(
    hidden: HiddenWord,
    words: Sequence[Word],
    selected: int,
    texts: Mapping[str, object],
    roles: Mapping[str, str],
) -> str:
    """Return the lab's JSON: every model's logits as float32, and the words that may be listed.

    These are both top lists, the answer, and the third model's top word where the teacher has it.

    Args:
        hidden: The runs and the mask.
        words: The words of the sentence, which can be hidden.
        selected: Index of the hidden word.
        texts: The lab's texts and further top-level values.
        roles: What each model is called after its name: ``teacher``, ``student``, ``beside``.
    """
    teacher, student = hidden.teacher, hidden.student
    tops = {
        run.spec.key: top_ids(named_only(hidden.logits(run), run.vocabulary), LISTED)
        for run in (teacher, student)
    }
    answer = [hidden.answer] if hidden.answer >= 0 else []
    models = [
        _model(hidden, run, role, roles) | {"top": tops[run.spec.key].tolist()}
        for run, role in ((teacher, "teacher"), (student, "student"))
    ]
    if hidden.third is not None:
        third = _third_model(hidden, hidden.third)
        models.append(_model(hidden, hidden.third, "beside", roles) | third)
        answer += [i for i in (third["first_here"],) if i >= 0]
    listed = np.unique(np.concatenate([*tops.values(), np.array(answer, np.int64)]))
    return script_json(
        {
            "words": strip_words(words),
            "selected": selected,
            "models": models,
            "names": {int(i): shown_word(teacher.vocabulary, int(i)) for i in listed},
            "answer": {"id": hidden.answer},
            **texts,
        }
    )


def strip_words(words: Sequence[Word]) -> list[dict[str, object]]:
    """Return the words of a sentence; masks and words with an alphanumeric start are clickable."""
    return [
        {"text": "▢" if w.is_mask else w.text, "clickable": w.is_mask or w.text[0].isalnum()}
        for w in words
    ]


def shown_word(vocabulary: tuple[str, ...], i: int) -> str:
    """Return a token in readable spelling."""
    return spelling_of(vocabulary).word(vocabulary[i])


def packed(array: np.ndarray) -> str:
    """Return an array as base64 of its little-endian bytes."""
    return base64.b64encode(array.astype(array.dtype.newbyteorder("<")).tobytes()).decode()


def _model(hidden: HiddenWord, run: Run, role: str, roles: Mapping[str, str]) -> dict[str, object]:
    return {
        "key": run.spec.key,
        "label": run.spec.label,
        "role_key": role,
        "role": ", ".join(filter(None, (run.spec.label, roles[role]))),
        "beside": role == "beside",
        "logits": packed(centred(hidden.logits(run))),
    }


def _third_model(hidden: HiddenWord, run: Run) -> dict[str, Any]:
    shared = shared_vocabulary(hidden.teacher.vocabulary, run.vocabulary)
    first = answer_id(hidden.logits(run), run.vocabulary)
    here = np.flatnonzero(shared.partner == first)
    return {
        "partner": packed(shared.partner),
        "share_first": shared.share_first,
        "share_second": shared.share_second,
        "first_id": first,
        "first_here": int(here[0]) if here.size else -1,
        "first": shown_word(run.vocabulary, first),
    }
