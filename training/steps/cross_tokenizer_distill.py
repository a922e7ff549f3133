"""Distillation of mini-bert into mini-albert across their two tokenizers, on single sentences.

Both models read the same sentences with the same words masked, each in its own pieces. A masked
word is one piece in both vocabularies, so the teacher's distribution can be mapped to the
student's words: it gives a probability to every word, where MLM labels give one right answer.
"""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from explorer.analysis.distillation.student import Batch, top1
from explorer.analysis.distillation.triple_loss import mlm_loss
from training.report.cloze_eval import Reading, whole_words
from training.steps.objectives import PretrainObjective, guess_words
from training.text.batch import CLS, PAD, SEP, one_text_each
from training.text.sentences import Sentences

HIDDEN = 0.15  # share of a sentence's words that are masked, at least one


@dataclass(frozen=True, slots=True, eq=False)
class SentenceBatches:
    """A batch of sentences in the student's and in the teacher's pieces, masked words aligned."""

    student: Batch
    teacher: Batch

    def to(self, device: torch.device) -> "SentenceBatches":
        """Return both batches on another device."""
        return SentenceBatches(self.student.to(device), self.teacher.to(device))

    @property
    def ids(self) -> Tensor:
        """The student's input ids."""
        return self.student.ids

    @property
    def tokens(self) -> int:
        """The number of the student's pieces, padding not counted."""
        return self.student.tokens


@dataclass(frozen=True, slots=True, eq=False)
class SentenceSampler:
    """Sampler of sentences in two vocabularies, with the same indices in both shards.

    Attributes:
        sentences: The student's single sentences, in groups of similar length.
        readings: The student's and the teacher's readings of them.
    """

    sentences: Sentences
    readings: tuple[Reading, Reading]

    def batch(self, rng: np.random.Generator) -> SentenceBatches:
        """Draw sentences of similar length."""
        choices = ((sentence, self.choose(rng, sentence)) for sentence in self.sentences.drawn(rng))
        masked = [(sentence, places) for sentence, places in choices if places]
        return SentenceBatches(*(self._batch(side, masked) for side in (0, 1)))

    def choose(self, rng: np.random.Generator, sentence: int) -> list[tuple[int, int]]:
        """Draw the positions of the words to mask, in both readings; common words less often."""
        own, other = (reading.single(sentence) for reading in self.readings)
        common = sorted(own.keys() & other.keys())
        if not common:
            return []
        places = [(own[word], other[word]) for word in common]
        text = self.sentences.text(sentence)
        weights = self.sentences.pieces.weights[text[[place for place, _ in places]]]
        number = min(len(places), max(1, round(HIDDEN * len(text))))
        indices = rng.choice(len(places), number, replace=False, p=weights / weights.sum())
        return sorted(places[i] for i in indices)

    def _batch(self, side: int, masked: list[tuple[int, list[tuple[int, int]]]]) -> Batch:
        shard = self.readings[side].shard
        bounds = [shard.sentences[sentence : sentence + 2] for sentence, _ in masked]
        width = max(int(high - low) for low, high in bounds) + 2
        ids = np.full((len(masked), width), PAD, dtype=np.int64)
        hidden = []
        for row, ((_, places), (low, high)) in enumerate(zip(masked, bounds, strict=True)):
            ids[row, : high - low + 2] = [CLS, *shard.ids[low:high], SEP]
            hidden += [row * width + 1 + place[side] for place in places]
        return one_text_each(ids, np.array(hidden, dtype=np.int64))


class TutoredObjective(PretrainObjective):
    """Pretraining objective with cross-entropy to the teacher on words of both vocabularies."""

    def __init__(
        self, model: nn.Module, teacher: nn.Module, columns: tuple[Tensor, Tensor]
    ) -> None:
        super().__init__(model)
        self.frozen = [teacher.eval().requires_grad_(False)]  # a list keeps it out of state_dict
        self.columns = columns

    def forward(self, batch: Batch | SentenceBatches) -> dict[str, Tensor]:
        """Return the loss and its parts, for sentences in two vocabularies or any other batch."""
        if isinstance(batch, Batch):
            return super().forward(batch)
        own, other = (column.to(batch.ids.device) for column in self.columns)
        with torch.no_grad():
            targets = guess_words(self.frozen[0], batch.teacher).words[:, other].float().softmax(-1)
        words = guess_words(self.model, batch.student).words
        log_probabilities = functional.log_softmax(words.float(), -1)[:, own]
        parts = {
            "ce": -(targets * log_probabilities).sum(-1).mean(),
            "mlm": mlm_loss(words, batch.student.labels),
        }
        return {"loss": parts["ce"] + parts["mlm"], **parts, "top1": top1(words, batch.student)}


def shared_words(own: Reading, other: Reading) -> tuple[Tensor, Tensor]:
    """Return the ids, in both vocabularies, of words that are one piece in both; own ids ascend."""
    ids = [
        {word: i for i, word in enumerate(whole_words(reading.names)) if word.isalpha()}
        for reading in (own, other)
    ]
    common = sorted(ids[0].keys() & ids[1].keys(), key=ids[0].__getitem__)
    first, second = (torch.tensor([vocabulary[word] for word in common]) for vocabulary in ids)
    return first, second
