"""The numbers of the recipe: sizes of the three models and how they are trained."""

from dataclasses import dataclass
from pathlib import Path

MODELS = ("mini-bert", "mini-distilbert", "mini-albert")


def kind_of(name: str) -> str:
    """Which vocabulary a model of the family has."""
    return "albert" if name == "mini-albert" else "bert"


@dataclass(frozen=True, slots=True)
class Recipe:
    """Sizes and optimisation, the same for every run that should be comparable.

    Attributes:
        heldout_tokens: Positions of a batch that is measured on.
        lengths: (sequence length, share of the batches) pairs; every batch holds one length.
        mask_share: Share of the positions whose word is to be guessed, the same in every batch.
        longest_ngram: Whole words that are hidden in a row at most; 0 hides single pieces.
        single_share: Share of the sequences that hold one text and no pair.
        opening_share: Share of them that surely are the beginning of a document.
        shortest_segment: A segment of fewer pieces makes no pair.
        repeated_share: Share of those whose beginning is said twice.
        sentence_share: Share of the batches that hold single sentences, as visitors type them.
        late_sentence_share: The same while the learning rate falls, at a run's end.
        sentence_lengths: Their groups of like length, in pieces.
        second_share: Share of the single sentences that hide two words and not one.
        primer_share: Share of the batches that hold sentences of the primer.
        cool_down: The last part of a run, in which the learning rate falls to 0.
    """

    vocabulary: int = 10_500
    vocabulary_documents: int = 7000
    width: int = 384
    layers: int = 6
    student_layers: tuple[int, ...] = (1, 3, 5)
    heads: int = 12
    inner: int = 1536
    albert_width: int = 128
    positions: int = 512
    tokens_per_step: int = 2048
    heldout_tokens: int = 2048
    lengths: tuple[tuple[int, float], ...] = (
        (32, 0.1),
        (64, 0.15),
        (128, 0.5),
        (256, 0.15),
        (512, 0.1),
    )
    mask_share: float = 0.15
    longest_ngram: int = 0
    single_share: float = 0.5
    opening_share: float = 0.25
    shortest_segment: int = 4
    repeated_share: float = 0.0
    sentence_share: float = 0.6
    late_sentence_share: float = 0.8
    sentence_lengths: tuple[tuple[int, int], ...] = ((6, 9), (10, 14), (15, 20), (21, 30))
    second_share: float = 0.5
    primer_share: float = 0.12
    rate: float = 5e-4
    warm_up: float = 0.03
    cool_down: float = 0.2
    decay: float = 0.01
    temperature: float = 2.0
    seed: int = 20240


FULL = Recipe()
TINY = Recipe(
    vocabulary=300,
    width=32,
    layers=2,
    student_layers=(1,),
    heads=4,
    inner=64,
    albert_width=16,
    positions=64,
    tokens_per_step=256,
    heldout_tokens=256,
    lengths=((16, 0.5), (32, 0.5)),
    primer_share=0.05,  # of which a toy vocabulary has a few words
    rate=3e-3,
)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a run keeps its files: shards, vocabularies, checkpoints and logs."""

    root: Path

    def vocabulary(self, kind: str) -> Path:
        """The tokenizer of a kind, ``bert`` or ``albert``."""
        return self.root / f"{kind}-tokenizer.json"

    def shard(self, kind: str, part: str) -> Path:
        """The token shard of a kind; part is ``train`` or ``heldout``."""
        return self.root / f"{kind}-{part}.npz"

    def checkpoint(self, model: str) -> Path:
        """The last resumable state of a model's run."""
        return self.root / f"{model}.checkpoint"

    @property
    def fitted_to(self) -> Path:
        """How many tokens the teacher had seen when mini-albert was fitted to it."""
        return self.root / "albert-fit.teacher"

    def log(self, model: str) -> Path:
        """The learning curve of a model's run."""
        return self.root / f"{model}.csv"
