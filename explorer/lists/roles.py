"""Cells of a file, and the roles of its columns: by names of public data sets, else by content."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from explorer.models.tokens import MASK, clean_text
from explorer.refusal import Refusal

MAX_ROWS = 2_000
"""Rows of a list that are read; those after them are counted."""
MIN_CLASSES, MAX_CLASSES = 2, 20
MAX_LABELS = 100
"""Labels that are told apart where a header or the reader names their column; a column that only
looks like labels has at most ``MAX_CLASSES``."""
LONGEST_LABEL = 40
NAMES: dict[str, tuple[str, ...]] = {
    "text": (
        *("text", "sentence", "review", "content", "phrase", "masked", "masked_sentence"),
        *("masked_sentences", "prompt", "tweet", "message", "premise", "sentence1", "question1"),
        *("sentence_a", "#1 string", "question", "context", "claim", "statement", "headline"),
        *("reviewtext", "comment_text", "question_text", "full_text", "utterance", "query"),
        *("template", "pattern"),
    ),
    "second": (
        *("second", "hypothesis", "sentence2", "question2", "sentence_b", "#2 string"),
        *("passage", "sentence"),
    ),
    "answer": (
        *("answer", "answers", "obj_label", "target", "expected", "word", "target_word"),
        *("masked_word", "completion"),
    ),
    "good": (
        *("good", "sentence_good", "good_sentence", "sentence1", "sent_more", "stereotype"),
        *("grammatical", "acceptable", "correct", "chosen"),
    ),
    "bad": (
        *("bad", "sentence_bad", "bad_sentence", "sentence2", "sent_less", "anti-stereotype"),
        *("anti_stereotype", "ungrammatical", "unacceptable", "incorrect", "rejected"),
    ),
    "label": (
        *("label", "gold_label", "class", "category", "labels", "topic", "sentiment", "polarity"),
        *("is_duplicate", "quality", "entailment_judgment", "entailment_label"),
        *("airline_sentiment", "intent", "emotion", "tags", "emotions", "genres", "categories"),
        *("topics", "stars", "rating", "overall", "stance", "profession", "gold", "target"),
        "answer",
    ),
    "group": ("group", "field", "phenomenon", "subset", "bias_type"),
    "direction": ("stereo_antistereo",),
    "unrelated": ("unrelated",),
    "term": ("term",),
    "context": ("context with blank",),
    "score": ("score", "relatedness_score", "similarity", "similarity_score", "gold_score"),
    "tokens": ("tokens", "words"),
    "tags": ("ner_tags", "tags", "ner", "named_entities", "pos_tags", "upos", "upos_tags"),
}
"""Column names of each role, in lower case, the preferred one first.

They are those of GLUE and SuperGLUE, SNLI, SICK, HANS, PAWS, LAMA, BLiMP, CrowS-Pairs, StereoSet,
psycholinguistic tests (Ettinger 2020), and of the spam, airline and film reviews that courses use.
"""
GENERIC = ("v1", "v2")
"""Names of a header that say nothing of a column: the SMS spam list's, and R's."""
OF_LISTS = ("tokens", "tags")
"""Roles of columns whose cells are lists; such names say nothing of other columns."""
KNOWN = frozenset(
    name
    for role, names in (*NAMES.items(), ("", GENERIC))
    for name in (names if role not in OF_LISTS else ())
)
LABEL = re.compile(r"(?:.*[_ -])?(?:labels?|class|classes|category|categories|intents?)")
"""Names that say that a column has labels."""
ANSWERS = re.compile(r"(?:.*[_ -])?answers?")
"""Names of columns whose lists are accepted answers, and no labels."""
PROSE = re.compile(r"(?:.*[_ ])?(?:title|notes?|comment)")
"""Names of columns that are no labels and may be texts."""
PAIRS = (
    *(("premise", "hypothesis"), ("sentence1", "sentence2"), ("question1", "question2")),
    *(("sentence_a", "sentence_b"), ("#1 string", "#2 string"), ("question", "sentence")),
    *(("question", "passage"), ("text", "second"), ("context", "hypothesis")),
    *(("premise", "hypo"), ("claim", "evidence"), ("query", "document"), ("query", "passage")),
)
"""Names of the two texts of a labelled pair."""
TWINS = (("1", "2"), ("a", "b"))
"""Ends by which two names of columns differ that hold the texts of a pair."""
PROSE_WORDS, ALIKE_LENGTHS = 3, 3
"""Words that most texts have at least, and the most that the texts of a pair differ in length."""
NO_TEXT = re.compile(r"[+-]?\d[\d.,:/ -]*|https?://\S+|.{0,12}\b\d{1,2}:\d\d\b.{0,20}|")
"""Cells that are no texts: numbers, dates with a time, and addresses."""
NO_LABELS = re.compile(
    r"(?:.*[_ ])?(?:id|ids|idx|index|source|genre|split|file|filename|url|link|user|author|name"
    r"|date|year|time|timestamp|title|lang|language|annotators?|annotations?|worker"
    r"|confidence|parse|no|number|note|notes|comment|term)\.?|id[^a-z].*|unnamed.*"
)
"""Names of columns whose values, however few, are no labels."""


class BadRows(Refusal):
    """Refusal of a list that cannot be read; the message is one sentence."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Row that is not read, with the reason."""

    number: int
    """Counted from 1, without the header and without empty rows."""
    reason: str


