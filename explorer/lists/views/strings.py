"""Sentences on the result of a list of texts, the same on the page and in a shell."""

import math
from collections.abc import Mapping, Sequence

import numpy as np

from explorer.analysis.digits import (
    cosine,
    counted,
    enumerated,
    percent,
    probability,
    told_apart,
)
from explorer.analysis.precision import ListPrecision
from explorer.lists.comparison import Duel, Share
from explorer.lists.judge import Scored
from explorer.lists.multilabel import MultilabelList
from explorer.lists.results import (
    LabelledList,
    ListResult,
    MaskedList,
    PairList,
    ScoredList,
    SentenceList,
    UnjudgedList,
)
from explorer.lists.rows import JUDGED, TextList
from explorer.lists.scored import BASELINE as WORDS_KEY
from explorer.lists.tagged import TaggedList

NOUNS = {
    "masked": "masked row",
    "plain": "sentence",
    "pairs": "pair",
    "labelled": "labelled text",
    "multilabel": "text",
    "scored": "scored text",
    "tagged": "sentence",
}
"""A row of each kind."""
OF_PAIRS = {"labelled": "labelled pair", "multilabel": "pair", "scored": "scored pair"}
SEVERAL, TAGGED = " with several labels each", " whose words have tags"
ROLES = {
    "text": "text",
    "second": "second text",
    "answer": "answer",
    "label": "label",
    "group": "group",
    "score": "score",
    "direction": "direction of the stereotype",
    "unrelated": "unrelated sentence",
    "term": "target term",
    "context": "context",
    "tokens": "list of words",
    "tags": "list of tags",
}
GROUPS = (
    "The rows of a group stay together: {groups}. Intervals and tests count each group, not each "
    "row."
)
PAIR = "“{good}” is compared with “{bad}”"
MOST_NAMED = 5
READ_AS = "{rows}{header}: {columns}.{unused}{note}"
NO_HEADER = ", no header"
ONE_COLUMN = "“{name}” {verb} {role}{values}"
UNUSED = " Not used: {names}."
MORE = "{n} more"
BASELINES = {"tfidf": "TF-IDF", "majority": "most frequent label"}
"""Names of the classifiers that are no models."""
SET_BASELINES = {"tfidf": "TF-IDF", "majority": "every label"}
"""The same of rows with several labels, whose constant gives every label."""
WORDS_NAME = "words alone"
"""Name of the regression on the words of rows with a score."""
ALPHA, GUESS_ALPHA = 0.05, 0.01
ANSWERS = "Of {rows}, the given answer comes first in {shares}."
ALONE = "{label} has answered {rows}; without given answers there is nothing to count."
SAME = "Of {rows}, the first word is the same in {shares}."
EVERY_TIME = "On {rows} {names} give the same word every time."
ONCE = "On this row {names} give the same word."
FITS_BEST = "{best} fits {rows} best ({value} nats a word by PLL-word-l2r), against {others}."
NO_BEST = "Nats a word by PLL-word-l2r over {rows}: {words}."
NONE_COMPARED = "No {noun} can be compared: {unknown}."
HAS_UNKNOWN = "{label} reads [UNK] in {n}"
UNJUDGED = (
    "No row has a prediction yet: what predicts them is trained once all rows are done. {rows} "
    "{are}."
)
UNTESTED = "Whether other sentences rank the models alike is not tested."
PERPLEXITY = "By pseudo-perplexity only models of one vocabulary can be compared: {numbers}."
GOOD = "Of {rows}, {first} is likelier in {shares}."
ACCURACY = "Accuracy: {shares}."
ACCURACY_OF_FEATURES = "Accuracy from frozen features: {shares}."
MACRO_F1 = "Macro F1: {shares}. With the rows' labels shuffled: {controls}."
RANKS = "Spearman correlation of predictions and scores: {values}."
CONTROL = "By the same regression on shuffled scores: {values}."
BETTER = (
    "{better} is right on more rows than {worse}: {more} that only it has right, against {fewer}"
)
BETTER_SIDE = (
    "{better} finds {first} likelier in more pairs than {worse}: {more} in which only it does, "
    "against {fewer}"
)
SURE = "{differences} (McNemar's exact test, {level} after correction for {n})."
UNSURE = (
    "{rows} are too few to tell the models apart (McNemar's exact test, smallest p of {n}: {p})."
)
ONE_ROW = "One {noun} cannot show a difference between models."
SAME_ROWS = "The models are right on the same {noun}s and wrong on the same {noun}s."
SAME_SIDES = "The models find {first} likelier in the same pairs."

