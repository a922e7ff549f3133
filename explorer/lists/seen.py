"""Evidence that a model was trained on the rows of a list, from its card and from the list."""

import base64
import hashlib
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from explorer.assets import DATA, read_in
from explorer.lists.rows import TextList
from explorer.models.specs import ModelSpec

CARD, MOST_CHARACTERS = "README.md", 200_000
FRONT = re.compile(r"\A\ufeff?---[ \t]*\r?\n(.*?)\r?\n---[ \t]*(?:\r?\n|\Z)", re.S)
"""The metadata above a card, in YAML."""
WORDS = re.compile(r"[a-z]+|\d+")
MOST_JOINED = 4
"""Words of a name that are joined to one: ``SST-2`` and ``ag_news`` are ``sst2`` and ``agnews``."""
FINGERPRINTS = DATA / "sst2_train.txt"
"""Fingerprints of the training rows of SST-2, see ``packed``."""
LEAST_WORDS = 8
"""Words of a text from which on an equal one in a training set is no coincidence."""
SIZE = 3
"""Bytes of a fingerprint: one text in 700 that is not in SST-2 has that of one that is."""
LEAST_COPIES, LEAST_SHARE = 5, 0.1
"""Rows, and their share of all, that must be in a training set to be evidence."""
COLLECTIONS: Mapping[str, tuple[str, ...]] = {
    "glue": ("cola", "sst2", "mrpc", "qqp", "mnli", "qnli", "rte", "stsb"),
    "superglue": ("boolq", "copa", "rte"),
    "tweeteval": ("tweetevalemotion",),
}
"""Names that stand for several data sets."""


@dataclass(frozen=True, slots=True)
class DataSet:
    """Public data set, by which names a card may call it, and which columns its files have."""

    label: str
    names: tuple[str, ...]
    """In lower case and without signs."""
    columns: tuple[frozenset[str], ...] = ()
    """Names of columns, in lower case, of which a file with all has its form."""


def _known(label: str, names: str, *columns: str) -> DataSet:
    return DataSet(
        label, tuple(names.split()), tuple(frozenset(each.split("|")) for each in columns)
    )


DATA_SETS = (
    _known("SST-2", "sst2 sst sststwo stanfordsentimenttreebank"),
    _known("CoLA", "cola"),
    _known("MRPC", "mrpc msrparaphrase msrpc", "#1 string|#2 string"),
    _known("QQP", "qqp quora quoraquestionpairs", "question1|question2|is_duplicate"),
    _known("MNLI", "mnli multinli", "gold_label|sentence1|sentence2|promptid"),
    _known("SNLI", "snli", "gold_label|sentence1|sentence2|captionid"),
    _known("QNLI", "qnli", "index|question|sentence|label"),
    _known("RTE", "rte"),
    _known("STS-B", "stsb stsbenchmark"),
    _known("BoolQ", "boolq", "question|passage|answer"),
    _known("SICK", "sick", "sentence_a|sentence_b|entailment_judgment"),
    _known("HANS", "hans", "gold_label|pairid|heuristic"),
    _known("ANLI", "anli", "uid|model_label|hypothesis"),
    _known("AG News", "agnews"),
    _known("IMDB", "imdb largemoviereview", "review|sentiment"),
    _known("Yelp", "yelp yelppolarity yelpreviewfull", "stars|useful|funny|cool"),
    _known("Amazon fine food", "amazonfinefood finefood", "helpfulnessnumerator|summary|score"),
    _known("airline tweets", "airlinesentiment twitterairline", "airline_sentiment|text"),
    _known("Sentiment140", "sentiment140"),
    _known("GoEmotions", "goemotions"),
    _known("Emotion", "emotion dairaiemotion"),
    _known("TREC", "trec"),
    _known("Jigsaw toxic comments", "jigsaw toxiccomment jigsawtoxicity"),
    _known("SMS spam", "smsspam smsspamcollection", "v1|v2"),
    _known("Financial PhraseBank", "financialphrasebank"),
    _known("disaster tweets", "disastertweets", "keyword|location|text|target"),
    _known("news categories", "newscategory", "headline|category|short_description"),
    _known("CoNLL-2003", "conll2003"),
)
"""Data sets whose files are recognised by their columns or by a file's name."""


def joined_words(name: str) -> set[str]:
    """Return the words of a name in lower case, alone and joined with those after it.

    Example: ``joined_words("glue/SST-2")`` has ``glue``, ``sst``, ``2``, ``sst2``, ``gluesst2``.
    """
    words = WORDS.findall(name.lower())
    return {"".join(words[a : a + n]) for a in range(len(words)) for n in range(1, MOST_JOINED + 1)}


