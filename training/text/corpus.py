"""From a text file to token shards: documents, sentences, and the 1% held out from training."""

import hashlib
import lzma
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer

from explorer.refusal import Refusal
from training.files import whole

ABBREVIATIONS = r"(?<!\bMr)(?<!\bMrs)(?<!\bDr)(?<!\bSt)(?<!\bJr)(?<!\bvs)(?<!\bNo)(?<!\b[A-Z])"
SENTENCE_END = re.compile(ABBREVIATIONS + r"[.!?][\"'”’)\]]*\s+(?=[\"'“‘(\[]?[A-Z0-9])")
CHUNK = 1000  # documents handed to the tokenizer at a time


@dataclass(frozen=True, slots=True, eq=False)
class Shard:
    """A tokenised corpus: all ids in one array, with the offsets of sentences and documents.

    Attributes:
        ids: uint16 ``[tokens]``.
        sentences: int64 ``[sentences + 1]``, offsets into ``ids``.
        documents: int64 ``[documents + 1]``, offsets into ``sentences``.
        words: uint16 ``[sentences]``, words as white space divides them.
    """

    ids: np.ndarray
    sentences: np.ndarray
    documents: np.ndarray
    words: np.ndarray

    def save(self, path: Path) -> None:
        """Write the four arrays to one file, which is there whole or not at all."""
        arrays = {name: getattr(self, name) for name in self.__slots__}
        with whole(path) as part, part.open("wb") as file:
            np.savez(file, **arrays)

    @classmethod
    def load(cls, path: Path) -> "Shard":
        """Return the shard that `save` wrote to a file."""
        with np.load(path) as arrays:
            return cls(**{name: arrays[name] for name in cls.__slots__})


def held_out(document: str) -> bool:
    """Return whether a document is in the 1% held out for evaluation, by a hash of its text."""
    return int(hashlib.sha1(document.encode()).hexdigest()[:8], 16) % 100 == 0


def read_documents(source: str) -> Iterator[str]:
    """Yield the documents of a text file (plain or .xz, separated by blank lines) or hub dataset.

    A hub dataset is named ``hub:owner/name`` or ``hub:owner/name:configuration`` and needs the
    ``datasets`` package.

    Raises:
        Refusal: There is no such file.
    """
    if source.startswith("hub:"):
        yield from _hub_documents(source.removeprefix("hub:"))
        return
    path = Path(source)
    if not path.is_file():
        raise Refusal(f"There is no corpus at {source}.")
    opener = lzma.open if path.suffix == ".xz" else open
    with opener(path, "rt", encoding="utf-8") as lines:
        paragraphs: list[str] = []
        for line in lines:
            if line.strip():
                paragraphs.append(line.strip())
            elif paragraphs:
                yield "\n".join(paragraphs)
                paragraphs = []
        if paragraphs:
            yield "\n".join(paragraphs)


def _hub_documents(name: str) -> Iterator[str]:
    import datasets  # an optional dependency, for hub datasets only

    repository, _, configuration = name.partition(":")
    rows = datasets.load_dataset(repository, configuration or None, split="train", streaming=True)
    for row in rows:
        if row["text"].strip():
            yield row["text"].strip()


def split_sentences(document: str) -> list[str]:
    """Split a document into sentences: paragraphs cut after a full stop before a capital letter."""
    sentences = []
    for paragraph in document.splitlines():
        start = 0
        for match in SENTENCE_END.finditer(paragraph):
            sentences.append(paragraph[start : match.end()].strip())
            start = match.end()
        sentences.append(paragraph[start:].strip())
    return [sentence for sentence in sentences if sentence]


def tokenise(documents: Iterable[str], tokenizer: Tokenizer) -> Shard:
    """Turn documents into a `Shard`, one chunk at a time to limit memory."""
    pieces: list[np.ndarray] = []
    lengths: list[int] = []
    counts: list[int] = []
    words: list[int] = []
    stream = iter(documents)
    while chunk := list(islice(stream, CHUNK)):
        split = [split_sentences(document) for document in chunk]
        counts += [len(sentences) for sentences in split]
        flat = [sentence for sentences in split for sentence in sentences]
        words += [len(sentence.split()) for sentence in flat]
        encodings = tokenizer.encode_batch_fast(flat, add_special_tokens=False)
        lengths += [len(encoding.ids) for encoding in encodings]
        pieces.append(np.array([i for e in encodings for i in e.ids], dtype=np.uint16))
    return Shard(
        ids=np.concatenate(pieces),
        sentences=np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        documents=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        words=np.array(words, dtype=np.uint16),
    )