PRECISION = {
    "name": "{dtype} against float32, on {rows}.",
    "masked": "{label}: another first word in {changed}; probabilities of first words differ by up "
    "to {largest}.",
    "plain": "{label}: PLLs differ by up to {largest} nats.",
    "pairs": "{label}: the other sentence is likelier in {changed}; PLLs differ by up to {largest} "
    "nats.",
    "labelled": "{label}: features differ by up to {largest} of their length.",
    "multilabel": "{label}: features differ by up to {largest} of their length.",
    "scored": "{label}: features differ by up to {largest} of their length.",
    "tagged": "{label}: another tag in {changed}; probabilities differ by up to {largest}.",
    "absent": "{dtype} is not compared with float32: {reason}",
}
"""Sentences on what half precision changes in a list."""


def headline(result: ListResult) -> str:
    """Return what a list's result says, with 95% intervals; for labelled rows the advice.

    What tagged rows say is in ``tag_strings``.
    """
    if isinstance(result, MaskedList):
        return _masked(result)
    if isinstance(result, SentenceList):
        return _sentences(result)
    if isinstance(result, TaggedList):
        return ""
    if isinstance(result, UnjudgedList):
        n = len(result.texts.rows)
        return UNJUDGED.format(rows=counted(n, "row"), are="is" if n == 1 else "are")
    if isinstance(result, PairList):
        shares = {result.labels[key]: share for key, share in result.summary.good_first.items()}
        n = result.summary.n_compared
        if not n:
            return NONE_COMPARED.format(noun="pair", unknown=unknown_said(result))
        return GOOD.format(
            first=result.sides.first, shares=with_intervals(shares), rows=counted(n, "pair")
        )
    return result.result.advice if isinstance(result, ScoredList) else result.advice.sentence


def second_line(result: ListResult) -> str:
    """Return what comparing the models allows to say; empty for one model alone."""
    if isinstance(result, MaskedList):
        n_answers = sum(bool(row.answer) for row in result.texts.rows)
        return difference(result.summary.duels, result.labels, n_answers) if n_answers else ""
    if isinstance(result, PairList):
        n_pairs, duels = result.summary.n_compared, result.summary.duels
        first = "" if result.sides.is_judged else result.sides.first
        return difference(duels, result.labels, n_pairs, "pair", first) if n_pairs else ""
    if isinstance(result, LabelledList) and result.untrained:
        return ""
    if isinstance(result, LabelledList):
        names = names_of(result)
        scores = {names[key]: score for key, score in result.result.accuracy.items()}
        template = ACCURACY_OF_FEATURES if result.heads.scores else ACCURACY
        return template.format(
            shares=enumerated([f"{name} {scored(s)}" for name, s in scores.items()])
        )
    if isinstance(result, MultilabelList):
        return _macro_f1(result)
    if isinstance(result, UnjudgedList | TaggedList):
        return ""
    if isinstance(result, ScoredList):
        found = result.result.correlations
        values = [f"{name} {correlation(found[k].spearman)}" for k, name in scored_names(result)]
        controls = [f"{name} {cosine(found[k].control)}" for k, name in scored_names(result)]
        control = CONTROL.format(values=enumerated(controls))
        return f"{RANKS.format(values=enumerated(values))} {control}"
    is_compared = len(result.labels) > 1 and result.summary.n_compared
    return _perplexities(result) if is_compared else ""


def _macro_f1(result: MultilabelList) -> str:
    """Return each classifier's macro F1, and those of the same procedure on shuffled labels."""
    names, found = names_of(result), result.result.scores
    shares = [f"{name} {scored(found[key].macro)}" for key, name in names.items()]
    controls = [
        f"{name} {percent(found[key].control)}"
        for key, name in names.items()
        if np.isfinite(found[key].control)
    ]
    return MACRO_F1.format(shares=enumerated(shares), controls=enumerated(controls))


def unknown_said(result: SentenceList | PairList) -> str:
    """Return in how many rows each model reads a word as [UNK]."""
    counts = {key: n for key, n in result.summary.unknown.items() if n}
    return enumerated(
        HAS_UNKNOWN.format(label=result.labels[key], n=f"{n:,}") for key, n in counts.items()
    )