def recognised_as(texts: TextList) -> tuple[DataSet, ...]:
    """Return the public data sets whose columns, or whose name in the file's name, a list has."""
    columns = {name.strip().lower() for name in (*texts.columns.values(), *texts.unused)}
    words = joined_words(texts.source)
    return tuple(
        known
        for known in DATA_SETS
        if words.intersection(known.names) or any(each <= columns for each in known.columns)
    )


def data_sets_of(card: str) -> tuple[str, ...]:
    """Return the data sets that a model card names: ``datasets`` and those of ``model-index``.

    Only the metadata in YAML above a card counts: its text may mention what the model was not
    trained on. Metadata that is no YAML names nothing.
    """
    import yaml

    front = FRONT.match(card[:MOST_CHARACTERS])
    try:
        found = yaml.safe_load(front[1]) if front else None
    except yaml.YAMLError:
        return ()
    return tuple(dict.fromkeys(_named(found))) if isinstance(found, dict) else ()


def _named(metadata: Mapping[str, Any]) -> Iterator[str]:
    """Yield the names of data sets in a card's metadata."""
    given = metadata.get("datasets")
    for name in given if isinstance(given, list) else [given]:
        if isinstance(name, str):
            yield name
    for model in _dicts(metadata.get("model-index")):
        for result in _dicts(model.get("results")):
            for data in _dicts([result.get("dataset")]):
                yield from (
                    str(data[part]) for part in ("type", "name") if isinstance(data.get(part), str)
                )


def _dicts(value: object) -> list[Mapping[str, Any]]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def in_both(named: Collection[str], known: Collection[DataSet]) -> tuple[tuple[str, str], ...]:
    """Return the (name on the card, data set) pairs that are the same, or a part of the named."""
    found = []
    for name in named:
        words = joined_words(name)
        parts = {part for word in words for part in COLLECTIONS.get(word, ())}
        found += [(name, each.label) for each in known if (words | parts).intersection(each.names)]
    return tuple(dict.fromkeys(found))


def named_data(spec: ModelSpec, is_adapter: bool) -> tuple[str, ...]:
    """Return the data sets that a model's card names, or the card of its sentiment adapter."""
    from explorer.models.hub import ModelUnavailable, checkpoint_path
    from explorer.models.task_heads.adapters import read_card

    if is_adapter:  # its card in JSON says "SST-2 (Socher et al. 2013, ...): ..."
        said = str((read_card(spec, "sst2") or {}).get("data", ""))
        return tuple(filter(None, [said.partition("(")[0].strip()]))
    try:
        with (checkpoint_path(spec) / CARD).open(encoding="utf-8") as file:
            return data_sets_of(file.read(MOST_CHARACTERS))
    except (ModelUnavailable, OSError, UnicodeDecodeError):
        return ()


def fingerprint(text: str) -> bytes:
    """Return the first bytes of the BLAKE2b hash of a text's words, whatever their case and signs.

    Empty for a text of fewer than eight words.
    """
    words = re.findall(r"\w+", text.lower())
    if len(words) < LEAST_WORDS:
        return b""
    return hashlib.blake2b(" ".join(words).encode(), digest_size=SIZE).digest()


def packed(texts: Iterable[str]) -> str:
    """Return the fingerprints of texts as one line of base64, as ``FINGERPRINTS`` holds them."""
    return base64.b64encode(b"".join(sorted({*map(fingerprint, texts)} - {b""}))).decode()


@cache
def in_training() -> frozenset[bytes]:
    """Return the fingerprints of the training rows of SST-2."""
    with read_in(FINGERPRINTS):
        whole = base64.b64decode(FINGERPRINTS.read_text("utf-8"))
    return frozenset(whole[place : place + SIZE] for place in range(0, len(whole), SIZE))


def copies_of_training(texts: TextList) -> int:
    """Return how many rows are word for word in the training rows of SST-2; 0 for a few of many."""
    n = sum(fingerprint(row.text) in in_training() for row in texts.rows)
    return n if n >= max(LEAST_COPIES, LEAST_SHARE * len(texts.rows)) else 0


def on_cards(
    data: Mapping[str, tuple[str, ...]], texts: TextList
) -> dict[str, tuple[tuple[str, str], ...]]:
    """Return by model the (name on its card, data set) pairs that a list has the form of.

    Args:
        data: By model the data sets that its card names.
        texts: The list.
    """
    known = recognised_as(texts)
    found = {key: in_both(named, known) for key, named in data.items()}
    return {key: pairs for key, pairs in found.items() if pairs}
