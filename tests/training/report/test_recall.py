"""What the primer taught is measured by questions in wordings that are never trained on."""

import pytest

from explorer.analysis.distillation.student import PretrainOutput
from training.family import new_model
from training.recipe import TINY
from training.report import recall
from training.report.card import primer_line
from training.report.recall import recall_figures
from training.text.batch import MASK
from training.text.primer import PrimerQuestion, facts
from training.text.vocabulary import BERT_SPECIALS, bert_tokenizer

WORDS = ["paris", "rome", "cold", "hot", "blue", "red", "one", "two", "the", "is", "."]
ASKED = (
    PrimerQuestion("[MASK] is one.", ("paris",), "capital"),
    PrimerQuestion("[MASK] is two.", ("rome", "paris"), "capital"),
    PrimerQuestion("the [MASK].", ("rome",), "capital"),
    PrimerQuestion("hot is [MASK].", ("two",), "opposite"),
)


@pytest.fixture
def told(monkeypatch):
    """A model that always says paris, then rome, cold, hot and blue; and a probe of three."""

    def scores(_model, batch):
        words = model.get_input_embeddings().weight.new_zeros(len(batch.masked_positions), 16)
        words[:, 5:10] = words.new_tensor([5.0, 4.0, 3.0, 2.0, 1.0])
        assert (batch.ids.reshape(-1)[batch.masked_positions] == MASK).all()
        return PretrainOutput(words, None, None)

    model = new_model("mini-bert", TINY)
    monkeypatch.setattr("training.report.cloze_eval.run_batch", scores)
    parts = (
        [{"text": "the [MASK].", "accepted": ["paris"]}],
        [
            {"text": "one [MASK].", "accepted": ["cold"]},
            {"text": "two [MASK].", "accepted": ["two"]},
        ],
    )
    monkeypatch.setattr(recall, "probe_parts", lambda: parts)
    return recall_figures(model, bert_tokenizer([*BERT_SPECIALS, *WORDS]), ASKED)


def test_questions_are_counted_first_among_five_and_by_kind(told):
    assert told["primer_count"] == 4
    assert told["primer_top1"] == 0.5
    assert told["primer_top5"] == 0.75
    assert told["primer_kinds"] == {"capital": pytest.approx(2 / 3), "opposite": 0.0}


def test_the_probe_is_told_in_its_two_parts(told):
    assert (told["probe_taught_top1"], told["probe_taught_top5"]) == (1.0, 1.0)
    assert (told["probe_untaught_top1"], told["probe_untaught_top5"]) == (0.0, 0.5)
    assert (told["probe_taught_count"], told["probe_untaught_count"]) == (1, 2)


def test_how_many_of_the_primers_words_are_whole(told):
    assert 0 < told["primer_whole"] < 0.01  # the eight of them that this vocabulary has


def test_the_card_says_that_a_primer_was_read_and_how_large_it_is(primer_said, monkeypatch):
    monkeypatch.setattr(recall, "primer_sentences", lambda: primer_said)
    primer = recall.primer_size(0.12)
    assert primer == {"facts": len(facts()), "sentences": len(primer_said), "share": 0.12}
    assert primer_line({}) == ""
    said = primer_line({"primer": primer})
    assert f"{len(facts()):,} facts" in said
    assert f"{len(primer_said):,} sentences" in said
    assert "12% of the batches" in said