def precision_sentence(result: ListResult, precision: ListPrecision | None) -> str:
    """Return what half precision changes in a list; empty in float32."""
    if precision is None:
        return ""
    dtype, differences = precision.dtype, precision.differences
    if not differences:
        return PRECISION["absent"].format(dtype=dtype, reason=precision.not_compared)
    kind, n_rows = result.texts.kind, next(iter(differences.values())).n_rows
    rows = f"the {n_rows} shortest rows" if n_rows > 1 else "the shortest row"
    if n_rows == len(result.texts.rows):
        rows = f"all {n_rows} rows" if n_rows > 1 else "the one row"
    sentences = [PRECISION["name"].format(dtype=dtype, rows=rows)]
    for key, each in differences.items():
        is_share = kind in ("masked", "tagged", *JUDGED)
        largest = probability(each.largest) if is_share else f"{each.largest:.3f}"
        sentence = PRECISION[kind].format(
            label=result.labels[key], changed=each.n_changed, largest=largest
        )
        sentences.append(sentence)
    return " ".join(sentences)


def names_of(result: LabelledList | MultilabelList) -> dict[str, str]:
    """Return the name of each classifier: the models' labels, then the baselines' names."""
    names = SET_BASELINES if isinstance(result, MultilabelList) else BASELINES
    judged = result.result.judged
    return {**result.labels, **{key: name for key, name in names.items() if key in judged}}


def difference(
    duels: Sequence[Duel],
    labels: Mapping[str, str],
    n_rows: int,
    noun: str = "row",
    first: str = "",
) -> str:
    """Return which models differ significantly, by p values times the number of comparisons.

    Args:
        duels: The comparisons.
        labels: By model its label.
        n_rows: The number of rows compared.
        noun: What a row is called.
        first: Name of the side of a pair that is counted; empty where a row is right or wrong.
    """
    if not duels:
        return ""
    sure = [duel for duel in duels if duel.p_value * len(duels) < ALPHA]
    if not sure:
        if n_rows == 1:
            return ONE_ROW.format(noun=noun)
        if not any(duel.only_first or duel.only_second for duel in duels):
            return SAME_SIDES.format(first=first) if first else SAME_ROWS.format(noun=noun)
        smallest = min(duel.p_value for duel in duels)
        n = counted(len(duels), "comparison")
        return UNSURE.format(rows=counted(n_rows, noun), n=n, p=p_value(smallest))
    level = len(duels) * max(duel.p_value for duel in sure)
    # Rounded to the nearest, the bound would be too low for every second one.
    bound = "p < 0.001" if level < 0.001 else f"p ≤ {math.ceil(1e3 * level) / 1e3:.3f}"
    return SURE.format(
        differences="; ".join(_better(duel, labels, noun, first) for duel in sure),
        level=bound,
        n=counted(len(duels), "comparison"),
    )


def _better(duel: Duel, labels: Mapping[str, str], noun: str, first: str) -> str:
    better, worse = (
        (duel.first, duel.second)
        if duel.only_first > duel.only_second
        else (duel.second, duel.first)
    )
    more, fewer = sorted((duel.only_first, duel.only_second), reverse=True)
    sentence = BETTER_SIDE if first else BETTER.replace("rows", f"{noun}s")
    names = {"better": labels[better], "worse": labels[worse], "first": first}
    return sentence.format(more=more, fewer=fewer, **names)


def p_value(p: float) -> str:
    """Format a p value in three decimals; smaller ones as a bound."""
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def with_intervals(shares: Mapping[str, Share]) -> str:
    """Format the share of each name with its 95% interval."""
    return enumerated([f"{interval(share)} for {name}" for name, share in shares.items()])


def interval(share: Share) -> str:
    """Format a share with its 95% interval."""
    low, high = share.interval
    return f"{percent(share.value)} [{percent(low)}, {percent(high)}]" if share.n else "–"


def scored_names(result: ScoredList) -> list[tuple[str, str]]:
    """Return the key and the name of each regression: the models', then that on words."""
    return [*result.labels.items(), (WORDS_KEY, WORDS_NAME)]


def correlation(score: Scored) -> str:
    """Format a correlation with its 95% interval; a dash where there is none."""
    if np.isnan(score.value):
        return "–"
    return f"{cosine(score.value)} [{cosine(score.low)}, {cosine(score.high)}]"


def scored(score: Scored) -> str:
    """Format a score with its 95% interval."""
    return f"{percent(score.value)} [{percent(score.low)}, {percent(score.high)}]"


def nats(value: float, decimals: int = 2) -> str:
    """Format a number of nats with a typographic minus."""
    return f"{value:.{decimals}f}".replace("-", "−")


