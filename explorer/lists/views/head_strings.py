"""Sentences on the models' own heads on a list, the same on the page and in a shell."""

from collections.abc import Iterator, Mapping, Sequence

from explorer.analysis.digits import cosine, counted, enumerated, percent
from explorer.lists.head_scores import HeadDuel, HeadScores, HeadScoresResult, HeadSetsResult
from explorer.lists.heads import (
    BROKEN,
    NO_HEAD,
    ONE_NAME,
    OTHER_KIND,
    OTHER_NAMES,
    NotScored,
    matched,
)
from explorer.lists.multilabel import MultilabelList
from explorer.lists.results import LabelledList, ListResult, ScoredList
from explorer.lists.tagged import TaggedList
from explorer.lists.views.strings import correlation, first_of, nats, p_value, scored
from explorer.models.specs import ONE_LABEL, SCORE, SEVERAL_LABELS

ALPHA = 0.05
HEAD = "{label}'s own head"
MOST_FREQUENT = "always answering the most frequent label"
NOTHING = "No own head is significantly better than {guess}, as far as {n} rows can show."
SOLE = (
    "{best}'s own head is the best of the models' heads for your labels: the others are "
    "significantly worse on {n} rows."
)
ALONE = "{best}'s own head is significantly better than {guess} on {n} rows."
ALIKE = (
    "The heads of {best} are significantly better than {guess}; {n} rows are too few to tell "
    "{which}."
)
OPEN = (
    "{best}'s own head is significantly better than {guess}; {n} rows are too few to tell it from "
    "that of {rivals}."
)
THEM_APART, OR_FROM = "them apart", ", or from that of {rivals}"
WORDS = {
    -1: "",
    0: " A bag of words that learns from these rows may do as well.",
    1: " A bag of words that learns from these rows is significantly better.",
}
ACCURACY = "Accuracy of the models' own heads: {shares}."
BETTER = (
    "{better}'s head is right on more rows than {worse}'s: {more} that only it has right, against "
    "{fewer}"
)
SURE = "{differences} (McNemar's exact test, {level}{holm})."
HOLM = " after Holm's correction for {n}"
UNSURE = "{rows} are too few to tell the heads apart (McNemar's exact test, {p})."
SMALLEST, ONLY = "smallest p of {n} after Holm's correction: {p}", "p = {p}"
SAME = "The heads are right on the same rows and wrong on the same rows."
CALIBRATED = (
    "The probabilities of {names} agree with how often {they} {are} right, as far as {n} rows can "
    "show."
)
ERROR = (
    "{label}'s own head is {how}: its mean probability is {confidence}, and {right} of its "
    "predictions are right. The expected calibration error is {error}, against {chance} by chance."
)
TEMPERATURE = (
    " A temperature of {value}{end} lowers the mean loss on rows that it was not fitted to from "
    "{before} to {after} nats."
)
AT_END = ", the end of the range,"
OVER, UNDER, NOT_CALIBRATED = "overconfident", "underconfident", "not calibrated"
UNKNOWN = (
    "{label}'s own head does not know {labels}: {n} of {rows} {have} {it} and {are} not scored."
)
BY_NUMBER = (
    "The labels of {names} have no names: 0 of your list is read as LABEL_0, and so on. Name them "
    "to be sure ({how})."
)
SIGMOID = "The labels of {names} do not exclude each other: of each row the likeliest one counts."
NOT_NAMED = (
    "The own head of {names} is not scored: its labels are {labels}, and yours are {yours}. Name "
    "them in the order of its outputs to score it ({how})."
)
NOT_NAMED_SEVERAL = (
    "The heads of {names} are not scored: their labels are {labels}, and yours are {yours}. "
    "Name them in the order of their outputs to score them ({how})."
)
IN_TASKS = "in Tasks on the page"
HOW = IN_TASKS + ', labels={{"{key}": [...]}} in Python, --labels {key}=NAME,NAME in a shell'
HOW_OF_ADAPTER = 'labels={{"{key}": [...]}} in Python, --labels {key}=NAME,NAME in a shell'
ONE_KNOWN = (
    "{label}'s own head is not scored: of your labels it knows only {known}, so that nothing could "
    "be told apart."
)
GIVES = {
    SCORE: "{label}'s own head gives a score, and these rows have labels: it is not scored.",
    ONE_LABEL: "{label}'s own head gives one label to a text, and these rows have {what}: it is "
    "not scored.",
    SEVERAL_LABELS: "{label}'s own head gives labels, and these rows have {what}: it is not "
    "scored.",
}
HAVE = {"scored": "a score", "multilabel": "several labels", "labelled": "one label each"}
SEVERAL_SCORES = "{label}'s own head gives {n} scores, and these rows have one: it is not scored."
WITHOUT = "{names} {bring} no head that classifies texts."
ON_CARD = (
    "{labels}'s card names “{name}” among its data sets, and your list has the columns or the name "
    "of {known}: it may have learnt from these rows, and other texts may be harder for it."
)
ON_CARDS = (
    "The cards of {labels} name “{name}” among their data sets, and your list has the columns or "
    "the name of {known}: they may have learnt from these rows, and other texts may be harder for "
    "them."
)
COPIES = (
    "{n} of {rows} are word for word among the training rows of SST-2, and {label}'s own head is "
    "right in {share}: it may have learnt from them, and other texts may be harder for it."
)
MACRO_F1 = "Macro F1 of the models' own heads: {shares}."
SET_BETTER = "{better}'s head has the higher macro F1 than {worse}'s, by {by}"
SET_SURE = "{differences} (test of Yeh 2000, {level} after Holm's correction for {n})."
SET_UNSURE = (
    "{rows} are too few to tell the heads apart (test of Yeh 2000, smallest p of {n} after Holm's "
    "correction: {p})."
)
CORRELATIONS = "Scores of the models' own heads and yours: {shares} (Spearman; Pearson {linear})."


