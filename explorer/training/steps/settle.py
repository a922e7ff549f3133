"""Settle the words of a new vocabulary: their output vectors and biases, with the encoder at rest.

The states at hidden words are computed once, and the last product alone is trained on them, many
times over and cheaply, towards mini-bert's guesses and the true words. Only words that both models
have take part, and only new ones move: the encoder reads the same vectors, and knows the old ones.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from explorer.training.steps.objectives import at, guess
from explorer.training.steps.tutor import Lesson

RATE = 1e-3
EPOCHS = 6
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


def joined(parts: Sequence[States]) -> States:
    """The positions of many lessons."""
    return States(*(torch.cat([getattr(one, name) for one in parts]) for name in States.__slots__))


def settle(model: nn.Module, states: States, own: Tensor, new: Tensor) -> tuple[float, float]:
    """Train vectors and biases of the new words; the loss before and after, on other positions.

    Args:
        model: Changed in place.
        states: Where it learns from.
        own: Columns of the shared words, ascending.
        new: Which of them the old vocabulary lacked.
    """
    vectors, biases = model.albert.embeddings.word_embeddings.weight, model.predictions.bias
    assert isinstance(vectors, Tensor)
    assert isinstance(biases, Tensor)
    weight, bias = vectors.detach()[own], biases.detach()[own]
    order = torch.randperm(len(states.labels), generator=torch.Generator().manual_seed(1))
    kept = int(KEPT * len(order))
    test = states.part(order[:kept])
    before = loss(weight, bias, test).item()
    weight, bias = refined(weight, bias, states, order[kept:], new)
    with torch.no_grad():
        vectors[own], biases[own] = weight, bias
        return before, loss(weight, bias, test).item()


def refined(
    weight: Tensor, bias: Tensor, states: States, rows: Tensor, new: Tensor
) -> tuple[Tensor, Tensor]:
    """The training itself, with a rate that falls linearly to 0."""
    moved = nn.Parameter(torch.zeros_like(weight)), nn.Parameter(torch.zeros_like(bias))
    adam = torch.optim.Adam(moved, lr=RATE)
    steps = EPOCHS * (len(rows) // ROWS)
    for step in range(steps):
        adam.param_groups[0]["lr"] = RATE * (1 - step / steps)
        chosen = rows[torch.randint(len(rows), (ROWS,))]
        shifted = weight + moved[0] * new[:, None], bias + moved[1] * new
        loss(*shifted, states.part(chosen)).backward()
        adam.step()
        adam.zero_grad()
    return (weight + moved[0] * new[:, None]).detach(), (bias + moved[1] * new).detach()


def loss(weight: Tensor, bias: Tensor, states: States) -> Tensor:
    """Cross-entropy to the teacher's guesses and to the words, among the shared words."""
    told = (states.seen @ weight.T + bias).log_softmax(-1)
    right = told[torch.arange(len(told)), states.labels]
    return -(states.taught.float() * told).sum(-1).mean() - right.mean()
