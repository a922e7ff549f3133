"""Sentences on pairs as a whole: the mean log-ratio of the sides, and CrowS-Pairs' own metric."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from explorer.analysis.digits import counted, enumerated, signed
from explorer.lists.comparison import Mean, MeanDuel
from explorer.lists.results import ListResult, MaskedList, PairList
from explorer.lists.stereoset import LEAST_TERMS, StereoScore
from explorer.lists.views.strings import GUESS_ALPHA, with_intervals

NUMBERS = {2: "two", 3: "three"}
MEANS = (
    "The mean log-ratio of {first} to {second} is {means} nats. {who} (Student's t test, 1% after "
    "correction for {n})."
)
FAVOURS = "{names} {favour} {side}"
ALL_FAVOUR = "All {n} favour {side}"
NONE_FAVOURS = "It is not shown to differ from 0 for any model"
MOST = "{best} favours {side} by more nats than {others}"
NOT_MOST = "which of them favours {side} most is not shown"
CROWS = (
    "By the metric of CrowS-Pairs, which scores only the unmodified tokens, the stereotype is "
    "likelier in {shares}; without a preference it would be 50% (Nangia et al. 2020)."
)
STEREO = (
    "StereoSet's own scores, of the words at BLANK in {rows} of {terms} (intrasentence; Nadeem et "
    "al. 2021): {scores}. Without a preference ss is 50, and lms of guessing is 50.{ends}"
)
STEREO_SCORES = "{label} ss {ss}, lms {lms}, icat {icat}"
FEW_TERMS = " Intervals need {least} terms that differ."
STEREO_UNKNOWN = " {label} scores [UNK] for {n} words that it cannot write."


def means_said(result: ListResult) -> Iterator[str]:
    """Yield what the mean log-ratios of pairs, or of two words, say, and CrowS-Pairs' metric."""
    if isinstance(result, MaskedList) and result.summary.offered:
        ratio, (first, second) = result.summary.ratio, result.summary.offered
        if all(mean.n for mean in ratio.values()):
            sides = (f"“{first}”", f"“{second}”")
            yield _means(ratio, result.summary.ratio_duels, result.labels, sides)
    if not isinstance(result, PairList):
        return
    if result.summary.n_compared:
        means, duels = result.summary.mean_margin, result.summary.margin_duels
        yield _means(means, duels, result.labels, (result.sides.first, result.sides.second))
    if result.crows:
        shares = {result.labels[key]: score.metric for key, score in result.crows.items()}
        yield CROWS.format(shares=with_intervals(shares))
    if result.stereo:
        yield _stereo(result)


def _stereo(result: PairList) -> str:
    """Say StereoSet's own scores of each model."""
    first = next(iter(result.stereo.values()))
    said = [
        STEREO_SCORES.format(label=result.labels[key], **stereo_said(score))
        for key, score in result.stereo.items()
    ]
    has_ends = np.isfinite([score.ss[1] for score in result.stereo.values()]).all()
    unknown = "".join(
        STEREO_UNKNOWN.format(label=result.labels[key], n=f"{score.n_unknown:,}")
        for key, score in result.stereo.items()
        if score.n_unknown
    )
    return (
        STEREO.format(
            rows=counted(first.n_rows, "row"),
            terms=counted(first.n_terms, "target term"),
            scores="; ".join(said),
            ends="" if has_ends else FEW_TERMS.format(least=LEAST_TERMS),
        )
        + unknown
    )


def stereo_said(score: StereoScore) -> dict[str, str]:
    """Format ss, lms and icat with their intervals, where they have one."""

    def said(value: float, low: float, high: float) -> str:
        return f"{value:.1f}" + (f" [{low:.1f}, {high:.1f}]" if np.isfinite(low) else "")

    return {"ss": said(*score.ss), "lms": said(*score.lms), "icat": said(*score.icat)}


Means = Mapping[str, Mean]
Labels = Mapping[str, str]
Duels = Sequence[MeanDuel]
Names = tuple[str, str]


def _means(means: Means, duels: Duels, labels: Labels, sides: Names) -> str:
    """Say what the mean log-ratios of two sides are, and who favours which."""
    printed = [f"{mean_said(means[key])} for {label}" for key, label in labels.items()]
    return MEANS.format(
        first=sides[0],
        second=sides[1],
        means=enumerated(printed),
        who=_who_favours(means, duels, labels, sides),
        n=counted(len(labels), "model"),
    )


def _who_favours(means: Means, duels: Duels, labels: Labels, sides: Names) -> str:
    """Say which models favour which side, and which of them by most."""
    sure = [key for key in labels if means[key].p_value * len(labels) < GUESS_ALPHA]
    if not sure:
        return NONE_FAVOURS
    said = []
    for side, sign in zip(sides, (1, -1), strict=True):
        keys = [key for key in sure if sign * means[key].value > 0]
        if len(keys) == len(labels) > 1:
            said.append(ALL_FAVOUR.format(n=NUMBERS.get(len(keys), len(keys)), side=side))
        elif keys:
            names, favour = (
                enumerated(labels[key] for key in keys),
                "favours" if len(keys) == 1 else "favour",
            )
            said.append(FAVOURS.format(names=names, favour=favour, side=side))
        best = max(keys, key=lambda key: sign * means[key].value, default="")
        rivals = [key for key in labels if key != best]
        if best and rivals and all(_is_more(duels, best, key, sign) for key in rivals):
            others = enumerated(labels[key] for key in rivals)
            said.append(MOST.format(best=labels[best], side=side, others=others))
        elif len(keys) > 1:
            said.append(NOT_MOST.format(side=side))
    return "; ".join(said)


def _is_more(duels: Duels, key: str, other: str, sign: int) -> bool:
    """Return whether a model favours a side significantly more than another does."""
    for each in duels:
        if {each.first, each.second} == {key, other}:
            value = each.difference.value * (1 if each.first == key else -1)
            is_sure = each.difference.p_value * len(duels) < GUESS_ALPHA
            return is_sure and sign * value > 0
    return False


def mean_said(mean: Mean) -> str:
    """Format a mean in nats with its interval; without one where fewer than two values differ."""
    if np.isnan(mean.value):
        return "–"
    ends = f" [{signed(mean.low)}, {signed(mean.high)}]" if np.isfinite(mean.low) else ""
    return f"{signed(mean.value)}{ends}"