def head_verdict(result: ListResult) -> tuple[str, ...]:
    """Return what the models' own heads achieve: the verdict, scores and comparisons.

    It is empty where no own head is scored.
    """
    if isinstance(result, LabelledList) and result.heads.scores:
        scores = " ".join((accuracies_said(result), *duels_said(result)))
        return (verdict_said(result), scores) if len(result.result.labels.names) > 1 else (scores,)
    if isinstance(result, MultilabelList) and result.heads.scores:
        return tuple(_sets_said(result, result.heads))
    if isinstance(result, ScoredList) and result.heads.scores:
        return (_correlations_said(result, result.heads),)
    return ()


def verdict_said(result: LabelledList) -> str:
    """Return which own head is best, as far as the rows can show."""
    found, scores = result.heads.verdict, result.heads.scores
    names = {key: result.labels[key] for key in scores}
    n = f"{min(int(each.rows.sum()) for each in scores.values()):,}"
    if not found.best:
        return NOTHING.format(guess=MOST_FREQUENT, n=n)
    said = {"guess": MOST_FREQUENT, "n": n, "best": enumerated(names[key] for key in found.best)}
    if len(scores) == 1:
        sentence = ALONE.format(**said)
    elif found.is_sole:
        sentence = SOLE.format(**said)
    else:
        rivals = enumerated(names[key] for key in found.unsure)
        which = THEM_APART + (OR_FROM.format(rivals=rivals) if rivals else "")
        template = ALIKE if len(found.best) > 1 else OPEN
        sentence = template.format(which=which, rivals=rivals, **said)
    return sentence + WORDS[found.words]


def accuracies_said(result: LabelledList) -> str:
    """Return the accuracy of each own head with its interval."""
    shares = [
        f"{result.labels[key]} {scored(each.accuracy)}" for key, each in result.heads.scores.items()
    ]
    return ACCURACY.format(shares=enumerated(shares))


def duels_said(result: LabelledList) -> Iterator[str]:
    """Yield which own heads differ by McNemar's exact test, corrected by Holm."""
    duels = result.heads.duels
    if not duels:
        return
    sure = [duel for duel in duels if duel.corrected < ALPHA]
    n = counted(len(duels), "comparison")
    if sure:
        yield SURE.format(
            differences="; ".join(_better(duel, result.labels) for duel in sure),
            level=f"p {at_most(max(duel.corrected for duel in sure))}",
            holm=HOLM.format(n=n) if len(duels) > 1 else "",
        )
    elif not any(duel.only_first or duel.only_second for duel in duels):
        yield SAME
    else:
        rows = counted(min(duel.n_rows for duel in duels), "row")
        p = p_value(min(duel.corrected for duel in duels))
        yield UNSURE.format(rows=rows, p=(SMALLEST if len(duels) > 1 else ONLY).format(n=n, p=p))