@dataclass(frozen=True, slots=True)
class RawTable:
    """Cells of a file by row, before columns have a meaning."""

    names: tuple[str, ...]
    """Header of each column, or "column 1" ... where the file has none."""
    cells: tuple[tuple[str, ...], ...]
    """By row, at most ``MAX_ROWS``; every row has as many cells as there are names."""
    has_header: bool
    left_out: tuple[LeftOut, ...] = ()
    n_more: int = 0
    """Rows after these, which are only counted."""
    structured: frozenset[tuple[int, str]] = frozenset()
    """Row number and column of each cell that holds an object, or lists in a list."""
    lists: Mapping[tuple[int, str], tuple[str, ...]] = field(default_factory=dict)
    """By row number and column the values of each cell that holds several."""
    note: str = ""
    """Sentence on what the rows are, where they are not those of the file."""
    made: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Names of the columns that a column is made of which the file does not have."""
    source: str = ""
    """The name of the file; empty of pasted lines."""

    @property
    def n_rows(self) -> int:
        """The number of rows, those that are only counted included."""
        return len(self.cells) + self.n_more


def recognised(table: RawTable) -> dict[str, str]:
    """Return the column of each role: by its name, else by its content."""
    roles = _by_name(table)
    if tagged := tags_among(table):
        return {role: name for role, name in roles.items() if name not in tagged.values()} | tagged
    free = [name for name in table.names if name not in roles.values()]
    masked = next((name for name in free if _has_masks(column(table, name))), "")
    if masked and not _has_masks(column(table, roles.get("text", ""))):
        roles["text"] = masked
        free.remove(masked)
    if free and "text" not in roles and "good" not in roles:
        roles |= _texts_among(table, free)
    is_masked = _has_masks(column(table, roles.get("text", "")))
    if "label" not in roles and "good" not in roles and not is_masked:
        roles |= _label_among(table, roles)
    if "second" in roles and "label" in roles and _are_scores(column(table, roles["label"])):
        roles.setdefault("score", roles["label"])
        del roles["label"]
    return roles


def tags_among(table: RawTable) -> dict[str, str]:
    """Return the columns of words and of their tags, where most rows have as many of both."""
    lower = {name.strip().lower(): name for name in reversed(table.names)}
    tokens = _first(lower, "tokens")
    if not tokens:
        return {}
    found = [lower[name] for name in NAMES["tags"] if name in lower]
    for tags in found:
        n = sum(
            len(table.lists.get((number, tokens), (cell,)))
            == len(table.lists.get((number, tags), (tag,)))
            for number, (cell, tag) in enumerate(
                zip(column(table, tokens), column(table, tags), strict=True), 1
            )
        )
        has_lists = any((number, tags) in table.lists for number in range(1, len(table.cells) + 1))
        if has_lists and 2 * n > len(table.cells):
            return {"tokens": tokens, "tags": tags}
    return {}


def _texts_among(table: RawTable, free: Sequence[str]) -> dict[str, str]:
    """Return the column of texts, and that of the second texts of pairs, by their content.

    A text has words and is no number, date or address; of several columns, one whose name is no
    other part's is taken, and the one with the longest cells. A table without a header has pairs
    where exactly two columns hold sentences of about one length, and another one their label or
    score.
    """
    texts = [name for name in free if not all(map(NO_TEXT.fullmatch, column(table, name)))]
    if not texts:
        return {}

    def rank(name: str) -> tuple[bool, bool, int]:
        lower = name.strip().lower()
        is_other = table.has_header and NO_LABELS.fullmatch(lower) and not PROSE.fullmatch(lower)
        return _is_prose(table, name, 2), not is_other, _length(table, name)

    first = max(texts, key=rank)
    prose = [name for name in texts if _is_prose(table, name, PROSE_WORDS)]
    others = [name for name in free if name not in prose]
    if table.has_header or len(prose) != 2:
        return {"text": first}
    shorter, longer = sorted(_length(table, name) for name in prose)
    is_pair = _is_rated(table, others) and longer <= ALIKE_LENGTHS * shorter
    return dict(zip(("text", "second"), prose, strict=True)) if is_pair else {"text": first}


def _is_prose(table: RawTable, name: str, n_words: int) -> bool:
    """Return whether nine tenths of a column's cells have at least so many words."""
    cells = column(table, name)
    return sum(len(cell.split()) >= n_words for cell in cells) >= 0.9 * len(cells)


