"""The distillation tab's handlers on random models: values, cards and refusals, with no server."""

import json
import re
import threading
from dataclasses import replace

import gradio as gr
import numpy as np
import pytest

from explorer.analysis.distillation.live import LiveAgreement, LiveReport, LiveSettings
from explorer.analysis.distillation.soft import agreement_at_large, soft_pair
from explorer.context import configure
from explorer.links.page_state import PageState
from explorer.models.hub import ModelUnavailable
from explorer.models.specs import MINI
from explorer.refusal import Refusal
from explorer.scheduling.job_queue import JobUpdate
from explorer.serving.start import parse_flags
from explorer.ui.distillation import folds, runs, strings
from explorer.ui.distillation import tab as distillation
from explorer.ui.distillation.runs import focus_of
from explorer.ui.distillation.strings import live_sentence
from explorer.ui.kit import jobs
from explorer.ui.kit.jobs import Progress, handler
from explorer.ui.shell.tabs import values_of
from explorer.views.distillation.agreement import agreement_canvas, opened_by
from tests.markup import every, plain
from tests.tiny_models import make_bert, save
from tests.waiting import until

STATE = PageState(text="the cat sat on the [MASK].")


def test_the_headline_names_both_models_and_the_distance(tiny_family):
    finding, lab = values_of(distillation, STATE)
    named = [(one["data-model"], one.text()) for one in every(finding, data_model=...)]
    teacher, student = ("bert", "mini-BERT"), ("distilbert", "mini-DistilBERT")
    assert named == [student, teacher, teacher, student]
    for temperature in (1.0, 2.0, 7.5):
        said = values_of(distillation, replace(STATE, temperature=temperature))[0]
        pair = soft_pair(
            tiny_family.run("bert", STATE.text),
            tiny_family.run("distilbert", STATE.text),
            0,
            temperature,
        )
        text = plain(said)
        kl = f"{pair.kl_teacher_student:.3f}"
        assert text.startswith(
            f"At temperature T = {temperature:g}, student mini-DistilBERT is {kl} nats (KL) from "
            "teacher mini-BERT; at every T they share "
        )
        p, q = (float(shown) for shown in re.findall(r"[( ](0\.\d{3,6})(?=\)|,? and)", text)[-2:])
        assert (p, q) == pytest.approx((pair.teacher.max(), pair.student.max()), abs=5.1e-4)
    data = json.loads(lab)
    assert [model["key"] for model in data["models"]] == ["bert", "distilbert", "albert"]
    assert focus_of(STATE).text == STATE.text
    assert data["answer"]["id"] == -1
    assert not data["back"]


def test_without_albert_there_is_no_run_and_its_error(tiny_family, monkeypatch):
    absent = ModelUnavailable(MINI["albert"], "there are no weights")

    def refused(*_):
        raise absent

    monkeypatch.setattr(runs, "run_of", refused)
    assert runs.run_beside("albert", STATE, STATE.text) == (None, absent)


def test_a_chosen_word_is_hidden_and_its_id_is_known(tiny_family):
    state = PageState(text="the cat sat.", word=1)
    data = json.loads(values_of(distillation, state)[1])
    vocabulary = tiny_family.run("bert", "the cat").vocabulary
    assert focus_of(state).text == "the [MASK] sat."
    assert vocabulary[data["answer"]["id"]] == "cat"
    assert data["selected"] == 1
    assert data["back"], "there is a way back to the page's own mask"
    assert focus_of(replace(state, word=-1)).text == "the cat [MASK]."


def test_the_first_word_of_a_text_has_a_way_back_too(tiny_family):
    for word, back in ((0, True), (-1, False)):
        state = PageState(text="the cat sat on the [MASK].", word=word)
        assert json.loads(values_of(distillation, state)[1])["back"] is back


def test_a_word_hidden_beside_a_mask_is_the_one_looked_at():
    found = focus_of(PageState(text="[MASK] saw a cat and [MASK]", word=3))
    assert (found.text, found.mask, found.answer) == ("[MASK] saw a [MASK] and [MASK]", 1, "cat")
    own = focus_of(PageState(text="[MASK] saw a cat and [MASK]", word=5))
    assert (own.text, own.mask, own.answer) == ("[MASK] saw a cat and [MASK]", 1, "")
    with pytest.raises(Refusal, match="not in the text"):
        focus_of(PageState(text="the cat", word=7))


