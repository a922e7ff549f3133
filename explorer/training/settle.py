"""Settle the words of a new vocabulary: their output vectors and biases, with the encoder at rest.

A bias that is off by three nats takes a small learning rate ten thousand steps. So the states at
hidden words are computed once, and the last product alone is trained on them, at a high rate and
many times over, towards mini-bert's guesses and the true words. Only words that both models have
take part; the others keep their vectors, and the mean of the old biases stays where it was.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from explorer.training.objectives import at, guess
from explorer.training.tutor import Lesson, Lessons

RATE = 3e-3
EPOCHS = 12
ROWS = 256
KEPT = 0.1  # of the positions, to see whether it helped


@dataclass(frozen=True, slots=True, eq=False)
class States:
    """What the head sees at hidden words, the teacher's guesses, and the words' columns."""

    seen: Tensor
    taught: Tensor
    labels: Tensor

    def part(self, rows: Tensor) -> "States":
        """Some of the positions."""
        return States(self.seen[rows], self.taught[rows], self.labels[rows])


@torch.no_grad()
def collect(
    model: nn.Module, teacher: nn.Module, lesson: Lesson, columns: tuple[Tensor, Tensor]
) -> States:
    """The positions of one lesson."""
    own, other = columns
    states = at(guess(model, lesson.own).states, lesson.own.hidden)
    head = model.predictions
    seen = head.LayerNorm(head.activation(head.dense(states)))
    taught = guess(teacher, lesson.taught).words[:, other].softmax(-1).half()
    return States(seen, taught, torch.searchsorted(own, lesson.own.labels))


def gather(
    model: nn.Module,
    teacher: nn.Module,
    lessons: Lessons,
    columns: tuple[Tensor, Tensor],
    steps: int,
) -> States:
    """The positions of many lessons."""
    found = [collect(model, teacher, lessons.batch(step), columns) for step in range(steps)]
    parts = ([getattr(one, name) for one in found] for name in States.__slots__)
    return States(*(torch.cat(part) for part in parts))


def settle(model: nn.Module, states: States, own: Tensor, old: Tensor) -> tuple[float, float]:
    """Train vectors and biases of the shared words; the loss before and after, on other positions.

    Args:
        model: Changed in place.
        states: Where it learns from.
        own: Columns of the shared words, ascending.
        old: Which of them the old vocabulary had too.
    """
    head, vectors = model.predictions, model.albert.embeddings.word_embeddings.weight
    weight = nn.Parameter(vectors.detach()[own].clone())
    bias = nn.Parameter(head.bias.detach()[own].clone())
    order = torch.randperm(len(states.labels), generator=torch.Generator().manual_seed(1))
    kept = int(KEPT * len(order))
    test, train = states.part(order[:kept]), order[kept:]
    before = loss(weight, bias, test).item()
    adam = torch.optim.Adam([weight, bias], lr=RATE)
    steps = EPOCHS * (len(train) // ROWS)
    for step in range(steps):
        adam.param_groups[0]["lr"] = RATE * (1 - step / steps)
        rows = train[torch.randint(len(train), (ROWS,))]
        loss(weight, bias, states.part(rows)).backward()
        adam.step()
        adam.zero_grad()
    with torch.no_grad():
        after = loss(weight, bias, test).item()
        shift = (head.bias[own][old] - bias[old]).mean()
        vectors[own] = weight
        head.bias[own] = bias + shift
    return before, after


def loss(weight: Tensor, bias: Tensor, states: States) -> Tensor:
    """Cross-entropy to the teacher's guesses and to the words, among the shared words."""
    told = (states.seen @ weight.T + bias).log_softmax(-1)
    right = told[torch.arange(len(told)), states.labels]
    return -(states.taught.float() * told).sum(-1).mean() - right.mean()
