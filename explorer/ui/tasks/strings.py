"""Sentences and labels of the Tasks tab."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from explorer.analysis.digits import enumerated, percent, probability, signed
from explorer.analysis.tasks.entities import WordTags
from explorer.analysis.tasks.labels import LabelAttribution, LabelValues
from explorer.analysis.tasks.pairs import ORDERS, PairOrders, PairQuadrants
from explorer.analysis.tasks.scores import printed_scores
from explorer.analysis.tasks.tuned import AnswerSpans, WordSentiment
from explorer.models.specs import SCORE, SEVERAL_LABELS, ModelSpec
from explorer.refusal import brief
from explorer.views.markup import (
    Markup,
    finding,
    fold_link,
    join,
    listed,
    model_name,
    note,
    semicolons,
    word,
    words_at,
)

LABEL = "Tasks"
QUESTION = "What are they used for?"
PARTS = {
    "pair": "Sentence pairs",
    "sentiment": "Classification",
    "question": "Question answering",
}
PARTS_LABEL = "Task"
WHICH_ONE = "Which should I use?"
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
    "An example: the text above is no pair. For your own, write [SEP] between two sentences."
)
PAIRS_NOTE = (
    "Bars: the head's probability of yes; line: 0.5.\nNSP was trained on true "
    "pairs and on unrelated second sentences, never on swapped ones; SOP on true and swapped "
    "pairs, never on unrelated sentences (Devlin et al. 2019, section 3.1; Lan et al. 2019, "
    "section 3.1)."
)
UNDECIDED = " is undecided about all three ({shares})"
VERDICTS = {
    "nsp": " asks whether the second sentence follows the first",
    "sop": " asks whether the two sentences are in order",
    "all": ": as written {written} ({p_written}), swapped {swapped} ({p_swapped}), with an "
    "unrelated sentence {elsewhere} ({p_elsewhere})",
    "yes": "yes",
    "no": "no",
    "even": "undecided",
}
P_YES = " In brackets: the probability of yes."
NO_PAIR_HEADS = "No model here has a trained sentence-pair head."


def which_one() -> Markup:
    """Return the link to the comparison of the models with the reader's limits."""
    return note(fold_link(WHICH_ONE, "latency", "choose"), WHICH_ONE_AT)


def pairs_finding(answers: Sequence[tuple[ModelSpec, PairOrders]]) -> Markup:
    """Return each head's verdict on the pair, and on its swapped and replaced orders."""
    if not answers:
        return finding(NO_PAIR_HEADS)
    return finding(semicolons(_verdicts(*answer) for answer in answers), ".", P_YES)


