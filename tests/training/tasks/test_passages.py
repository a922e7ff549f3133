"""Questions on whole passages: the loss is that of the answers as the page computes them."""

import numpy as np
import pytest
import torch
from transformers import AutoModelForQuestionAnswering, AutoTokenizer

from explorer.analysis.tasks.tuned import answer_spans
from training.tasks import passages
from training.tasks.data import SquadQuestion
from training.tasks.passages import (
    answer_places,
    passage_batch,
    passage_loss,
    passage_windows,
)

LONG = " ".join(["the cat was good", "a bad dog in paris", "it was not on the mat"] * 6)
QUESTIONS = [
    SquadQuestion("where was the dog?", "The dog was in Paris and it was good.", ("Paris",), 15),
    SquadQuestion("who was good?", LONG, ("cat",), 4),
    SquadQuestion("what was bad?", LONG + ", a dog", ("dog in paris",), 23),
]


@pytest.fixture(params=["mini-bert", "mini-distilbert", "mini-albert"])
def network(request, tiny_family, monkeypatch):
    """A random network with an answer head, its tokenizer, and windows that cut these passages."""
    monkeypatch.setattr(passages, "WINDOW", 32)
    monkeypatch.setattr(passages, "STRIDE", 6)
    folder = tiny_family.path / request.param
    torch.manual_seed(1)
    made = AutoModelForQuestionAnswering.from_pretrained(folder, attn_implementation="eager")
    with torch.no_grad():
        made.qa_outputs.weight.normal_(0, 2)
    return made.eval(), AutoTokenizer.from_pretrained(folder)


@torch.inference_mode()
def by_page(network, tokenizer, question):
    """The loss of a question by the page's probabilities, one window at a time."""
    parts, logits = passage_windows(tokenizer, question), []
    for part in parts:
        inputs = {"input_ids": torch.tensor([part.ids])}
        if getattr(network.config, "type_vocab_size", 0) > 1:
            inputs["token_type_ids"] = torch.tensor([part.segments])
        out = network(**inputs)
        logits.append(torch.stack([out.start_logits[0], out.end_logits[0]], -1).numpy())
    found, answer = answer_spans(parts, logits), question.answers[0].lower()
    places = [
        (at, at + len(answer))
        for at in range(len(question.passage))
        if question.passage.lower().startswith(answer, at)
    ]
    starts, ends = set(), set()
    for low, high in places:
        touched = [n for n, (a, b) in enumerate(found.token_spans) if a < high and b > low]
        starts.add(touched[0])
        ends.add(touched[-1])
    sides = ((found.start, starts), (found.end, ends))
    return len(parts), -np.mean([np.log(sum(p[n] for n in right)) for p, right in sides])


def test_the_loss_is_of_the_probabilities_that_the_page_gives(network):
    made, tokenizer = network
    counts, losses = zip(*(by_page(made, tokenizer, one) for one in QUESTIONS), strict=True)
    assert max(counts) > 2
    batch = passage_batch(tokenizer, QUESTIONS)
    assert len(batch.inputs["input_ids"]) == sum(counts)
    with torch.no_grad():
        assert float(passage_loss(made, batch)) == pytest.approx(np.mean(losses), abs=1e-5)
    loss = passage_loss(made, batch)
    loss.backward()
    assert torch.isfinite(made.qa_outputs.weight.grad).all()


def test_a_question_that_fills_a_window_or_has_no_answer_there_is_left_out(network):
    made, tokenizer = network
    lost = SquadQuestion("who?", "a cat was bad", ("x",), 500)
    full = SquadQuestion("who was " * 30, "a cat", ("cat",), 2)
    with torch.no_grad():
        alone = passage_loss(made, passage_batch(tokenizer, QUESTIONS[:1]))
        beside = passage_batch(tokenizer, [full, QUESTIONS[0], lost])
        assert len(beside.places) == 2
        assert float(passage_loss(made, beside)) == pytest.approx(float(alone), abs=1e-5)
    passage_loss(made, beside).backward()
    assert torch.isfinite(made.qa_outputs.weight.grad).all()


def test_every_occurrence_of_an_answer_as_whole_words_is_right():
    passage = "In 10 of 2010 cases it was 10, or (10); 10% of them."
    question = SquadQuestion("how many?", passage, ("10",), 3)
    assert [passage[low:high] for low, high in answer_places(question)] == ["10"] * 4
    assert all(passage[low - 1] in " (" for low, _ in answer_places(question))
    inside = SquadQuestion("q", "the sunflower", ("flower",), 7)
    assert answer_places(inside) == [(7, 13)]