def test_a_word_that_was_hidden_by_a_click_in_the_text_box_is_known(tiny_family):
    state = PageState(text="the [MASK] saw a [MASK] and [MASK]", hidden="|cat|sat down")
    answers = [focus_of(replace(state, word=word)).answer for word in (-1, 1, 4, 6)]
    assert answers == ["", "", "cat", "sat down"]
    lab = json.loads(values_of(distillation, replace(state, word=4))[1])
    assert tiny_family.run("bert", "the cat").vocabulary[lab["answer"]["id"]] == "cat"
    losses = json.loads(folds.show_losses(replace(state, word=4)))
    assert losses["answer"] == lab["answer"]["id"]
    assert json.loads(folds.show_losses(replace(state, word=6)))["answer"] is None
    assert "hidden" in distillation.READS


def test_a_word_that_ends_in_an_accent_of_its_own_is_a_word():
    """No single character is an x with a bar, so its last one is the bar."""
    assert focus_of(PageState(text="the cat x\u0304")).answer == "x\u0304"


def test_markup_in_a_text_stays_text(tiny_family):
    finding, lab = values_of(distillation, PageState(text="<img src=x> [MASK] </script>"))
    assert "<img" not in finding
    assert "</script>" not in lab


def test_a_missing_student_is_a_card(no_files):
    card, lab = values_of(distillation, STATE)
    assert "card" in card
    assert "missing" in card
    assert lab == ""


def test_losses_know_the_word_hidden_by_a_click(tiny_family):
    assert json.loads(folds.show_losses(STATE))["mlm"] is None
    state = PageState(text="the cat sat.")
    data = json.loads(folds.show_losses(replace(state, word=1)))
    assert data["mlm"] > 0
    assert len(data["kl"][0]) == len(data["tokens"]) == 6
    assert 2.0 in data["temperatures"]


def test_an_accent_does_not_make_a_word_unknown(tiny_family):
    """The tokenizer reads Cät as cat, so the hidden piece is known."""
    state = PageState(text="the Cät sat.", word=1)
    plain = PageState(text="the cat sat.", word=1)
    data = json.loads(folds.show_losses(state))
    assert data["mlm"] == json.loads(folds.show_losses(plain))["mlm"] > 0


def test_a_word_of_several_pieces_is_called_that_and_not_unknown(tiny_family):
    state = PageState(text="the photosynthesis sat.", word=1)
    data = json.loads(folds.show_losses(state))
    notes = " ".join(data["texts"]["notes"])
    assert data["mlm"] is None
    assert "“photosynthesis” is not one piece" in notes
    assert "unknown here" not in notes
    assert "unknown here" in " ".join(json.loads(folds.show_losses(STATE))["texts"]["notes"])


def test_masking_shows_every_token_and_draws_from_all_but_the_readers_own_mask(tiny_family):
    html = folds.show_masking(STATE, 100, 3)
    assert "600 tokens seen" in html, "the six that are not hidden yet, a hundred times"
    assert html.count('class="dm-own"') == 1
    assert "Your own [MASK] is already masked" in html
    without = folds.show_masking(PageState(text="The cat sat on the mat."), 100, 3)
    assert "700 tokens seen" in without
    assert "already masked" not in without
    assert html == folds.show_masking(STATE, 100, 3)
    assert html != folds.show_masking(STATE, 100, 4)


def test_masking_is_drawn_once_a_hundred_or_ten_thousand_times_and_never_oftener(page, tiny_family):
    (rounds,) = (
        one
        for one in page.blocks.values()
        if isinstance(one, gr.Radio) and one.label == strings.ROUNDS
    )
    assert ([value for _, value in rounds.choices], rounds.value) == ([1, 100, 10_000], 1)
    assert "60,000 tokens seen" in folds.show_masking(STATE, 10**9, 3)


@pytest.mark.parametrize("text", ["[MASK]", "[MASK] [MASK]"])
def test_where_all_is_hidden_already_the_fold_says_that_nothing_can_be(tiny_family, text):
    said = folds.show_masking(PageState(text=text))
    assert "No word in this text can be masked in training" in said


@pytest.mark.parametrize("text", ["?", "🍕"])
def test_a_text_without_a_word_says_so_where_the_picture_would_be(tiny_family, text):
    finding, lab = values_of(distillation, PageState(text=text))
    assert "Nothing to mask yet" in finding
    assert lab == ""
    said, picture = folds.losses_or_why(PageState(text=text))
    assert "Nothing to mask yet" in said
    assert picture == ""


def test_without_a_pair_of_models_the_losses_say_why(no_files):
    said, picture = folds.losses_or_why(PageState(text="the [MASK] sat."))
    assert ("its bundled files are missing" in said, picture) == (True, "")