def _verdicts(spec: ModelSpec, orders: PairOrders) -> Markup:
    name = model_name(spec.key, spec.label)
    if orders.is_undecided:
        open_ = ", ".join(map(probability, orders.in_order))
        return join(name, UNDECIDED.format(shares=open_))
    objective = spec.kind.pair.objective if spec.kind.pair else ""
    shares = dict(zip(ORDERS, map(probability, orders.in_order), strict=True))
    kinds = {
        order: "even" if share == "0.500" else "yes" if orders.is_accepted(order) else "no"
        for order, share in shares.items()
    }
    words = {order: VERDICTS[kind] for order, kind in kinds.items()}
    printed = {f"p_{order}": share for order, share in shares.items()}
    return join(name, VERDICTS[objective], VERDICTS["all"].format(**words, **printed))


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
SENTIMENT_LABEL = "Text to classify"
SENTIMENT_EXAMPLES = (
    ("not bad", "The film is not bad."),
    ("bad", "The film is bad."),
    ("could have been", "It could have been good."),
    ("was good", "It was good."),
    ("hardly", "There is hardly a dull moment in it."),
    ("but", "A clever idea, but a boring film."),
)
"""Contrast pairs: a small word changes the sentiment."""
SENTIMENT = {
    "positive": "positive",
    "negative": "negative",
    "ig": "Integrated gradients",
    "loo": "Leave-one-out",
    "word": "Word",
    "baseline": "before any word: all [MASK]",
    "total": "total: the text",
    "complete": "Integrated gradients add up to {sum}; score difference from the all-[MASK] "
    "baseline: {explained}. Completeness error {error} logits.",
}
SENTIMENT_NOTE = (
    "Bars to the right push towards positive, to the left towards negative, in logits, on one "
    "scale.\nThe first bar is the score of the all-[MASK] baseline: with it the words' integrated "
    "gradients add up to the text's score, the last bar. Integrated gradients (Sundararajan et al. "
    "2017): the gradient of positive minus negative, integrated from that baseline to the text. "
    "Leave-one-out: the drop "
    "in the logit difference when the word is removed. The two answer different questions and may "
    "differ."
)
LABELS = SENTIMENT | {
    "odds_of": "Log-odds of {label}, by word",
    "odds_at": "Log-odds of {label} at “{at}”, by word",
    "score_of": "Score {label}, by word",
    "more": "And {n:,} more labels with smaller values.",
}
LABELS_NOTE = (
    "Each model's own head and its labels. Bars to the right raise the log-odds of the label above "
    "them, ln (p / (1 - p)), to the left lower them, on one scale.\nThe head is the one of "
    "the checkpoint, and problem_type in its config.json says how it is read. With one label for "
    "each text, the probabilities add up to 1. With several, each label has a probability of its "
    "own. A head that gives a score has no probability, and its words are parts of the score."
)
ENTITIES = {
    "broken": "A dashed span breaks the scheme of its tags, as an I- without a B- does. It is "
    "shown as it is."
}
ENTITIES_NOTE = (
    "Spans that each model's own token classifier labels, with the mean probability of their "
    "tags.\nA word has the tag of its first token. Tags are joined as conlleval and seqeval join "
    "them; tags without prefixes and without O are spans of one word each."
)
WHICH_LABEL = "Which label is explained?"
OWN_LABEL = "Each model's own first label"
GIVES = " gives {label} a probability of {p}"
WHICH_SPAN = "Why is this part labelled so?"
SPAN = "{text}: {label} ({models})"
GIVEN_BY_NONE = "given by no model"
LONGEST_HINT = 90
LONGEST_SHOWN = 40
"""Characters of a span in the choice of one."""
GIVES_AT = " gives {label} a probability of {p} at "
WHY_NOTE = (
    "Bars to the right raise the log-odds of the label at the first word of the span, ln (p / (1 - "
    "p)), to the left lower them, on one scale.\np is the sum of the probabilities of the label's "
    "tags (for PER: B-PER and I-PER) at the word's first token. The first bar is the log-odds "
    "before any word, with every word masked: with it the integrated gradients add up to the last "
    "bar. Leave-one-out: the drop in the log-odds when the word is masked."
)
LABEL_NAMES = "Names for the labels"
NAMES_HINT = "{key}={labels}"
NAMES_NOTE = "Labels of one name are one label: give those of two columns one name to match them."
FINDS = " finds {labels}"
FINDS_NOTHING = " finds nothing"
MAX_FOUND = 4
"""Labels that the finding counts for a model."""
SEVERAL = " says {labels}"
NONE_HOLDS = " says none of its labels; the likeliest is {label}"
SCORES = " gives {label} the score {score}"
SENTIMENT_UNDECIDED = " is undecided between positive and negative (0.500)"
BASELINE = ", mainly because of its all-[MASK] baseline ({base}); its words add {added}"
TOGETHER = ", because of its words together ({added}; baseline {base})"
MAINLY = ", mainly because of "
LARGEST_SHARE = ", with the largest share from "
QUESTION_LABEL = "Question"
PASSAGE_LABEL = "Passage"
QUESTION_EXAMPLES = (
    (
        "The bridge",
        "When was the bridge opened?",
        "The old bridge was built of wood and burned down in 1871. A new one of iron was opened "
        "in 1874 by the mayor of the town. It was closed to traffic for almost a year after the "
        "flood of 1903.",
    ),
    (
        "The expedition",
        "Who led the expedition?",
        "Two ships left the harbour in the spring. The expedition was led by Captain Anna Berg, "
        "who had spent three winters in the north. Her brother Erik drew the maps.",
    ),
    (
        "The museum",
        "How many paintings does the museum have?",
        "The museum was founded in 1952 in a former railway station. It has four hundred "
        "paintings and two thousand coins, and about thirty thousand people visit it every year.",
    ),
)
SENTIMENT_QUESTION = {
    "start": "starts",
    "end": "ends",
    "strip": "Probability that the answer of {model} {side} here, along the passage",
    "scale": "full height {top:.3f}",
    "other": "Next: {answers}",
}
QUESTION_NOTE = (
    "Strips: probability that the answer starts (top) or ends (bottom) here; each has its own "
    "scale.\nA span's score is the product of both, over the words of the passage. These heads "
    "were trained on questions that all have an answer in the passage (SQuAD v1.1), so they "
    "always find one. A long passage is read in overlapping windows."
)
ASK = "Find the answer"
CLASSIFY = "Classify"


