"""mini-albert learns single sentences from mini-bert's guesses, beside what it reads itself.

Both read the same single sentences with the same words hidden, each in its own pieces. A hidden
word is one piece in both, so the teacher's guesses can be told in the pupil's words: where masked
words alone show one right answer, they show how likely every other would be.
"""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from explorer.analysis.distillation.student.objectives import Batch, top1
from explorer.analysis.distillation.triple_loss import mlm_loss
from training.report.cloze_eval import Reading, whole_words
from training.steps.objectives import PretrainObjective, guess_words
from training.text.batch import CLS, PAD, SEP, one_text_each
from training.text.sentences import Sentences

HIDDEN = 0.15  # share of a sentence's words that are hidden, at least one


@dataclass(frozen=True, slots=True, eq=False)
class Lesson:
    """The same sentences in the pupil's pieces and in the teacher's; hidden words in one order."""

    own: Batch
    taught: Batch

    def to(self, device: torch.device) -> "Lesson":
        """The same lesson on another device."""
        return Lesson(self.own.to(device), self.taught.to(device))

    @property
    def ids(self) -> Tensor:
        """What the pupil reads."""
        return self.own.ids

    @property
    def tokens(self) -> int:
        """Pieces that the pupil reads, padding not counted."""
        return self.own.tokens


@dataclass(frozen=True, slots=True, eq=False)
class Lessons:
    """Draws lessons; both shards hold the same sentences under the same numbers.

    Attributes:
        sentences: The pupil's single sentences, in groups of like length.
        readings: How the pupil and the teacher read them.
    """

    sentences: Sentences
    readings: tuple[Reading, Reading]

    def batch(self, rng: np.random.Generator) -> Lesson:
        """A lesson of sentences of like length."""
        drawn = ((sentence, self.choose(rng, sentence)) for sentence in self.sentences.drawn(rng))
        asked = [(sentence, places) for sentence, places in drawn if places]
        return Lesson(*(self._told(side, asked) for side in (0, 1)))

    def choose(self, rng: np.random.Generator, sentence: int) -> list[tuple[int, int]]:
        """Places, in both readings, of the words to hide; common words less often."""
        own, other = (reading.single(sentence) for reading in self.readings)
        common = sorted(own.keys() & other.keys())
        if not common:
            return []
        places = [(own[word], other[word]) for word in common]
        text = self.sentences.text(sentence)
        weights = self.sentences.pieces.weights[text[[place for place, _ in places]]]
        number = min(len(places), max(1, round(HIDDEN * len(text))))
        picked = rng.choice(len(places), number, replace=False, p=weights / weights.sum())
        return sorted(places[i] for i in picked)

    def _told(self, side: int, asked: list[tuple[int, list[tuple[int, int]]]]) -> Batch:
        shard = self.readings[side].shard
        bounds = [shard.sentences[sentence : sentence + 2] for sentence, _ in asked]
        width = max(int(high - low) for low, high in bounds) + 2
        ids = np.full((len(asked), width), PAD, dtype=np.int64)
        hidden = []
        for row, ((_, places), (low, high)) in enumerate(zip(asked, bounds, strict=True)):
            ids[row, : high - low + 2] = [CLS, *shard.ids[low:high], SEP]
            hidden += [row * width + 1 + place[side] for place in places]
        return one_text_each(ids, np.array(hidden, dtype=np.int64))


class TutoredObjective(PretrainObjective):
    """In lessons cross-entropy to the teacher's guesses among the words that both have."""

    def __init__(
        self, model: nn.Module, teacher: nn.Module, columns: tuple[Tensor, Tensor]
    ) -> None:
        super().__init__(model)
        self.frozen = [teacher.eval().requires_grad_(False)]  # a list: not part of the state
        self.columns = columns

    def forward(self, batch: Batch | Lesson) -> dict[str, Tensor]:
        """The loss and its parts: of a lesson, or of any other batch."""
        if isinstance(batch, Batch):
            return super().forward(batch)
        own, other = (column.to(batch.ids.device) for column in self.columns)
        with torch.no_grad():
            taught = guess_words(self.frozen[0], batch.taught).words[:, other].float().softmax(-1)
        words = guess_words(self.model, batch.own).words
        told = functional.log_softmax(words.float(), -1)[:, own]
        parts = {"ce": -(taught * told).sum(-1).mean(), "mlm": mlm_loss(words, batch.own.labels)}
        return {"loss": parts["ce"] + parts["mlm"], **parts, "top1": top1(words, batch.own)}


def shared_words(own: Reading, other: Reading) -> tuple[Tensor, Tensor]:
    """The ids, in both vocabularies, of the words that are one piece in both; own ids ascend."""
    ids = [
        {word: i for i, word in enumerate(whole_words(reading.names)) if word.isalpha()}
        for reading in (own, other)
    ]
    common = sorted(ids[0].keys() & ids[1].keys(), key=ids[0].__getitem__)
    first, second = (torch.tensor([one[word] for word in common]) for one in ids)
    return first, second
