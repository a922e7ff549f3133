"""The sentences of the tasks tab: sentence pairs."""

from collections.abc import Sequence

from explorer.analysis.tasks.pairs import PairOrders, Skill
from explorer.models.specs import ModelSpec
from explorer.views.markup import Markup, finding, join, model_name, percent

LABEL = "Tasks"
QUESTION = "What are they used for?"
PAIRS_TITLE = "Sentence pairs: what does each objective notice?"
EXAMPLE_PAIR = "The kettle began to whistle. [SEP] She took it off the stove and poured the tea."
PAIRS = {
    "A": "the first sentence",
    "B": "the second sentence",
    "C": "a sentence from elsewhere",
    "written": "A, then B: as written",
    "swapped": "B, then A: swapped",
    "elsewhere": "A, then C: from elsewhere",
    "nsp": "Next sentence (NSP): does the second one follow?",
    "sop": "Sentence order (SOP): are the two in order?",
}
ON_EXAMPLE = (
    "An example, since the text above is no pair: write two sentences with [SEP] between them to "
    "see yours."
)
PAIRS_NOTE = (
    "A bar is the head's probability of yes; the line across it stands at one half. NSP was "
    "trained on true pairs and on second sentences from elsewhere, never on swapped ones; SOP on "
    "true and on swapped pairs, never on sentences from elsewhere (Devlin et al. 2019, section "
    "3.1; Lan et al. 2019, section 3.1)."
)
NO_HEAD = (
    "{label} has no sentence-pair head: it was trained without such an objective. RoBERTa's "
    "authors (Liu et al. 2019) had found that leaving next-sentence prediction out matches or "
    "slightly improves the results on tasks."
)
NOT_IN_CHECKPOINT = (
    "The checkpoint of {label} holds no weights for its {objective} head, although it was trained "
    "with one. A head made anew would answer at random, so there is no number here."
)
AT_CHANCE = (
    "The {objective} head of {label} tells {share} of {count:,} held-out pairs right [95 %: "
    "{low} to {high}]: that is chance, 50 %, so its answers are not shown."
)
SKILL = (
    "Of {count:,} held-out pairs it tells {share} right [95 %: {low} to {high}]; chance is 50 %."
)
UNMEASURED = "How many pairs this checkpoint tells right was not measured here."
NO_PAIR_HEADS = "No model here has a sentence-pair head that can be asked."
BAD_PAIR = "A pair needs two sentences: give a first and a second one, neither empty."


def pairs_finding(answers: Sequence[tuple[ModelSpec, PairOrders]]) -> Markup:
    """Whether each head's verdict changes with the order, and with a stranger."""
    if not answers:
        return finding(NO_PAIR_HEADS)
    said = [join("; " if place else "", _verdicts(*one)) for place, one in enumerate(answers)]
    return finding(*said, ".")


def _verdicts(spec: ModelSpec, orders: PairOrders) -> Markup:
    written, swapped, elsewhere = (f"{p:.3f}" for p in orders.yes)
    name, does = model_name(spec.key, spec.label), {True: "changes", False: "keeps"}
    if orders.is_undecided:
        return join(name, f" leaves all three open ({written}, {swapped}, {elsewhere})")
    return join(
        name,
        f" {does[orders.turns('swapped')]} its verdict when the two are swapped ({written}, "
        f"then {swapped}) and {does[orders.turns('elsewhere')]} it when the second comes from "
        f"elsewhere ({elsewhere})",
    )


def head_said(spec: ModelSpec, trained: bool, skill: Skill | None) -> str:
    """How good a model's pair head is, or why it is not asked."""
    if spec.kind.pair is None:
        return NO_HEAD.format(label=spec.label)
    objective = spec.kind.pair.objective.upper()
    if not trained:
        return NOT_IN_CHECKPOINT.format(label=spec.label, objective=objective)
    if skill is None:
        return UNMEASURED
    low, high = skill.ends
    shares = {"share": percent(skill.share), "low": percent(low), "high": percent(high)}
    said = SKILL if skill.beats_chance else AT_CHANCE
    return said.format(label=spec.label, objective=objective, count=skill.count, **shares)


OBJECTIVES_TITLE = "What does each objective learn, over many pairs?"
CROSS = {
    "head": "Head",
    "nsp_pairs": "NSP pairs told right",
    "sop_pairs": "SOP pairs told right",
    "trained": "ALBERT-base, trained with {objective}",
    "measured": "Measured on held-out pairs when these weights were made, with 95 % intervals; "
    "chance is 50 %",
    "printed": "Published: {source}",
    "unmeasured": "No held-out pairs were measured for these checkpoints.",
}
CROSS_NOTE = (
    "Each head is also asked the other's question, which it was not trained for. In the paper the "
    "head trained on sentences from elsewhere (NSP) orders two sentences hardly better than chance "
    "({nsp_on_sop}), while the one trained on order (SOP) does well on the other's question too "
    "({sop_on_nsp}). The tables are of different models and different pairs: compare the pattern, "
    "not the figures."
)