def _length(table: RawTable, name: str) -> int:
    return sum(map(len, column(table, name)))


def _label_among(table: RawTable, roles: Mapping[str, str]) -> dict[str, str]:
    """Return the column of labels, of pairs that of scores, by its content or by part of its name.

    An answer or a score that a single text has may be its label: "target", or stars.
    """
    held = [name for role, name in roles.items() if role not in ("answer", "score")]
    free = [name for name in table.names if name not in held]
    several = [name for name in free if _are_lists(table, name)]
    said = [name for name in free if _is_label(table, name)]
    labels = [name for name in free if _are_labels(table, name)]
    if several or said:
        return {"label": [*several, *said][0]}
    if "second" in roles:
        scores = [name for name in free if _are_scores(column(table, name), is_certain=True)]
        if "score" in roles or scores:
            return {"score": roles.get("score") or scores[-1]}
    named = [roles[role] for role in ("answer", "score") if roles.get(role) in labels]
    if named:
        return {"label": named[0]}
    return {"label": min(labels, key=lambda name: len(set(column(table, name))))} if labels else {}


def _by_name(table: RawTable) -> dict[str, str]:
    lower = {name.strip().lower(): name for name in reversed(table.names)}
    nested = {name.strip().lower() for number, name in table.structured if number == 1}
    pairs = (pair for pair in PAIRS if set(pair) <= lower.keys() and not nested & set(pair))
    pair = next(pairs, None) or _twins(table, lower)
    label = next((name for name in NAMES["label"] if name in lower and name not in pair), "")
    roles: dict[str, str] = {}
    wanted = tuple(NAMES)
    is_known = bool(_first(lower, "good") and _first(lower, "bad"))
    others = [name for key, name in lower.items() if key not in pair]
    is_rated = label or _first(lower, "score") or (not is_known and _is_rated(table, others))
    if pair and is_rated:
        roles = {"text": lower[pair[0]], "second": lower[pair[1]]}
        roles |= {"label": lower[label]} if label else {}
        wanted = ("group", "score")
    elif is_known:
        roles = {role: _first(lower, role) for role in ("good", "bad")}
    for role in wanted:
        name = _first(lower, role)
        is_named = role not in ("second", "good", "bad", *OF_LISTS)
        if is_named and name and name not in roles.values():
            roles.setdefault(role, name)
    return roles


def _twins(table: RawTable, lower: Mapping[str, str]) -> tuple[str, ...]:
    """Return the names of two columns of texts that differ by their ends, as ``text_a`` does."""
    for first in [*lower][::-1] if table.has_header else ():
        for end, other in TWINS:
            pair = first, first.removesuffix(end) + other
            if first.endswith(end) and pair[1] in lower and not NO_LABELS.fullmatch(first):
                names = [lower[name] for name in pair]
                if all(_is_prose(table, name, 2) for name in names):
                    return pair
    return ()


