"""Published forms that are no table of texts: labels inside lines, contexts to complete."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from explorer.analysis.digits import counted
from explorer.analysis.spans import OUTSIDE
from explorer.lists.json_rows import WITH_BLANK
from explorer.lists.roles import (
    MAX_CLASSES,
    MAX_ROWS,
    MIN_CLASSES,
    NAMES,
    LeftOut,
    RawTable,
    column,
)
from explorer.lists.spread import gathered
from explorer.models.tokens import MASK, clean_text
from explorer.refusal import Sentence

ALIKE = 0.9
"""Share of lines that have a form, for the file to have it; the others are left out."""
NOT_IN_FORM = Sentence("row-other-form", "It is not in the form of the other lines, {form}.")
PRONOUNS = re.compile(r"(?:s?he|him|his|hers?|they|them|theirs?)(?:self|selves)?", re.I)
BRACKETS = re.compile(r"\[([^\[\]|]+)\]")
WINOBIAS = re.compile(r"\d+ (.*\[[^\[\]|]+\].*\[[^\[\]|]+\].*)")
TREE, TREE_WORD = re.compile(r"\(\d .+\)"), re.compile(r"\(\d ([^()\s]+)\)")
TREE_BRACKETS = {"-LRB-": "(", "-RRB-": ")"}
AS_TEXT = "The words of each tree are the text, and the number at its root is the label."
NUMBERED = "The number at the beginning of each line is left out."
BULLETED = "The bullet at the beginning of each line is left out."
WITHOUT_BRACKETS = (
    "The number and the brackets of each line are left out; a pronoun in brackets is the answer at "
    "[MASK]."
)
TWO_CONTEXTS = "Each row of the file is {n} rows here: {pairs}."
ONE_PAIR = "“{context}” with “{target}”"
GAPS = re.compile(
    r"(?<!\w)_{2,}(?!\w)|_{3,}|\[blank\]|<blank>|\(blank\)|\{(?:mask|blank)\}|\*{3}mask\*{3}", re.I
)
FAINT_GAPS = re.compile(r"(?<!\S)_(?=[\s.,;:!?]|$)|(?<=\s)(?:\.{3,}|…)(?=\s)")
"""Signs that are a gap only where nearly all texts have one: a single underscore, and dots."""
GAP_READ = "The gap “{gap}” in “{name}” is read as [MASK]."
STEREOSET = {"stereotype", "anti-stereotype", "unrelated"}
WHOLE_SENTENCES = "Whole sentences are compared."
OF_BLANKS = " In {n} of {rows} the words at BLANK are too, for StereoSet's ss, lms and icat."
FOLLOWING = (
    " In {n} of {rows} the sentences follow their context: StereoSet scores those with a "
    "next-sentence head, which is not done here."
)
COMPLETED = "“{name}” has no [MASK]: one is put at the end of each text."
ENDS = (".", "!", "?", "…", '"', "”")
MOST_WORDS = 3
"""Words up to which an answer is one that completes a text."""
TAGS = re.compile(r"[^\W\d_]{1,5}(?:[-_+|][\w:=+|-]+)?|[.,:;!?()'\"`#$-]+|_")
"""Tag of a token, such as NNP, I-PER or O."""
MOST_FIELDS, UNIVERSAL = 12, 10
"""Fields of a line that has a token and its tags, and those of CoNLL-U."""
IN_CONLL_U = re.compile(r"1(?:-\d+)?|0\.1")
"""Number of the first line of a sentence of CoNLL-U."""


@dataclass(frozen=True, slots=True)
class LineForm:
    """Form of lines that hold more than a text."""

    form: str
    """The form in writing."""
    names: tuple[str, ...]
    cells: Callable[[str], Sequence[str | tuple[str, ...]] | None]
    """Cells of a line; None of a line that has another form."""
    note: str = ""
    is_strict: bool = False
    """Two labels or more, on two lines each on average, are needed to tell it from a text."""


def _of_fasttext(line: str) -> Sequence[str | tuple[str, ...]] | None:
    labels, words = [], line.split()
    while words and words[0].startswith("__label__"):
        labels.append(words.pop(0).removeprefix("__label__"))
    if not (words and labels and all(labels)):
        return None
    return labels[0] if len(labels) == 1 else tuple(labels), " ".join(words)


def _matched(pattern: str) -> Callable[[str], Sequence[str] | None]:
    compiled = re.compile(pattern)

    def cells(line: str) -> Sequence[str] | None:
        found = compiled.fullmatch(line)
        return found.groups() if found else None

    return cells


def _of_winobias(line: str) -> Sequence[str] | None:
    found = WINOBIAS.fullmatch(line)
    if not found:
        return None
    pronouns = [each for each in BRACKETS.finditer(found[1]) if PRONOUNS.fullmatch(each[1])]
    if len(pronouns) != 1:
        return BRACKETS.sub(r"\1", found[1]), ""
    start, end = pronouns[0].span()
    before, after = (BRACKETS.sub(r"\1", each) for each in (found[1][:start], found[1][end:]))
    return f"{before}{MASK}{after}", pronouns[0][1]


def _of_tree(line: str) -> Sequence[str] | None:
    words = TREE_WORD.findall(line)
    if not (words and TREE.fullmatch(line)):
        return None
    return line[1], " ".join(TREE_BRACKETS.get(word, word) for word in words)


FASTTEXT = LineForm("“__label__x text”", ("label", "text"), _of_fasttext)
"""The form that nothing else is like, however many labels there are."""
LINE_FORMS = (
    FASTTEXT,
    LineForm("“LABEL:sub text”", ("label", "text"), _matched(r"([A-Z]{2,8}):\w+\s+(.+)")),
    LineForm("“text@label”", ("text", "label"), _matched(r"(.+\S)@([A-Za-z][\w-]{0,30})")),
    LineForm("“1 [The cook] said [she] ...”", ("text", "answer"), _of_winobias, WITHOUT_BRACKETS),
    LineForm("“(3 (2 It) (4 sings))”", ("label", "text"), _of_tree, AS_TEXT),
    LineForm("“1. text”", ("text",), _matched(r"\(?\d{1,4}[.)]\s+(\S.*)"), NUMBERED),
    LineForm("“- text”", ("text",), _matched(r"[-*•–]\s+(\S.*)"), BULLETED),
    *(
        LineForm(form, names, _matched(pattern), is_strict=True)
        for form, names, pattern in (
            ("“text;label”", ("text", "label"), r"(.*[^\s;]);([A-Za-z0-9][\w-]{0,30})"),
            ("“text|||label”", ("text", "label"), r"(.*[^\s|])\s*\|{3}\s*([\w-]{1,31})"),
            ("“label,text”", ("label", "text"), r"([A-Za-z0-9][\w-]{0,30}),(\S.*)"),
            ("“1 text”", ("label", "text"), r"([+-]?\d)\s+(?:\|\s*)?([^\d|].*)"),
        )
    ),
)
"""Lines of fastText, TREC, the Financial PhraseBank, WinoBias, the Stanford Sentiment Treebank, and
of lists for courses and for the networks of Kim (2014)."""


def lines_in_form(lines: Sequence[str]) -> RawTable | None:
    """Return the table of lines that hold labels or answers; None of lines that are texts."""
    return next(filter(None, (_in_form(each, lines) for each in LINE_FORMS)), None)


def _in_form(form: LineForm, lines: Sequence[str]) -> RawTable | None:
    found = [form.cells(line) for line in lines[:MAX_ROWS]]
    read = [cells for cells in found if cells]
    if len(lines) < 2 or len(read) < ALIKE * len(found):
        return None
    if "label" in form.names and form is not FASTTEXT:
        labels = {cells[form.names.index("label")] for cells in read}
        if len(labels) > min(MAX_CLASSES, len(read) // (2 if form.is_strict else 1)):
            return None
        if form.is_strict and len(labels) < MIN_CLASSES:
            return None
    left_out = [
        LeftOut(number, NOT_IN_FORM.format(form=form.form))
        for number, cells in enumerate(found, 1)
        if not cells
    ]
    rows = [cells or ("",) * len(form.names) for cells in found]
    table = table_of_values(form.names, rows)
    n_more = len(lines) - len(rows)
    return replace(table, left_out=tuple(left_out), n_more=n_more, note=form.note)


def table_of_values(
    names: tuple[str, ...], rows: Iterable[Sequence[str | tuple[str, ...] | None]]
) -> RawTable:
    """Return a table of cells of which some hold several values, or objects (None)."""
    structured, lists, cells = set(), {}, []
    for number, row in enumerate(rows, 1):
        for name, value in zip(names, row, strict=True):
            if value is None:
                structured.add((number, name))
            elif isinstance(value, tuple):
                lists[number, name] = value
        cells.append(tuple("|".join(v) if isinstance(v, tuple) else v or "" for v in row))
    places = frozenset(structured)
    return RawTable(names, tuple(cells), has_header=True, structured=places, lists=lists)


def token_lines(text: str) -> RawTable | None:
    """Return a row for each sentence of a file with a token and its tags on each line, as CoNLL's.

    The token is the first field and the tag the last one. In CoNLL-U they are the form and the
    universal part of speech. None of a file in another form.
    """
    blocks = _token_blocks(text)
    widths = {len(fields) for block in blocks for fields in block}
    n_lines = sum(map(len, blocks))
    if len(widths) != 1 or not 2 <= min(widths) <= MOST_FIELDS or n_lines <= 3 * len(blocks):
        return None
    (width,) = widths
    is_universal = width == UNIVERSAL and all(map(IN_CONLL_U.fullmatch, (b[0][0] for b in blocks)))
    places: Sequence[int] = (1, 3) if is_universal else range(width)
    names = ["tokens", *(f"column {place}" for place in range(2, len(places))), "tags"]
    if is_universal:  # a word that is written as one and has several parts is left out
        blocks = [[fields for fields in block if fields[0].isdigit()] for block in blocks]
    tags = [fields[places[-1]] for block in blocks for fields in block]
    is_sure = is_universal or (OUTSIDE in tags and any(tag.startswith("B-") for tag in tags))
    is_few = is_sure or len(set(tags)) <= max(3, len(tags) // 3)
    if not (is_few and (len(blocks) > 1 or width > 2) and all(map(TAGS.fullmatch, tags))):
        return None
    rows = [[tuple(fields[i] for fields in block) for i in places] for block in blocks[:MAX_ROWS]]
    return replace(table_of_values(tuple(names), rows), n_more=len(blocks) - len(rows))


def _token_blocks(text: str) -> list[list[list[str]]]:
    """Return the fields of each line by sentence, without comments.

    A line that begins with # is a comment, unless it has as many fields as the others and a tag of
    theirs: # is a token of CoNLL-2003.
    """
    lines = [line.strip() for line in text.splitlines() if not line.startswith("-DOCSTART-")]
    sign = "\t" if all("\t" in line for line in lines if line and line[0] != "#") else None
    parts = [line.split(sign) for line in lines]
    known = {(len(f), f[-1]) for f in parts if f and f[0] and not f[0].startswith("#")}
    kept = [
        f if f and f[0] else []
        for f in parts
        if not f or not f[0].startswith("#") or (len(f), f[-1]) in known
    ]
    return [[*group] for filled, group in groupby(kept, bool) if filled]


def reshaped(table: RawTable) -> RawTable:
    """Return a table of one text a row, with a [MASK] where a text has a gap or is to be completed.

    Ettinger (2020) gives contexts and the words that complete them, NEG-136 two of each in a row.
    """
    if set(table.names) >= STEREOSET:
        return replace(table, note=_of_stereoset(table))
    return _with_masks(_completed(_one_context(gathered(table))))


def _of_stereoset(table: RawTable) -> str:
    """Return what is compared in rows of StereoSet, and what is not."""
    n, n_blank = len(table.cells), sum(map(bool, column(table, WITH_BLANK)))
    counts = {"rows": counted(n, "row")}
    return WHOLE_SENTENCES + "".join(
        template.format(n=f"{count:,}", **counts)
        for template, count in ((OF_BLANKS, n_blank), (FOLLOWING, n - n_blank))
        if count
    )


def _one_context(table: RawTable) -> RawTable:
    """Return a row for each ``context_x`` that has a ``target_x``, where there are several."""
    places = {name.strip().lower(): place for place, name in enumerate(table.names)}
    sides = [
        (place, places[target], name.removeprefix("context_"))
        for name, place in places.items()
        if name.startswith("context_") and (target := f"target_{name[8:]}") in places
    ]
    if len(sides) < 2 or table.structured or table.lists:
        return table
    used = {place for side in sides for place in side[:2]}
    kept = [place for place in range(len(table.names)) if place not in used]
    names = ("context", "target", "group", *(table.names[place] for place in kept))
    cells = [
        (row[context], row[target], group, *(row[place] for place in kept))
        for row in table.cells
        for context, target, group in sides
    ]
    pairs = [
        ONE_PAIR.format(context=table.names[context], target=table.names[target])
        for context, target, _ in sides
    ]
    n = len(sides)
    left_out = tuple(
        LeftOut(n * (row.number - 1) + place, row.reason)
        for row in table.left_out
        for place in range(1, n + 1)
    )
    n_more = n * table.n_more + max(0, len(cells) - MAX_ROWS)
    note = TWO_CONTEXTS.format(n=n, pairs=" and ".join(pairs))
    kept_rows = tuple(cells[:MAX_ROWS])
    return RawTable(names, kept_rows, table.has_header, left_out, n_more, note=note)


def _completed(table: RawTable) -> RawTable:
    """Return a table whose contexts end in a mask, where answers complete them."""
    lower = {name.strip().lower(): name for name in table.names}
    answer = next((lower[name] for name in NAMES["answer"] if name in lower), "")
    name = lower.get("context", lower.get("prompt", ""))
    texts, answers = column(table, name), column(table, answer)
    if not (texts and answer) or any(MASK in clean_text(text) for text in texts):
        return table
    n_open = sum(not text.endswith(ENDS) for text in texts)
    n_words = max(len(each.split()) for row in answers for each in row.split("|"))
    if n_open < ALIKE * len(texts) or n_words > MOST_WORDS:
        return table
    completed = [f"{text} {MASK}." * bool(text) for text in texts]
    return _rewritten(table, table.names.index(name), completed, COMPLETED)


def _with_masks(table: RawTable) -> RawTable:
    """Return a table with masks for the gaps of a column in which most texts have one or a mask."""
    for signs, share in ((GAPS, 0.5), (FAINT_GAPS, ALIKE)):
        for place in range(len(table.names)):
            texts = [row[place] for row in table.cells]
            masked = [MASK in clean_text(text) for text in texts]
            gaps = [[] if m else signs.findall(text) for m, text in zip(masked, texts, strict=True)]
            n_gaps = sum(len(found) == 1 for found in gaps)
            if n_gaps and sum(masked) + n_gaps >= share * len(texts):
                filled = [
                    signs.sub(MASK, text) if len(found) == 1 else text
                    for text, found in zip(texts, gaps, strict=True)
                ]
                gap = next(found[0] for found in gaps if len(found) == 1)
                return _rewritten(table, place, filled, GAP_READ, gap=gap)
    return table


def _rewritten(
    table: RawTable, place: int, texts: Sequence[str], template: str, **values: str
) -> RawTable:
    """Return a table with other texts in a column, and a note that says so."""
    cells = tuple(
        (*row[:place], text, *row[place + 1 :])
        for row, text in zip(table.cells, texts, strict=True)
    )
    note = " ".join(filter(None, (table.note, template.format(name=table.names[place], **values))))
    return replace(table, cells=cells, note=note)