def sentiment_finding(
    by_model: Mapping[str, WordSentiment], specs: Mapping[str, ModelSpec]
) -> Markup:
    """Return each model's verdict, with what decides it: a word, or the baseline."""
    verdicts = (_verdict(specs[key], result) for key, result in by_model.items())
    return finding(semicolons(verdicts), ".")


def _verdict(spec: ModelSpec, result: WordSentiment) -> Markup:
    label, share = result.verdict
    name = model_name(spec.key, spec.label)
    if f"{share:.3f}" == "0.500":
        return join(name, SENTIMENT_UNDECIDED)
    says = f" says {SENTIMENT[label]} ({share:.3f})"
    return join(name, says, _because(result, 1 if label == "positive" else -1))


def _because(result: WordSentiment | LabelAttribution, side: int) -> Markup | None:
    """Return what decides the verdict, by values as printed; None where nothing does.

    The baseline and the words' integrated gradients add up to the score. Of the baseline and all
    words together, the one that is larger on the verdict's side decides. If the words do, one of
    them is named where its part exceeds the baseline too; it is called a cause only where the
    verdict is also weaker without it.
    """
    parts = side * np.round(result.integrated_gradients, 2)
    added, base = (
        round(side * float(value), 2)
        for value in (result.integrated_gradients.sum(), result.baseline)
    )
    said = {"base": signed(side * base), "added": signed(side * added)}
    if added + base <= 0 or added == base:
        return None
    if base > added:
        return join(BASELINE.format(**said))
    largest = float(parts.max(initial=0.0))
    if largest <= base:
        return join(TOGETHER.format(**said))
    places = np.flatnonzero(parts == largest)
    is_weaker_without = (side * result.leave_one_out[places] > 0).all()
    times = "" if len(places) == 1 else " each"
    return join(
        MAINLY if is_weaker_without else LARGEST_SHARE,
        words_at(result.words, places),
        f" ({signed(side * largest)}{times})",
    )


def labels_finding(
    values: Mapping[str, LabelValues],
    found: Mapping[str, LabelAttribution],
    specs: Mapping[str, ModelSpec],
) -> Markup:
    """Return what each head says, with what decides it: a word, or the baseline."""
    said = (_label_said(specs[key], values[key], each) for key, each in found.items())
    return finding(semicolons(said), ".")


def chosen_label_finding(
    values: Mapping[str, LabelValues],
    found: Mapping[str, LabelAttribution],
    specs: Mapping[str, ModelSpec],
) -> Markup:
    """Return the value that each head gives to a chosen label, with what decides it."""
    said = []
    for key, each in found.items():
        value = float(values[key].values[values[key].labels.index(each.label)])
        says = SCORES if values[key].problem == SCORE else GIVES
        gives = says.format(label=each.label, score=signed(value), p=probability(value))
        said.append(join(model_name(key, specs[key].label), gives, _decided(each)))
    return finding(semicolons(said), ".")


def entities_finding(found: Mapping[str, WordTags], specs: Mapping[str, ModelSpec]) -> Markup:
    """Return how many spans of each label every model finds, the most frequent label first."""
    said = []
    for key, tags in found.items():
        counts = Counter(entity.label for entity in tags.entities).most_common()
        parts = [f"{n} {label}" for label, n in counts[:MAX_FOUND]]
        if more := sum(n for _, n in counts[MAX_FOUND:]):
            parts.append(f"{more} others")
        what = FINDS.format(labels=enumerated(parts)) if parts else FINDS_NOTHING
        said.append(join(model_name(key, specs[key].label), what))
    return finding(semicolons(said), ".")