def _masked(result: MaskedList) -> str:
    n_answers = sum(bool(row.answer) for row in result.texts.rows)
    if n_answers:
        shares = {result.labels[key]: share for key, share in result.summary.at_1.items()}
        return ANSWERS.format(shares=with_intervals(shares), rows=counted(n_answers, "row"))
    rows = counted(len(result.texts.rows), "row")
    if not result.summary.agreement:
        return ALONE.format(label=next(iter(result.labels.values())), rows=rows)
    if all(share.hits == share.n for share in result.summary.agreement.values()):
        once = ONCE if len(result.texts.rows) == 1 else EVERY_TIME
        return once.format(rows=rows, names=enumerated(result.labels.values()))
    agreement = {
        f"{result.labels[a]} and {result.labels[b]}": share
        for (a, b), share in result.summary.agreement.items()
    }
    return SAME.format(shares=with_intervals(agreement), rows=rows)


def _sentences(result: SentenceList) -> str:
    """Say which model fits best; only the numbers where none is ahead of all.

    Only sentences that every model can read are compared.
    """
    labels, n = result.labels, result.summary.n_compared
    if not n:
        return NONE_COMPARED.format(noun="sentence", unknown=unknown_said(result))
    values = result.summary.per_word
    printed = dict(zip(values, told_apart([*values.values()], nats, 2), strict=True))
    best = max(values, key=lambda key: values[key])
    if len(values) < 2 or list(printed.values()).count(printed[best]) > 1:
        words = enumerated([f"{labels[key]} {value}" for key, value in printed.items()])
        return NO_BEST.format(rows=counted(n, "sentence"), words=words)
    others = [f"{value} for {labels[key]}" for key, value in printed.items() if key != best]
    rows = f"these {n:,} sentences" if n > 1 else "this sentence"
    return FITS_BEST.format(
        best=labels[best], rows=rows, value=printed[best], others=enumerated(others)
    )


def _perplexities(result: SentenceList) -> str:
    numbers = [f"{result.labels[k]} {v:,.1f}" for k, v in result.summary.pseudo_perplexity.items()]
    return f"{UNTESTED} {PERPLEXITY.format(numbers=enumerated(numbers))}"


def read_as(texts: TextList) -> str:
    """Return how a list was read: its kind, the column of each role, and the columns not used.

    Example: 1,043 labelled texts, no header: “column 4” is the text and “column 2” the label
    (0, 1). Not used: “column 1” and “column 3”.
    """
    noun = (OF_PAIRS if "second" in texts.columns else NOUNS)[texts.kind]
    is_pair = texts.kind == "pairs"
    several = SEVERAL if texts.kind == "multilabel" else ""
    after = TAGGED if texts.kind == "tagged" else several
    columns = [PAIR.format(**texts.columns)] if is_pair else []
    for role, name in texts.columns.items():
        if role in ROLES:
            verb = "the" if columns and not is_pair else "is the"
            values = VALUES[role](texts) if role in VALUES else ""
            of_role = "list of labels" if several and role == "label" else ROLES[role]
            columns.append(ONE_COLUMN.format(name=name, verb=verb, role=of_role, values=values))
    return READ_AS.format(
        rows=counted(len(texts.rows), noun) + after,
        header="" if texts.has_header else NO_HEADER,
        columns=enumerated(columns),
        unused=UNUSED.format(names=_named(texts.unused)) if texts.unused else "",
        note=f" {texts.note}" if texts.note else "",
    )


def _labels(texts: TextList) -> str:
    several = [label for row in texts.rows for label in row.labels]
    is_several = texts.kind == "multilabel"
    labels = sorted({*several} if is_several else {row.label for row in texts.rows})
    return f" ({', '.join(first_of(labels))})"


def _tags(texts: TextList) -> str:
    tags = sorted({tag for row in texts.rows for tag in row.tags})
    return f" ({', '.join(first_of(tags))})"


def _scores(texts: TextList) -> str:
    values = [row.score for row in texts.rows if row.score is not None]
    return f" ({min(values):g} to {max(values):g})"


VALUES = {"label": _labels, "score": _scores, "tags": _tags}
"""By role the sentence on its values."""


def _named(names: Sequence[str]) -> str:
    return enumerated(first_of([f"“{name}”" for name in names]))


def first_of(names: Sequence[str]) -> list[str]:
    """Return the first names, and how many more there are."""
    more = len(names) - MOST_NAMED
    return [*names[:MOST_NAMED], MORE.format(n=more)] if more > 1 else [*names]


def groups_said(n_rows: int, n_groups: int) -> str:
    """Return that the rows of a group stay together, and how many groups there are."""
    return GROUPS.format(groups=f"{counted(n_rows, 'row')} in {counted(n_groups, 'group')}")
