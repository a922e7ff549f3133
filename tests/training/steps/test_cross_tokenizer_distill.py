"""mini-albert is tutored by mini-bert: the same hidden words in both readings."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from training.family import new_model
from training.recipe import TINY, Place
from training.steps.cross_tokenizer_distill import SentenceSampler, TutoredObjective, shared_words
from training.steps.loop import TrainingBudget
from training.steps.prepare import Source, prepare
from training.steps.pretrain import Setting
from training.text.batch import MASK
from training.text.batches import Sampler


@pytest.fixture(scope="module")
def readings(toy_corpus, tmp_path_factory):
    place = Place(tmp_path_factory.mktemp("tutor"))
    prepare(place, TINY, Source(str(toy_corpus), start="random"))
    setting = Setting(place, TINY, TrainingBudget(tokens=1000), "random")
    return setting, tuple(setting.reading(kind, "train") for kind in ("albert", "bert"))


@pytest.fixture(scope="module")
def lessons(readings):
    setting, (own, other) = readings
    return SentenceSampler(setting.sentences("albert", own.shard), (own, other))


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
        lesson = lessons.batch(np.random.default_rng(step))
        first, second = 0, 0
        for row in range(len(lesson.student.ids)):
            hidden = [
                int((side.ids[row] == MASK).sum()) for side in (lesson.student, lesson.teacher)
            ]
            assert hidden[0] == hidden[1] >= 1
            labels = lesson.student.labels[first : first + hidden[0]]
            taught = lesson.teacher.labels[second : second + hidden[1]]
            words = [own.names[i].removeprefix("▁") for i in labels.tolist()]
            assert words == [other.names[i] for i in taught.tolist()]
            assert spelt(own, lesson.student.ids[row], labels) == spelt(
                other, lesson.teacher.ids[row], taught
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
    lesson = lessons.batch(np.random.default_rng(0))
    made = TutoredObjective(model, teacher, columns)(lesson)
    with torch.no_grad():
        sides = ((model, lesson.student), (teacher, lesson.teacher))
        scores = [
            one(input_ids=side.ids, attention_mask=side.mask).prediction_logits.flatten(0, 1)[
                side.masked_positions
            ]
            for one, side in sides
        ]
    told = scores[0].log_softmax(-1)
    taught = scores[1][:, columns[1]].softmax(-1)
    ce = -(taught * told[:, columns[0]]).sum(-1).mean()
    mlm = -told[torch.arange(len(told)), lesson.student.labels].mean()
    torch.testing.assert_close(made["ce"].detach(), ce, rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(made["loss"].detach(), ce + mlm, rtol=1e-4, atol=1e-4)


def test_beside_its_lessons_it_learns_from_batches_of_its_own(pair, readings, lessons):
    model, teacher, columns = pair
    recipe = replace(TINY, sentence_share=0.5, primer_share=0.0)
    sampler = Sampler(readings[1][0].shard, recipe, "sop", 1, sentences=lessons)
    objective = TutoredObjective(model, teacher, columns)
    parts = [set(objective(sampler.batch(step))) - {"loss", "mlm", "top1"} for step in range(12)]
    assert {"ce"} in parts
    assert {"pair", "order"} in parts
    assert not any("frozen" in name for name in objective.state_dict())