def offered_spans(
    found: Mapping[str, WordTags],
    specs: Mapping[str, ModelSpec],
    text: str,
    asked: tuple[int, str] | None = None,
) -> dict[str, str]:
    """Return each span, ``3:PER``, with its choice's text; also one asked for that none gives."""
    texts: dict[tuple[int, str], str] = {}
    models: dict[tuple[int, str], list[str]] = {}
    for key, tags in found.items():
        for entity in tags.entities:
            place = entity.first, entity.label
            texts.setdefault(place, text[entity.start : entity.end])
            models.setdefault(place, []).append(specs[key].label)
    words = next((tags.words for tags in found.values()), ())
    if asked and asked[0] < len(words):
        texts.setdefault(asked, words[asked[0]])
    return {
        f"{first}:{label}": SPAN.format(
            text=brief(texts[first, label], LONGEST_SHOWN),
            label=brief(label),
            models=", ".join(models.get((first, label), [GIVEN_BY_NONE])),
        )
        for first, label in sorted(texts)
    }


def why_finding(
    found: Mapping[str, LabelAttribution], specs: Mapping[str, ModelSpec], at: int
) -> Markup:
    """Return each model's probability of a label at a word, with what decides it."""
    said = []
    for key, each in found.items():
        p = probability(float(1 / (1 + np.exp(-each.value))))
        at_word = join(GIVES_AT.format(label=each.label, p=p), word(each.words[at]))
        said.append(join(model_name(key, specs[key].label), at_word, _decided(each)))
    return finding(semicolons(said), ".")


def _decided(each: LabelAttribution) -> Markup | None:
    """Return what decides for or against a label; None where its odds are even."""
    is_even = f"{1 / (1 + np.exp(-each.value)):.3f}" == "0.500"
    return None if is_even else _because(each, 1 if each.value >= 0 else -1)


def _label_said(spec: ModelSpec, values: LabelValues, found: LabelAttribution) -> Markup:
    name = model_name(spec.key, spec.label)
    top = float(values.values[values.labels.index(found.label)])
    side = 1 if found.value >= 0 else -1
    if values.problem == SCORE:
        says = SCORES.format(label=found.label, score=signed(top))
    elif values.problem == SEVERAL_LABELS and top < 0.5:
        says = NONE_HOLDS.format(label=f"{found.label} ({probability(top)})")
    elif values.problem == SEVERAL_LABELS:
        held = [place for place in values.order if values.values[place] >= 0.5]
        shares = [
            f"{values.labels[place]} ({probability(float(values.values[place]))})" for place in held
        ]
        says = SEVERAL.format(labels=enumerated(shares))
        return join(name, says) if len(held) > 1 else join(name, says, _because(found, side))
    else:
        says = SEVERAL.format(labels=f"{found.label} ({probability(top)})")
    return join(name, says, _because(found, side) if found.value >= 0 else None)


def question_finding(
    by_model: Mapping[str, AnswerSpans], specs: Mapping[str, ModelSpec], passage: str
) -> Markup:
    """Return every answer with the models that give it, in the order of the models."""
    models: dict[str, list[str]] = {}
    for key, result in by_model.items():
        best = result.best[0]
        models.setdefault(passage[best.start : best.end], []).append(key)
    answers = []
    for answer, keys in models.items():
        sure = {key: f" ({probability(by_model[key].best[0].score)})" for key in keys}
        names = [model_name(key, specs[key].label) for key in keys]
        if len(keys) == 1:
            answers.append(join(names[0], " answers ", word(answer), sure[keys[0]]))
        else:
            each = [join(name, sure[key]) for key, name in zip(keys, names, strict=True)]
            answers.append(join(listed(each), " answer ", word(answer)))
    joined = semicolons if len(answers) < len(by_model) else listed
    return finding(joined(answers), ".")