def test_agreement_runs_over_the_bundled_sentences(tiny_family, monkeypatch):
    few = folds.sentences()[:7]
    monkeypatch.setattr(folds, "sentences", lambda: few)
    steps = [json.loads(value) for value, _ in handler(folds.AGREEMENT)(STATE)]
    assert {step["done"] for step in steps[:-1]} <= set(range(8))
    assert steps[0]["sentence"] == "0 of 7 sentences"
    assert len(steps[-1]["worst"]) == 7
    assert steps[-1]["ran"] == {"family": "mini", "device": "cpu", "dtype": "float32"}
    assert 0 <= steps[-1]["first"] <= 1
    kl = [item["kl"] for item in steps[-1]["worst"]]
    assert kl == sorted(kl, reverse=True)


def test_shares_are_of_all_sentences_and_of_five_words():
    """Logits by hand: one sentence is answered alike in all five words, the other in none."""
    t = np.array([[9.0, 8, 7, 6, 5, 0, 0, 0, 0, 0], [9, 8, 7, 6, 5, 0, 0, 0, 0, 0]])
    s = np.array([t[0], t[1][::-1]])
    found = agreement_at_large(t, s, np.array([0, 9]))
    asked = [{"text": "a [MASK].", "answer": "b"}, {"text": "c [MASK].", "answer": "d"}]
    told = json.loads(agreement_canvas(found, asked, tuple("abcdefghij"), {}, {}))
    assert (told["first"], told["five"]) == (0.5, 0.5)
    assert (told["teacher_right"], told["student_right"]) == (0.5, 1.0)
    assert [(one["text"], one["teacher"], one["student"]) for one in told["worst"]] == [
        ("c [MASK].", "a", "j"),
        ("a [MASK].", "a", "a"),
    ]


def test_a_sentence_of_the_list_opens_whole_with_its_word_hidden():
    for sentence in folds.sentences():
        found = focus_of(PageState(**opened_by(sentence)))
        assert (found.text, found.answer) == (sentence["text"], sentence["answer"])


LIVE = (1, "copied", 10, 2.0, 5.0, 2.0, 1.0, 0)


@pytest.mark.processes
def test_a_live_run_streams_to_its_end_and_gives_the_place_back(tiny_family, few_questions):
    release = threading.Event()

    def held(*asked):
        assert release.wait(300)
        return (yield from folds.teach(*asked))

    run = handler(replace(folds.LIVE, compute=held))(STATE, *LIVE)
    assert "waiting" in json.loads(next(run)[0])
    release.set()
    values = [json.loads(value) for value, _ in run]
    steps = [len(value["steps"]) for value in values if "steps" in value]
    assert steps == sorted(steps)
    assert steps[-1] == 10
    assert values[-1]["done"]
    assert len(values[-1]["words"]) == len(values[-1]["student"]) == 8
    assert "In 10 steps the loss went from" in values[-1]["sentence"]
    until(lambda: not len(folds.LIVE.queue))


@pytest.mark.processes
def test_closing_a_run_frees_the_place_for_the_next_in_line(tiny_family, few_questions):
    first, second = (handler(folds.LIVE)(STATE, *LIVE) for _ in range(2))
    next(first)
    assert "number 1 in line" in json.loads(next(second)[0])["waiting"]
    first.close()
    assert "number 1 in line" not in next(second)[0]
    second.close()
    until(lambda: not len(folds.LIVE.queue))


def trained_to(*steps):
    """A student that was examined before its first step, and trained to these steps."""
    reports = [LiveReport(0, {}, LiveAgreement(0.1, 0.5, 0.5), None)]
    parts = {"loss": 2.0, "ce": 1.0, "mlm": 1.0, "cos": 1.0}
    reports += [LiveReport(step, parts, None, None) for step in steps]
    return Progress(part=folds.LiveRun(tuple(reports), (), np.array([])))


def test_a_student_that_is_stopped_says_after_which_step_and_is_kept_only_if_it_learned():
    question = folds.LiveQuestion(STATE, focus_of(STATE), LiveSettings(steps=40))

    def drawn(*steps, stopped):
        update = JobUpdate(0, trained_to(*steps), done=stopped, stopped=stopped)
        return json.loads(folds.draw_live(question, update)[0])

    told = drawn(10, 20, stopped=True)
    assert (told["sentence"], told["done"]) == ("Stopped after step 20.", True)
    assert drawn(stopped=True) == {"waiting": "Stopped after step 0."}
    assert drawn(10, stopped=False)["done"] is False