def _is_rated(table: RawTable, names: Sequence[str]) -> bool:
    """Return whether one of these columns has labels or scores, by its content."""
    return any(
        _are_labels(table, name) or _are_scores(column(table, name), is_certain=True)
        for name in names
    )


def _first(names: Mapping[str, str], role: str) -> str:
    """Return the column that bears the preferred name of a role; empty if none does."""
    return next((names[name] for name in NAMES[role] if name in names), "")


def column(table: RawTable, name: str) -> list[str]:
    """Return the cells of a column; none of a column that is not there."""
    if name not in table.names:
        return []
    place = table.names.index(name)
    return [row[place].strip() for row in table.cells]


def kind_of(table: RawTable, roles: Mapping[str, str]) -> str:
    """Return the kind of list that the columns of a table suggest."""
    if "tokens" in roles and "tags" in roles:
        return "tagged"
    if "good" in roles and "label" not in roles:
        return "pairs"
    if _has_masks(column(table, roles.get("text", ""))):
        return "masked"
    if "second" in roles and "score" in roles and "label" not in roles:
        return "scored"
    values = [label for label in column(table, roles.get("label", "")) if label]
    # One label alone, or too many, is refused in a sentence. Where most differ, they are no labels,
    # unless the header says that they are and some rows have the same one.
    n = len(set(values))
    is_said = n < len(values) and _is_label(table, roles.get("label", ""))
    is_labelled = bool(values) and (n <= max(MAX_CLASSES, len(values) // 2) or is_said)
    return "labelled" if is_labelled else "pairs" if "good" in roles else "plain"


def _is_label(table: RawTable, name: str) -> bool:
    """Return whether a header names a column as that of the labels, however many there are."""
    lower = name.strip().lower()
    return table.has_header and (
        (lower in NAMES["label"] and lower not in NAMES["answer"]) or bool(LABEL.fullmatch(lower))
    )


def _has_masks(values: Sequence[str]) -> bool:
    return bool(values) and 2 * sum(MASK in clean_text(text) for text in values) >= len(values)


def number_of(value: str) -> float | None:
    """Return a finite number that a cell holds, with a decimal point or comma; None if none."""
    try:
        number = float(value.strip().replace(",", "."))
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _are_scores(values: Sequence[str], *, is_certain: bool = False) -> bool:
    """Return whether a column of labels holds scores: numbers that are many or no whole ones.

    In a column that nothing names, ``is_certain``, only broken numbers are: others may be ids.
    """
    filled = [value for value in values if value not in ("", "-")]
    numbers = [number_of(value) for value in filled]
    known = [number for number in numbers if number is not None]
    is_many = len(set(known)) > MAX_CLASSES
    is_broken = any(number != int(number) for number in known)
    is_score = is_broken or (is_many and not is_certain)
    return bool(known) and len(known) == len(numbers) and is_score


def _are_lists(table: RawTable, name: str) -> bool:
    """Return whether most cells of a column are lists of a few short values."""
    lists = [values for (_, held), values in table.lists.items() if held == name]
    labels = {value for values in lists for value in values}
    is_short = all(len(label) <= LONGEST_LABEL for label in labels)
    lower = name.strip().lower()
    is_id = bool(NO_LABELS.fullmatch(lower) or ANSWERS.fullmatch(lower)) or lower in NAMES["answer"]
    is_few = 0 < len(labels) <= max(MAX_CLASSES, len(table.cells) // 2)
    return is_short and is_few and not is_id and 2 * len(lists) > len(table.cells)


def _are_labels(table: RawTable, name: str) -> bool:
    """Return whether a column has a few short labels on most rows, each on two or more of them."""
    if table.has_header and NO_LABELS.fullmatch(name.strip().lower()):
        return False
    values = column(table, name)
    filled = [value for value in values if value]
    labels = set(filled)
    is_short = all(len(label) <= LONGEST_LABEL for label in labels)
    few = MIN_CLASSES <= len(labels) <= min(MAX_CLASSES, len(filled) // 2)
    no_masks = not any(re.search(r"\[mask\]", label, re.I) for label in labels)
    return is_short and few and no_masks and 2 * len(filled) > len(values)
