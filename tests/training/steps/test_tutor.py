"""A new vocabulary is learned from the teacher: the same hidden words in both readings."""

import pytest
import torch

from explorer.training.family import new_model
from explorer.training.recipe import TINY, Place
from explorer.training.steps import settle as settling
from explorer.training.steps.loop import Budget
from explorer.training.steps.objectives import guess
from explorer.training.steps.prepare import Source, prepare
from explorer.training.steps.pretrain import Setting
from explorer.training.steps.settle import collect, joined, loss, settle
from explorer.training.steps.tutor import Lessons, TutorObjective, shared_words
from explorer.training.text.batch import MASK


@pytest.fixture(scope="module")
def readings(toy_corpus, tmp_path_factory):
    place = Place(tmp_path_factory.mktemp("tutor"))
    prepare(place, TINY, Source(str(toy_corpus), start="random"))
    setting = Setting(place, TINY, Budget(tokens=1000), "random")
    return setting, tuple(setting.reading(kind, "train") for kind in ("albert", "bert"))


@pytest.fixture(scope="module")
def lessons(readings):
    setting, (own, other) = readings
    return Lessons(setting.sentences("albert", own.shard), (own, other), 3)


@pytest.fixture
def pair(readings):
    """Pupil and teacher before their first lesson, and the words that both have."""
    torch.manual_seed(1)
    model, teacher = (new_model(name, TINY).eval() for name in ("mini-albert", "mini-bert"))
    return model, teacher, shared_words(*readings[1])


def spelt(reading, ids, labels):
    """The text of a row, its hidden pieces put back."""
    ids = ids.clone()
    ids[ids == MASK] = labels
    names = [reading.names[i] for i in ids.tolist() if i >= 5]
    return "".join(names).replace("##", "").replace("▁", "").lower()


def test_both_read_the_same_sentences_with_the_same_words_hidden(lessons):
    own, other = lessons.readings
    for step in range(3):
        lesson = lessons.batch(step)
        first, second = 0, 0
        for row in range(len(lesson.own.ids)):
            hidden = [int((side.ids[row] == MASK).sum()) for side in (lesson.own, lesson.taught)]
            assert hidden[0] == hidden[1] >= 1
            labels = lesson.own.labels[first : first + hidden[0]]
            taught = lesson.taught.labels[second : second + hidden[1]]
            words = [own.names[i].removeprefix("▁") for i in labels.tolist()]
            assert words == [other.names[i] for i in taught.tolist()]
            assert spelt(own, lesson.own.ids[row], labels) == spelt(
                other, lesson.taught.ids[row], taught
            )
            first, second = first + hidden[0], second + hidden[1]


def test_shared_words_are_the_same_word_in_both_columns(readings):
    own, other = readings[1]
    columns = shared_words(own, other)
    names = [own.names[i].removeprefix("▁") for i in columns[0].tolist()]
    assert names == [other.names[i] for i in columns[1].tolist()]
    assert len(set(names)) == len(names) > 5
    assert all(name.isalpha() for name in names)


def test_the_loss_is_cross_entropy_to_the_teachers_guesses_and_to_the_word(pair, lessons):
    model, teacher, columns = pair
    lesson = lessons.batch(0)
    made = TutorObjective(model, teacher, columns)(lesson)
    with torch.no_grad():
        sides = ((model, lesson.own), (teacher, lesson.taught))
        scores = [
            one(input_ids=side.ids, attention_mask=side.mask).prediction_logits.flatten(0, 1)[
                side.hidden
            ]
            for one, side in sides
        ]
    told = scores[0].log_softmax(-1)
    taught = scores[1][:, columns[1]].softmax(-1)
    ce = -(taught * told[:, columns[0]]).sum(-1).mean()
    mlm = -told[torch.arange(len(told)), lesson.own.labels].mean()
    torch.testing.assert_close(made["ce"].detach(), ce, rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(made["loss"].detach(), ce + mlm, rtol=1e-4, atol=1e-4)


def test_settling_lowers_the_loss_and_moves_new_words_alone(pair, lessons, monkeypatch):
    monkeypatch.setattr(settling, "ROWS", 64)
    monkeypatch.setattr(settling, "RATE", 1e-2)
    model, _, columns = pair
    states = joined([collect(*pair[:2], lessons.batch(step), columns) for step in range(12)])
    before = {name: weight.clone() for name, weight in model.state_dict().items()}
    new = torch.arange(len(columns[0])) % 2 == 0
    first, last = settle(model, states, columns[0], new)
    assert last < first
    after = model.state_dict()
    for name in ("predictions.bias", "albert.embeddings.word_embeddings.weight"):
        moved = (after[name] != before[name]).reshape(len(after[name]), -1).any(1)
        assert set(moved.nonzero().flatten().tolist()) == set(columns[0][new].tolist())
    held = [name for name in before if "word_embeddings" not in name and "decoder" not in name]
    assert all(torch.equal(before[n], after[n]) for n in held if n != "predictions.bias")


def test_what_is_settled_on_is_what_the_head_sees(pair, lessons):
    model, teacher, columns = pair
    lesson = lessons.batch(0)
    states = collect(model, teacher, lesson, columns)
    with torch.no_grad():
        scores = guess(model, lesson.own).words[:, columns[0]]
        taught = guess(teacher, lesson.taught).words[:, columns[1]].softmax(-1)
        weight, bias = (
            model.predictions.decoder.weight[columns[0]],
            model.predictions.bias[columns[0]],
        )
    torch.testing.assert_close(states.seen @ weight.T + bias, scores, rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(states.taught.float(), taught, rtol=1e-2, atol=1e-4)
    assert torch.equal(columns[0][states.labels], lesson.own.labels)
    told = scores.log_softmax(-1)
    expected = -(taught * told).sum(-1).mean() - told[torch.arange(len(told)), states.labels].mean()
    torch.testing.assert_close(loss(weight, bias, states), expected, rtol=1e-3, atol=1e-3)