BROUGHT = "{label} answers with the head included in its checkpoint."
FOLD = "Fine-tuning: how much of BERT's score do they keep?"
NAMES = {"sst2": "Sentiment, SST-2 dev: accuracy", "squad": "Questions, SQuAD v1.1 dev: F1"}
HEAD = ("Model", "Score, 95% CI", "Share of BERT's", "Trained parameters", "Minutes")
FINE_TUNING_HOW = (
    "The same for each: LoRA of rank {rank} on queries and values, and the head; base weights "
    "frozen.\n"
    "Hu et al. 2021. {steps:,} steps of {rows} examples in the same order (seed {seed}), peak "
    "learning rate {rate:g}.{began} {data}. Measured when the adapters were trained; another seed "
    "would shift each score, so differences near 100% do not rank the models."
)
BEGAN_WITH = " They went on from adapters trained on earlier weights for {steps:,} steps."
FULL = (
    "{label} with all {n:,} weights tuned for as many steps: {score} [{low}, {high}], against "
    "{lora} with LoRA."
)
PRINTED = "Published: the papers' own tables, for the published sizes"
PRINTED_HEAD = ("Model and column", "Its score", "BERT-base", "Share", "Source")
PRINTED_NOTE = (
    "The shares above and the papers' here come from different models, data and schedules: do not"
    " compare them.\n"
    "The often quoted 97% is DistilBERT's share of BERT's GLUE score. The 102% claimed for ALBERT"
    " divides its average of five tasks by BERT's score on other tasks; like for like it is the "
    "share in the last line. The paper's ALBERT-base is version 1; version 2, the explorer's "
    "published size, is printed with {sst2} on SST-2 and {squad} on SQuAD 1.1: those scores are "
    "under Latency, Model choice."
)


def printed_note() -> str:
    """Return why the printed shares are not comparable, and which ALBERT the scores belong to."""
    score = {task: percent(printed_scores(task)["albert"].value) for task in ("sst2", "squad")}
    return PRINTED_NOTE.format(**score)


def how_learned(card: Mapping[str, Any]) -> str:
    """Return the training schedule that the models of a family share."""
    steps = sum(run["steps"] for run in card.get("earlier", ()))
    began = BEGAN_WITH.format(steps=steps) if steps else ""
    return FINE_TUNING_HOW.format(**card, began=began)


def full_said(label: str, card: Mapping[str, Any], task: str) -> str:
    """Return the score with all weights tuned, beside LoRA's."""
    name = "accuracy" if task == "sst2" else "f1"
    full, lora = card["full"], card["scores"][name]["value"]
    low, high = full["scores"][name]["interval"]
    return FULL.format(
        label=label,
        n=full["trained_parameters"],
        score=percent(full["scores"][name]["value"]),
        low=percent(low),
        high=percent(high),
        lora=percent(lora),
    )


QUADRANTS_QUESTION = "Attention across sentences: how much do they attend to each other?"
NO_PAIR = "Write [SEP] between two sentences to see how much each attends to the other."
QUADRANTS_HOW = (
    "Shares of attention, averaged over the words of a sentence and over all heads; [CLS] and "
    "[SEP] are counted apart, so that each bar is 100%. In the maps, rows are layers and columns "
    "heads; stronger colour = more attention across, A to B and B to A averaged, on one scale for "
    "all models."
)
QUADRANTS = {
    "from_a": "Sentence A attends to",
    "from_b": "Sentence B attends to",
    "to_a": "A",
    "to_b": "B",
    "to_added": "[CLS], [SEP]",
    "map": "How much each head of {model} attends across; the strongest colour is {top}.",
    "cell": "layer {layer}, head {head}: {share} of the attention goes to the other sentence",
    "strongest": "Heads that attend across most, as layer.head: {heads}.",
}


def quadrants_finding(results: Sequence[PairQuadrants]) -> Markup:
    """Return each model's share of attention between the sentences."""
    parts = [
        join(f"{float(result.crossing.mean()):.0%} in ", model_name(result.model, result.label))
        for result in results
    ]
    return finding("Share of attention that goes to the other sentence: ", listed(parts), ".")
