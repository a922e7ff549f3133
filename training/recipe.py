"""Hyperparameters of the recipe: model sizes and training settings."""

from dataclasses import dataclass
from pathlib import Path

MODELS = ("mini-bert", "mini-distilbert", "mini-albert")


def kind_of(name: str) -> str:
    """Return the vocabulary of a model: ``bert`` or ``albert``."""
    return "albert" if name == "mini-albert" else "bert"


@dataclass(frozen=True, slots=True)
class Recipe:
    """Model sizes and training settings, shared by all runs that should be comparable.

    Attributes:
        heldout_tokens: Positions of an evaluation batch.
        lengths: (sequence length, share of the batches) pairs; every batch has one length.
        mask_share: Share of the positions that MLM predicts, the same in every batch.
        longest_ngram: Largest number of consecutive whole words to mask; 0 masks single pieces.
        single_share: Share of the sequences that hold one text and no pair.
        opening_share: Share of the sequences that always start at the beginning of a document.
        shortest_segment: Fewest pieces of a segment of a pair.
        repeated_share: Share of the single texts whose beginning is repeated.
        sentence_share: Share of the batches that hold single sentences, as visitors type them.
        late_sentence_share: Value of ``sentence_share`` while the learning rate decays.
        sentence_lengths: Length groups of single sentences, in pieces.
        second_share: Share of the single sentences with two masked words and not one.
        primer_share: Share of the batches that hold sentences of the primer.
        cool_down: Final share of a run, in which the learning rate decays to 0.
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
    primer_share=0.05,  # a toy vocabulary has only a few of the primer's words
    rate=3e-3,
)


@dataclass(frozen=True, slots=True)
class Place:
    """Paths of a run's files: shards, vocabularies, checkpoints and logs."""

    root: Path

    def vocabulary(self, kind: str) -> Path:
        """Return the path of a tokenizer, ``bert`` or ``albert``."""
        return self.root / f"{kind}-tokenizer.json"

    def shard(self, kind: str, part: str) -> Path:
        """Return the path of a token shard; part is ``train`` or ``heldout``."""
        return self.root / f"{kind}-{part}.npz"

    def checkpoint(self, model: str) -> Path:
        """Return the path of a model's last resumable checkpoint."""
        return self.root / f"{model}.checkpoint"

    @property
    def fitted_to(self) -> Path:
        """The path of the teacher's token count at the time mini-albert was fitted to it."""
        return self.root / "albert-fit.teacher"

    def log(self, model: str) -> Path:
        """Return the path of a model's learning curve."""
        return self.root / f"{model}.csv"