def at_most(p: float) -> str:
    """Format a bound of p values, rounded up."""
    return "< 0.001" if p < 0.001 else f"≤ {min(1.0, p + 0.0005):.3f}"


def _better(duel: HeadDuel, labels: Mapping[str, str]) -> str:
    better, worse = duel.better_and_worse
    fewer, more = sorted((duel.only_first, duel.only_second))
    return BETTER.format(better=labels[better], worse=labels[worse], more=more, fewer=fewer)


def _sets_said(result: MultilabelList, heads: HeadSetsResult) -> Iterator[str]:
    shares = [
        f"{result.labels[key]} {scored(each.scores.macro)}" for key, each in heads.scores.items()
    ]
    yield MACRO_F1.format(shares=enumerated(shares))
    if not heads.duels:
        return
    sure, n = [each for each in heads.duels if each.corrected < ALPHA], len(heads.duels)
    if sure:
        said = []
        for each in sure:
            pair = (each.first, each.second)
            better, worse = pair if each.macro > 0 else pair[::-1]
            names = {"better": result.labels[better], "worse": result.labels[worse]}
            said.append(SET_BETTER.format(by=percent(abs(each.macro)), **names))
        level = f"p {at_most(max(each.corrected for each in sure))}"
        yield SET_SURE.format(differences="; ".join(said), level=level, n=counted(n, "comparison"))
    else:
        p = p_value(min(each.corrected for each in heads.duels))
        rows = counted(len(result.texts.rows), "row")
        yield SET_UNSURE.format(rows=rows, n=counted(n, "comparison"), p=p)


def _correlations_said(result: ScoredList, heads: HeadScoresResult) -> str:
    shares = [
        f"{result.labels[key]} {correlation(each.spearman)}" for key, each in heads.scores.items()
    ]
    linear = [cosine(each.pearson.value) for each in heads.scores.values()]
    return CORRELATIONS.format(shares=enumerated(shares), linear=enumerated(linear))


def head_cautions(result: ListResult) -> tuple[str, ...]:
    """Return what else a reader of the own heads' scores must know, and why others have none."""
    if not isinstance(result, LabelledList | MultilabelList | ScoredList):
        return ()
    scores = result.heads.scores
    lines: list[str] = []
    if isinstance(result, LabelledList) and scores:
        lines += [*on_cards_said(result), *calibration_said(result), *unknown_said(result)]
        lines += [*readings_said(result)]
    return (*lines, *others_said(result))


def on_cards_said(result: LabelledList | TaggedList) -> Iterator[str]:
    """Yield whose card names a data set whose form the list has, and who is right on its copies.

    It is evidence, and no proof.
    """
    alike: dict[tuple[str, str], list[str]] = {}
    for key, pairs in result.heads.on_cards.items():
        for pair in pairs:
            alike.setdefault(pair, []).append(result.labels[key])
    for (name, known), labels in alike.items():
        template = ON_CARD if len(labels) == 1 else ON_CARDS
        yield template.format(labels=enumerated(labels), name=name, known=known)
    if isinstance(result, TaggedList):
        return
    for key in result.heads.as_if_seen:
        yield COPIES.format(
            n=f"{result.heads.copies:,}",
            rows=counted(len(result.texts.rows), "row"),
            share=percent(result.heads.scores[key].accuracy.value),
            label=result.labels[key],
        )


def calibration_said(result: LabelledList) -> Iterator[str]:
    """Yield how far each own head's probabilities are from how often it is right.

    An error counts if fewer than 5% of the draws of calibrated probabilities have as large a one,
    divided by the number of heads.
    """
    scores = result.heads.scores
    agree = []
    for key, each in scores.items():
        if each.calibration.p_value * len(scores) < ALPHA:
            yield _error_said(result.labels[key], each)
        else:
            agree.append(key)
    if agree:
        names = enumerated(HEAD.format(label=result.labels[key]) for key in agree)
        n = f"{min(int(scores[key].rows.sum()) for key in agree):,}"
        they, are = ("it", "is") if len(agree) == 1 else ("they", "are")
        yield CALIBRATED.format(names=names, they=they, are=are, n=n)


