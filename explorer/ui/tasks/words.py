"""The sentences of the tasks tab: sentence pairs."""

from collections.abc import Sequence

from explorer.analysis.digits import percent, probability
from explorer.analysis.tasks.pairs import ORDERS, PairOrders, Skill
from explorer.models.specs import ModelSpec
from explorer.views.markup import Markup, finding, fold_link, join, model_name, note

LABEL = "Tasks"
QUESTION = "What are they used for?"
PARTS = {
    "pair": "Sentence pairs",
    "sentiment": "Sentiment",
    "question": "Question answering",
}
PARTS_LABEL = "Task"
WHICH_ONE = "Which of the models should I use?"
WHICH_ONE_AT = " Size, time and score, against your limits, under Latency."
EXAMPLE_PAIR = "The kettle began to whistle. [SEP] She took it off the stove and poured the tea."
PAIRS = {
    "A": "the first sentence",
    "B": "the second sentence",
    "C": "an unrelated sentence",
    "written": "A, then B: as written",
    "swapped": "B, then A: swapped",
    "elsewhere": "A, then C: unrelated",
    "nsp": "Next-sentence prediction (NSP): does the second follow the first?",
    "sop": "Sentence-order prediction (SOP): are the two in order?",
}
ON_EXAMPLE = (
    "An example, since the text above is no pair: write two sentences with [SEP] between them."
)
PAIRS_NOTE = (
    "Bars show the head's probability of yes; the line across marks 0.5.\nNSP was trained on true "
    "pairs and on unrelated second sentences, never on swapped ones; SOP on true and swapped "
    "pairs, never on unrelated sentences (Devlin et al. 2019, section 3.1; Lan et al. 2019, "
    "section 3.1)."
)
NO_HEAD = (
    "{label} has no sentence-pair head: it was trained without such an objective, as Liu et al. "
    "2019 propose."
)
NOT_IN_CHECKPOINT = (
    "The checkpoint of {label} has no weights for its {objective} head, although the model was "
    "trained with one. A newly initialised head would answer at random, so no number is shown."
)
AT_CHANCE = (
    "The {objective} head of {label} classifies {share} of {count:,} held-out pairs correctly "
    "(95% CI {low} to {high}): no better than chance (50%), so its answers are not shown."
)
SKILL = (
    "It classifies {share} of {count:,} held-out pairs correctly\n(95% CI {low} to {high}); "
    "chance is 50%."
)
UNMEASURED = "The accuracy of this checkpoint on held-out pairs was not measured here."
UNDECIDED = " is undecided about all three ({shares})"
VERDICTS = {
    "nsp_yes": "the second sentence follows the first",
    "nsp_no": "the second sentence does not follow the first",
    "sop_yes": "the two sentences are in order",
    "sop_no": "the two sentences are not in order",
    "all": " says that {told} ({p_written}); swapped: {swapped} ({p_swapped}), unrelated "
    "sentence: {elsewhere} ({p_elsewhere})",
    "open": " is undecided about the pair as written ({p_written}); swapped: {swapped} "
    "({p_swapped}), unrelated sentence: {elsewhere} ({p_elsewhere})",
    "yes": "yes",
    "no": "no",
    "even": "undecided",
}
NO_PAIR_HEADS = "No model here has a trained sentence-pair head."
BAD_PAIR = "A pair needs two sentences: give a first and a second one, neither empty."


def which_one() -> Markup:
    """Return the link to where the models are held against a reader's limits."""
    return note(fold_link(WHICH_ONE, "latency", "choose"), WHICH_ONE_AT)


def pairs_finding(answers: Sequence[tuple[ModelSpec, PairOrders]]) -> Markup:
    """Each head's verdict on the pair, and on what was swapped or replaced in it."""
    if not answers:
        return finding(NO_PAIR_HEADS)
    said = [join("; " if place else "", _verdicts(*one)) for place, one in enumerate(answers)]
    return finding(*said, ".")


def _verdicts(spec: ModelSpec, orders: PairOrders) -> Markup:
    name = model_name(spec.key, spec.label)
    if orders.is_undecided:
        open_ = ", ".join(map(probability, orders.yes))
        return join(name, UNDECIDED.format(shares=open_))
    objective = spec.kind.pair.objective if spec.kind.pair else ""
    shares = {f"p_{order}": probability(p) for order, p in zip(ORDERS, orders.yes, strict=True)}
    kinds = {
        order: "even"
        if shares[f"p_{order}"] == "0.500"
        else "yes"
        if orders.says_yes(order)
        else "no"
        for order in ORDERS
    }
    said = {order: VERDICTS[kind] for order, kind in kinds.items()}
    form = VERDICTS["open" if kinds["written"] == "even" else "all"]
    told = VERDICTS.get(f"{objective}_{kinds['written']}", "")
    return join(name, form.format(told=told, **said, **shares))


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


OBJECTIVES_TITLE = "What do NSP and SOP detect?"
CROSS = {
    "head": "Head",
    "nsp_pairs": "NSP pairs correct",
    "sop_pairs": "SOP pairs correct",
    "trained": "ALBERT-base, trained with {objective}",
    "measured": "Measured on held-out pairs when these weights were trained, with 95% confidence "
    "intervals; chance is 50%",
    "printed": "Published: {source}",
    "unmeasured": "No held-out pairs were measured for these checkpoints.",
}
CROSS_NOTE = (
    "Each head is also tested on the other's task, which it was not trained for.\n"
    "In the paper the head trained on unrelated sentences (NSP) orders two sentences hardly "
    "better than chance ({nsp_on_sop}), while the one trained on order (SOP) does well on the "
    "other's task too ({sop_on_nsp}). The tables are of different models and different pairs: "
    "compare the pattern, not the values."
)
