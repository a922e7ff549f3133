"""Batches of questions on whole passages, read in the windows in which the answers are scored."""

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from explorer.analysis.tasks.tuned import ReadAt, read_at
from explorer.models.forward import padded
from explorer.models.task_heads.windows import Window, windows
from explorer.models.tokens import BadText
from training.tasks.data import SquadQuestion

WINDOW, STRIDE = 128, 32
MAX_QUESTION = 300
"""Characters of a question that are read."""


class PassageBatch(NamedTuple):
    """All windows of several questions' passages, and where in them the answers are."""

    inputs: dict[str, Tensor]
    """The network's arguments, a row for each window."""
    places: Tensor
    """int64 [question, token of the passage]: index in the flattened windows; -1 is padding."""
    right: Tensor
    """bool [question, 2, token of the passage]: an accepted answer begins, or ends, here."""


def passage_windows(tokenizer: Any, question: SquadQuestion) -> list[Window]:  # noqa: ANN401
    """Return the windows of a question's passage."""
    return windows(tokenizer, question.question[:MAX_QUESTION], question.passage, WINDOW, STRIDE)


def inputs_of_rows(tokenizer: Any, rows: Sequence[tuple]) -> dict[str, Tensor]:  # noqa: ANN401
    """Return (ids, segments) rows as one padded batch."""
    names = ("input_ids", "token_type_ids")
    encoded = [
        {name: torch.tensor([row]) for name, row in zip(names, part, strict=True)} for part in rows
    ]
    return padded(encoded, int(tokenizer.pad_token_id))


def passage_batch(tokenizer: Any, questions: Sequence[SquadQuestion]) -> PassageBatch:  # noqa: ANN401
    """Return a batch of questions on their whole passages; one that fills a window is left out."""
    rows: list[Window] = []
    places: list[Tensor] = []
    right: list[Tensor] = []
    for question in questions:
        try:
            parts = passage_windows(tokenizer, question)
        except BadText:
            continue
        found = read_at(parts)
        places.append(torch.tensor([[len(rows) + at.window, at.token] for at in found]))
        right.append(_right(found, question))
        rows += parts
    inputs = inputs_of_rows(tokenizer, [(row.ids, row.segments) for row in rows])
    width = inputs["input_ids"].shape[1]
    flat = [place[:, 0] * width + place[:, 1] for place in places]
    return PassageBatch(
        inputs,
        nn.utils.rnn.pad_sequence(flat, True, -1),
        nn.utils.rnn.pad_sequence(right, True, False).transpose(1, 2),
    )


def _right(found: Sequence[ReadAt], question: SquadQuestion) -> Tensor:
    """Return bool [token of the passage, 2]: the first and last tokens of the answers."""
    right = torch.zeros(len(found), 2, dtype=torch.bool)
    for low, high in answer_places(question):
        inside = [n for n, at in enumerate(found) if at.span[0] < high and at.span[1] > low]
        if inside:
            right[inside[0], 0] = right[inside[-1], 1] = True
    return right


def answer_places(question: SquadQuestion) -> list[tuple[int, int]]:
    """Return the characters (start, end) of every occurrence of the answer as whole words.

    The data gives the first occurrence of the answer's text, which need not be the one that the
    question is about.
    """
    answer = question.answers[0]
    whole = re.finditer(rf"(?<!\w){re.escape(answer)}(?!\w)", question.passage)
    places = {match.span() for match in whole}
    return sorted(places | {(question.start, question.start + len(answer))})


def passage_loss(network: nn.Module, batch: PassageBatch) -> Tensor:
    """Return the mean cross-entropy of where answers begin and end, over whole passages.

    The softmax is over all tokens of a passage, as when it is answered; of several occurrences of
    the answer any is right.
    """
    out = network(**known_inputs(network, batch.inputs))
    # A question whose answer no token touches has no loss.
    known = batch.right.any(-1).all(-1)
    places, accepted = batch.places[known], batch.right[known]
    losses = []
    for side, logits in enumerate((out.start_logits, out.end_logits)):
        read = logits.float().flatten()[places.clamp(min=0)]
        read = read.masked_fill(places < 0, float("-inf"))
        right = read.masked_fill(~accepted[:, side], float("-inf"))
        losses.append((read.logsumexp(-1) - right.logsumexp(-1)).mean())
    return torch.stack(losses).mean()


def known_inputs(network: nn.Module, inputs: dict[str, Tensor]) -> dict[str, Tensor]:
    """Return the arguments that a network takes: segment ids only where it has them."""
    has_segments = getattr(network.config, "type_vocab_size", 0) > 1
    return {
        name: value for name, value in inputs.items() if has_segments or name != "token_type_ids"
    }