def test_reset_stops_the_students_training_in_silence(tiny_family, few_questions, monkeypatch):
    monkeypatch.setattr(jobs, "owner_of", lambda _: "me")
    release = threading.Event()

    def held(_question, cancel_token):
        yield Progress()
        assert release.wait(300)
        cancel_token.check()

    monkeypatch.setattr(folds, "LIVE", replace(folds.LIVE, compute=held))
    run = handler(folds.LIVE)(STATE, *LIVE)
    next(run)
    *defaults, canvas, stop = folds.reset_live()
    assert (defaults, canvas, stop.visible) == (folds._defaults(), "", False)
    release.set()
    assert list(run) == [], "what comes after would be drawn over the empty picture"


def test_an_emptied_field_counts_as_its_default():
    chosen = (2, "random", 30.0, 1, 0, 2, 0, None)
    assert folds.settings_of(chosen) == LiveSettings(2, "random", 30, 1.0, 0.0, 2.0, 0.0, 0)


def test_what_a_run_came_to_is_its_end_against_its_start():
    def report(step, loss, same):
        exam = LiveAgreement(same, 0.5, 0.5)
        return LiveReport(step, {"loss": loss} if loss else {}, exam, None)

    reports = [report(0, 0, 0.1), report(5, 5.0, 0.4), report(10, 1.25, 0.7)]
    said = live_sentence(LiveSettings(steps=10), reports)
    assert said.startswith("In 10 steps the loss went from 5.000 to 1.250; ")
    assert said.endswith("in 70.0% of cases (10.0% at the start).")
    assert live_sentence(LiveSettings(steps=10), reports[:2]) == "Step 5 of 10: loss 5.000."


def test_a_total_without_a_part_says_so(tiny_family):
    lacking = json.loads(folds.show_losses(STATE))
    assert lacking["mlm"] is None
    assert lacking["texts"]["total"] == "Total loss without L_mlm"
    whole = json.loads(folds.show_losses(PageState(text="the cat sat.", word=1)))
    assert whole["texts"]["total"] == "Total loss"


def test_the_teachers_choice_is_not_called_the_hard_label(tiny_family):
    """A hard label is the word that was hidden; the mark is on the teacher's first choice."""
    data = json.loads(values_of(distillation, PageState(text="the cat sat.", word=1))[1])
    assert data["texts"]["hard"] == "teacher’s top word"


def test_few_sentences_come_with_an_interval():
    from types import SimpleNamespace

    from explorer.ui.distillation.strings import agreement_note

    class Found(SimpleNamespace):
        def __len__(self):
            return 24

    said = agreement_note(Found(same_first=np.arange(24) < 18), ("BERT", "DistilBERT"))
    assert "24 short sentences" in said
    assert "55.1% to 88.0%" in said


def test_the_soft_loss_is_said_over_all_tokens_and_over_the_hidden_ones(tiny_family):
    """Both from the KL of each token: the bundled student was trained on the second alone."""
    data = json.loads(folds.show_losses(PageState(text="the [MASK] sat on the [MASK].")))
    kl = data["kl"][data["temperatures"].index(2.0)]
    masks = [i for i, token in enumerate(data["tokens"]) if token == "[MASK]"]
    everywhere = 4 * sum(kl) / len(kl)
    hidden = 4 * sum(kl[i] for i in masks) / len(masks)
    notes = " ".join(data["texts"]["notes"])
    assert len(masks) == 2
    assert abs(everywhere - hidden) > 1e-3, "or the test says nothing"
    said = re.search(
        r"is (\d+\.\d{3}) nats over all 9 tokens.* (\d+\.\d{3}) over the 2 masked", notes
    )
    assert [float(n) for n in said.groups()] == pytest.approx([everywhere, hidden], abs=2e-3)


def test_the_bundled_albert_is_not_said_to_have_learned_alone(tiny_family):
    from explorer.models.specs import BASE
    from explorer.ui.distillation.strings import lab_texts

    printed = json.loads(values_of(distillation, STATE)[1])["texts"]
    assert printed["beside_title"] == "mini-ALBERT, for comparison"
    assert "mini-ALBERT's vocabulary" in printed["no_partner"]
    said = printed["beside_shared"]
    assert "was not trained independently" in said
    assert "fitted to mini-BERT's layers" in said
    assert "{origin}" not in said
    assert said.startswith("This {name}"), "the browser puts the name in"
    published = lab_texts(BASE["albert"])["beside_shared"]
    assert published.startswith("{name} was trained independently, with its own vocabulary")
    own = lab_texts(replace(BASE["albert"], name="mine", is_own=True))["beside_shared"]
    assert own.startswith("How {name} was trained is not known here. ")