def _error_said(label: str, scores: HeadScores) -> str:
    found, right = scores.calibration, scores.accuracy.value
    apart = found.confidence - right
    how = NOT_CALIBRATED
    if abs(apart) > found.error / 2:
        how = OVER if apart > 0 else UNDER
    said = {"confidence": percent(found.confidence), "right": percent(right)}
    errors = {"error": percent(found.error), "chance": percent(found.by_chance)}
    sentence = ERROR.format(label=label, how=how, **said, **errors)
    fitted = found.temperature
    if fitted is None or not fitted.lowered.low > 0:
        return sentence
    end = AT_END if fitted.is_at_end else ""
    losses = {"before": nats(fitted.loss_before, 3), "after": nats(fitted.loss_after, 3)}
    return sentence + TEMPERATURE.format(value=f"{fitted.value:.2f}", end=end, **losses)


def unknown_said(result: LabelledList) -> Iterator[str]:
    """Yield whose own head does not know some labels of the list, and on how many rows they are."""
    n_rows = len(result.texts.rows)
    for key, each in result.heads.scores.items():
        n = n_rows - int(each.rows.sum())
        if n:
            labels = [name for name in result.result.labels.names if name not in each.labels]
            yield UNKNOWN.format(
                label=result.labels[key],
                labels=enumerated(first_of([f"“{label}”" for label in labels])),
                n=f"{n:,}",
                rows=counted(n_rows, "row"),
                have="has" if n == 1 else "have",
                it="it" if len(labels) == 1 else "one of them",
                are="is" if n == 1 else "are",
            )


def readings_said(result: LabelledList) -> Iterator[str]:
    """Yield whose labels are matched by number, and whose do not exclude each other."""
    scores = result.heads.scores
    numbered = [key for key, each in scores.items() if each.head.by_number]
    if numbered:
        names = enumerated(HEAD.format(label=result.labels[key]) for key in numbered)
        yield BY_NUMBER.format(names=names, how=HOW.format(key=numbered[0]))
    several = [key for key, each in scores.items() if each.head.problem == SEVERAL_LABELS]
    if several:
        yield SIGMOID.format(
            names=enumerated(HEAD.format(label=result.labels[key]) for key in several)
        )


def not_scored(result: ListResult) -> Iterator[str]:
    """Yield why some own heads are not scored on a list with labels or scores."""
    if isinstance(result, LabelledList | MultilabelList | ScoredList):
        yield from others_said(result)


def others_said(result: LabelledList | MultilabelList | ScoredList) -> Iterator[str]:
    """Yield why some own heads are not scored; those with the same labels share a sentence.

    Of models without a head nothing is said unless others have one, nor of a sentiment adapter
    where the list has no two labels.
    """
    others, kind = result.heads.asked.others, result.texts.kind
    yours = sorted({label for row in result.texts.rows for label in row.labels or (row.label,)})
    alike: dict[tuple[str, ...], list[str]] = {}
    for key, why in others.items():
        if why.is_adapter and (kind != "labelled" or len(yours) != len(why.labels)):
            continue
        if why.reason == OTHER_NAMES:
            alike.setdefault(why.labels, []).append(key)
        elif why.reason == BROKEN:
            yield why.said
        elif why.reason != NO_HEAD:
            yield _not_scored_said(result.labels[key], why, (kind, yours))
    for labels, keys in alike.items():
        template = NOT_NAMED if len(keys) == 1 else NOT_NAMED_SEVERAL
        yield template.format(
            names=enumerated(result.labels[key] for key in keys),
            labels=enumerated(first_of(labels)),
            yours=enumerated(first_of(yours)),
            how=(HOW_OF_ADAPTER if others[keys[0]].is_adapter else HOW).format(key=keys[0]),
        )
    without = [result.labels[key] for key, why in others.items() if why.reason == NO_HEAD]
    if without and len(without) < len(result.labels):
        yield WITHOUT.format(
            names=enumerated(without), bring="brings" if len(without) == 1 else "bring"
        )


def _not_scored_said(label: str, why: NotScored, listed: tuple[str, Sequence[str]]) -> str:
    """Return why a head is not scored that has other outputs than the list, or one known label."""
    kind, yours = listed
    if why.reason == ONE_NAME:
        known = enumerated(f"“{name}”" for name in matched(why.labels, yours)[0])
        return ONE_KNOWN.format(label=label, known=known)
    if why.reason == OTHER_KIND and why.problem == SCORE and kind == "scored":
        return SEVERAL_SCORES.format(label=label, n=len(why.labels))
    return GIVES[why.problem].format(label=label, what=HAVE[kind])