def test_a_card_that_tells_of_a_fit_is_told_on_the_page_too():
    from explorer.models.specs import BASE, MINI

    for spec in MINI.values():
        card = (spec.bundled_path / "README.md").read_text("utf-8")
        assert ("shared layer began as mini-bert's layer" in card) == (spec.fitted_to == "bert")
    assert not any(spec.fitted_to for spec in BASE.values())


def test_two_models_of_unknown_lineage_are_no_teacher_and_student(tiny_family):
    """The columns of one model are alike, and nothing else is known of them."""
    configure(columns=("before", "after"))
    state = replace(STATE, family="only,before=mini-bert,after=mini-bert")
    sentence, lab = values_of(distillation, state)
    assert plain(sentence).startswith(
        "At temperature T = 2, after is 0.000 nats (KL) from before; at every T they share all "
    )
    data = json.loads(lab)
    assert [model["role"] for model in data["models"]] == ["before", "after"]
    assert data["beside_key"] == ""
    assert [row[1] for row in data["texts"]["measures"]][:3] == [
        "KL(before ‖ after)",
        "KL(before ‖ after), T = 1",
        "KL(after ‖ before)",
    ]
    assert not re.search(r"\b(teacher|student)\b", json.dumps(data["texts"]).lower())
    parts = [one["data-pair"] for one in every(sentence, data_pair=...)]
    assert parts == ["teacher", "student"]
    assert "after is not known to be distilled from before" in folds.losses_or_why(state)[0]


def test_teacher_and_student_are_those_of_the_link(tiny_family):
    configure(columns=("a", "b", "c"))
    family = "only,a=mini-bert,b=mini-distilbert,c=mini-bert"
    known = values_of(distillation, replace(STATE, family=family))[0]
    assert "student b is" in plain(known)
    assert "from teacher a" in plain(known)
    for teacher, student, said in (("b", "a", "a is"), ("c", "a", "a is"), ("", "a", "a is")):
        shown = values_of(
            distillation, replace(STATE, family=family, teacher=teacher, student=student)
        )
        assert said in plain(shown[0])
        assert f"from {teacher or 'b'};" in plain(shown[0])
        assert json.loads(shown[1])["texts"]["measures"][0][1] == f"KL({teacher or 'b'} ‖ a)"


def test_models_with_as_many_but_other_words_are_no_pair(own_models, tmp_path):
    for name in ("one", "two"):
        save(*make_bert(2, 4, 48), tmp_path / name)
    words = tmp_path / "two" / "tokenizer.json"
    saved = json.loads(words.read_text())
    saved["model"]["vocab"] = {
        {"cat": "zebra"}.get(word, word): at for word, at in saved["model"]["vocab"].items()
    }
    words.write_text(json.dumps(saved))
    family = parse_flags([f"--model=a={tmp_path / 'one'}", f"--model=b={tmp_path / 'two'}"]).family
    assert "no two predictions to compare" in plain(
        values_of(distillation, replace(STATE, family=family))[0]
    )


def test_without_a_pair_the_tab_says_what_it_shows_instead(tiny_family):
    state = replace(STATE, family="only,bert=mini,albert=mini")
    sentence, lab = values_of(distillation, state)
    assert "no two predictions to compare word by word" in plain(sentence)
    assert "shows how BERT's recipe masks this text" in plain(sentence)
    assert lab == ""


@pytest.mark.parametrize(
    ("chosen", "is_known"),
    [
        ({}, True),
        ({"family": "only,a=mini-bert,b=mini-distilbert"}, True),
        ({"family": "only,a=mini-bert,b=mini-distilbert", "teacher": "b", "student": "a"}, False),
        ({"family": "only,a=mini-bert,b=mini-bert"}, False),
        ({"family": "only,bert=mini,albert=mini"}, False),
        ({"family": "only,a=mini-bert"}, False),
    ],
)
def test_a_student_is_trained_live_only_beside_a_known_teacher(tiny_family, chosen, is_known):
    """The style sheet hides the fold behind the mark; whoever presses its button is refused."""
    configure(columns=("a", "b"))
    state = replace(STATE, **chosen)
    assert bool(every(values_of(distillation, state)[0], cls="no-lineage")) != is_known
    assert bool(folds.losses_or_why(state)[1]) == is_known
    if is_known:
        question = folds.ask_live(state, *folds._defaults())
        assert (question.state.family, question.state.teacher) == ("mini", "")
    else:
        with pytest.raises(Refusal, match=r"not known to be distilled|no two predictions"):
            folds.ask_live(state, *folds._defaults())
