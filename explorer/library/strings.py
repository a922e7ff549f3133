"""Sentences of the public functions: refusals, and remarks inside their answers."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from explorer.analysis.digits import cosine, counted, enumerated, nats, percent, probability
from explorer.models.language import is_english
from explorer.refusal import brief

if TYPE_CHECKING:
    import numpy as np

    from explorer.analysis.depth.states import LayerSimilarity
    from explorer.analysis.tasks.pairs import PairAccuracy
    from explorer.models.inside.changes import MatrixChange
    from explorer.models.run import Run
    from explorer.models.specs import ModelSpec

OWN_FAMILY = 'Your own: explorer.load({"bert": FOLDER_OR_MODEL}).'
MANY_TEXTS = "Many texts go to explorer.texts."
TEXTS_READ = "All {n} texts were read, {words}."
TEXTS_LEFT = "Of {n} texts, {read} were read, {words}: {why}."
ENOUGH_WORDS = "no more than {most} words are compared"
TIME_UP = "then the {seconds} s were over; the others are not in these numbers"
RATIO = "{of} takes {ratio:.2f} times as long as {over}"
INTERVAL = "[{ci_low:.2f}, {ci_high:.2f}]."
NO_INTERVAL = "(no interval: {rounds})."
NOT_DIFFERENT = "This does not show a difference."
TIME_NEEDS = "A time is reported from {needed} {kind} on: {cause}."
P90_NEEDS = "p90 needs {needed} {kind}: {cause}."
ENDED_AFTER = {
    "settled": "the intervals were narrow after {n}",
    "budget": "time ran out after {n}",
    "deadline": "time ran out after {n}",
    "rounds": "{n} {were} asked for",
    "stopped": "it was stopped after {n}",
    "running": "{n} so far",
}
"""Cause of a measurement's number of rounds, by its end."""
LEFT_OUT = "{cause}, and {k} of them {were} disturbed and left out"
CPU_ROUNDS = "{n} of them could be run in CPU time after disturbed ones"
NO_LABEL_SHARED = (
    "No label has the same name in all models: name the labels of each head, and those with one "
    "name are the same."
)
LABELS_SHARED = "Of the labels, all models have only {labels}."
MAX_LABELS = 8
"""Labels that a sentence names."""

VERIFIED = "{model}: over {n} texts, the explorer and plain transformers agree."
DIFFERENT = "{model}: over {n} texts, the explorer and plain transformers differ in {what}."
UNKNOWN = "{label} reads {n} of {pieces} as {token}: it does not know {what}."
UNKNOWN_SHARE = "{label} reads {share} of the pieces of these texts as [UNK]."
SKIPPED = "{label} skips {n} of {characters}, for which its tokenizer has no token: {what}."
SKIPPED_SHARE = (
    "{label} skips {share} of the characters of these texts: its tokenizer has no token for them."
)
TYPE_INSTEAD = "{character} (type {other})"
LEAVE_OUT = "U+{code:04X} (invisible: leave it out)"
MAX_UNKNOWN = 6
"""Characters or words that a note on unknown pieces names."""
JOINED = "{label} reads {words} as one token: what is computed for it counts for {first} only."
JOINED_EACH = (
    "{label} reads {groups} as one token each: what is computed for it counts for the first word "
    "only."
)
NAMELESS = (
    "{label} gives {mass} of its probability at {masks} to ids without a word, which are not "
    "listed."
)
NOT_ENGLISH = (
    "This text does not look like English. {names} trained on English only, so {their} answers "
    "mean little here."
)

NO_PAIR_HEAD = (
    "{label} has no sentence-pair head: it was trained without such an objective, as Liu et al. "
    "2019 propose."
)
NOT_IN_CHECKPOINT = (
    "The checkpoint of {label} has no weights for its {objective} head, although the model was "
    "trained with one. A newly initialised head would answer at random, so no number is shown."
)
NO_PAIR_KIND = "{label} has no sentence-pair head: {kind} is an architecture without one."
NO_PAIR_WEIGHTS = (
    "The file of {label} has no {objective} head. A newly initialised one would answer at random, "
    "so no number is shown."
)
AT_CHANCE = (
    "The {objective} head of {label} classifies {share} of {count:,} held-out pairs correctly "
    "(95% CI {low} to {high}): no better than chance (50%), so its answers are not shown."
)
SKILL = (
    "It classifies {share} of {count:,} held-out pairs correctly.\n95% CI {low} to {high}; "
    "chance is 50%."
)
UNMEASURED = "The accuracy of this checkpoint on held-out pairs was not measured here."


SHAPES = {
    "n_layers": "numbers of layers",
    "d_model": "widths",
    "n_heads": "numbers of heads",
    "d_ffn": "feed-forward widths",
    "d_vocab": "sizes of the vocabulary",
    "d_embedding": "widths of the embeddings",
    "n_positions": "numbers of positions",
    "shares_layers": "sharing of layers",
}
"""Names of the fields of a shape."""
BOTH = "Each of {labels}"
ALL_EQUAL = "All matrices of {before} and {after} are equal."
MOVED_MOST = (
    "From {before} to {after}, the matrices of layer {most} moved most, by {far} of their length, "
    "and those of layer {least} least, by {near}; with shuffled rows they differ by {shuffled}."
)
MOVED_ALL = (
    "From {before} to {after}, the matrices of {layers} moved by {far} of their length; with "
    "shuffled rows they differ by {shuffled}."
)
WORDS_MOVED = (
    "The word embeddings of pieces that the texts do not hold are {scale} times as long as before, "
    "at a cosine of {cosine} to them."
)
STATES_MOVED = (
    "The tokens' states have a CKA of {first} at the embeddings and {last} after the last layer, "
    "there with shuffled tokens {shuffled}."
)
HEADS_MOVED = "A head's rows moved by {first} nats in layer 1{last}, on average{control}."
HEADS_LAST = " and {last} in layer {n}"
TWO_HEADS = "; two heads of one layer of {before} differ by {value}"
NO_HEAD_BEFORE = "{before} has no masked-LM head, so no predictions are compared."
MASKS_MOVED = (
    "At {masks} masked at random, the prediction moved by {mean} nats on average (median "
    "{median}); {before} itself, read one layer earlier, is {earlier} away (median "
    "{earlier_median}). {before} is right at {right_before} of them, {after} at {right_after}."
)
READ_WITH = " The states of {after} are read with the masked-LM head of {before}."


def verified(model: str, n: int, wrong: Sequence[str]) -> str:
    """Return whether a model's numbers are those of plain transformers, and which are not."""
    sentence = DIFFERENT if wrong else VERIFIED
    return sentence.format(model=model, n=n, what=enumerated(wrong))


def both(labels: Sequence[str]) -> str:
    """Return the name of two models that read texts alike."""
    return BOTH.format(labels=enumerated(labels))


def weights_moved(
    names: Mapping[str, str], distances: "np.ndarray", weights: "Sequence[MatrixChange]"
) -> str:
    """Return which layer's matrices moved most and least, and what the unread words did."""
    from explorer.models.inside.changes import WORDS_UNREAD

    if not any(change.distance for change in weights):
        return ALL_EQUAL.format(**names)
    most, least = float(distances.max()), float(distances.min())
    ofs = [change.shuffled for change in weights if change.layer is not None]
    said = (MOVED_ALL if nats(most) == nats(least) else MOVED_MOST).format(
        **names,
        most=1 + int(distances.argmax()),
        least=1 + int(distances.argmin()),
        far=nats(most),
        near=nats(least),
        layers="the shared layer" if len(distances) == 1 else f"all {len(distances)} layers",
        shuffled=f"{sum(ofs) / len(ofs):.2f}",
    )
    unread = [change for change in weights if change.matrix == WORDS_UNREAD]
    words = [WORDS_MOVED.format(scale=nats(c.scale), cosine=cosine(c.cosine)) for c in unread]
    return " ".join([said, *words])


def states_moved(cka: "np.ndarray", shuffled: "np.ndarray") -> str:
    """Return how similar the states are at the first and the last layer."""
    return STATES_MOVED.format(
        first=cosine(cka[0]), last=cosine(cka[-1]), shuffled=cosine(shuffled[-1])
    )


def heads_moved(names: Mapping[str, str], js: "np.ndarray", control: "np.ndarray | None") -> str:
    """Return how far the heads of the first and the last layer moved."""
    n = len(js)
    other = "" if control is None else TWO_HEADS.format(**names, value=nats(float(control.mean())))
    last = HEADS_LAST.format(last=nats(float(js[-1].mean())), n=n) if n > 1 else ""
    return HEADS_MOVED.format(first=nats(float(js[0].mean())), last=last, control=other)


def masks_moved(names: Mapping[str, str], masks: Mapping[str, Any] | None, *, is_own: bool) -> str:
    """Return how far the predictions moved, and how many are right."""
    if masks is None:
        return NO_HEAD_BEFORE.format(**names)
    said = MASKS_MOVED.format(
        **names,
        masks=counted(masks["masks"], "token"),
        mean=nats(masks["kl_mean"]),
        median=nats(masks["kl_median"]),
        earlier=nats(masks["one_layer_earlier_mean"]),
        earlier_median=nats(masks["one_layer_earlier_median"]),
        right_before=masks["right_before"],
        right_after=masks["right_after"],
    )
    return said if is_own else said + READ_WITH.format(**names)


def unknown_shares(shares: Mapping[str, float]) -> tuple[str, ...]:
    """Return what share of some texts each model reads as [UNK], for those that read any."""
    return tuple(
        UNKNOWN_SHARE.format(label=label, share=percent(share))
        for label, share in shares.items()
        if share
    )


def skipped_shares(shares: Mapping[str, float]) -> tuple[str, ...]:
    """Return what share of some texts each model skips, for those that skip any."""
    return tuple(
        SKIPPED_SHARE.format(label=label, share=percent(share))
        for label, share in shares.items()
        if share
    )


def reading_notes(runs: Iterable["Run"]) -> tuple[str, ...]:
    """Return what the models cannot tell of a text, in a sentence for each model and fact.

    These are pieces outside a vocabulary, characters without a token, and words that share one.
    """
    from explorer.models.unknown import joined_words, unknown_pieces

    notes = []
    for run in runs:
        label, found = run.spec.label, unknown_pieces(run)
        if found.n:
            pieces = counted(found.n_pieces, "piece")
            what = _unknown(run, found.characters, found.words)
            notes.append(
                UNKNOWN.format(label=label, n=found.n, pieces=pieces, token=found.token, what=what)
            )
        notes += _skipped_note(run)
        notes += _nameless_note(run)
        notes += _joined_note(label, joined_words(run.tokens))
    return tuple(notes)


def _joined_note(label: str, groups: Sequence[Sequence[str]]) -> list[str]:
    """Return a note on words that share a token; several are named in one sentence."""
    if not groups:
        return []
    quoted = [[f"“{word}”" for word in group] for group in groups]
    if len(groups) == 1:
        words = enumerated(quoted[0])
        return [JOINED.format(label=label, words=words, first=quoted[0][0])]
    named, rest = ["+".join(group) for group in quoted[:MAX_UNKNOWN]], len(groups) - MAX_UNKNOWN
    more = [f"{rest} more"] if rest > 0 else []
    return [JOINED_EACH.format(label=label, groups=enumerated([*named, *more]))]


def _skipped_note(run: "Run") -> list[str]:
    """Return a note on the characters of the text that are in no token."""
    from explorer.models.unknown import skipped_characters, visible_places

    skipped = skipped_characters(run.tokens)
    if not skipped:
        return []
    characters = counted(len(visible_places(run.tokens)), "character")
    what = _unknown(run, tuple(dict.fromkeys(skipped)), ())
    return [SKIPPED.format(label=run.spec.label, n=len(skipped), characters=characters, what=what)]


def _nameless_note(run: "Run") -> list[str]:
    """Return a note on the probability at the masks of ids that no list of words shows."""
    from explorer.analysis.measures import softmax
    from explorer.models.run import nameless_ids

    nameless = nameless_ids(run.vocabulary)
    if not len(nameless) or not len(run.mask_logits) or not run.spec.has_head:
        return []
    masses = softmax(run.mask_logits)[:, nameless].sum(-1)
    masks = "the [MASK]" if len(masses) == 1 else "the masks, in their order,"
    said = enumerated(map(probability, masses))
    return [NAMELESS.format(label=run.spec.label, mass=said, masks=masks)]


def _unknown(run: "Run", characters: Sequence[str], words: Sequence[str]) -> str:
    """Return the names of characters and words that a vocabulary lacks, and what to type."""
    from explorer.models.unknown import instead_of, is_invisible

    others = instead_of(run, characters)
    named = [
        TYPE_INSTEAD.format(character=c, other=others[c])
        if c in others
        else LEAVE_OUT.format(code=ord(c))
        if is_invisible(c)
        else c
        for c in characters
    ]
    named += [f"“{brief(word, 30)}”" for word in words]
    rest = len(named) - MAX_UNKNOWN
    return enumerated([*named[:MAX_UNKNOWN], *([f"{rest} more"] if rest > 0 else [])])


def language_notes(texts: Iterable[str], specs: Iterable["ModelSpec"]) -> tuple[str, ...]:
    """Return a note where a text is not English, of the models known to know English alone.

    Of a user's own checkpoint it is not known what it was trained on.
    """
    labels = [spec.label for spec in specs if spec.origin != "own"]
    if not labels or all(map(is_english, texts)):
        return ()
    names = f"{enumerated(labels)} {'was' if len(labels) == 1 else 'were'}"
    return (NOT_ENGLISH.format(names=names, their="its" if len(labels) == 1 else "their"),)


def head_said(spec: "ModelSpec", trained: bool, skill: "PairAccuracy | None") -> str:
    """Return how good a model's pair head is, or why it is not shown."""
    if spec.kind.pair is None:
        sentence = NO_PAIR_KIND if spec.origin == "own" else NO_PAIR_HEAD
        return sentence.format(label=spec.label, kind=spec.kind.label)
    objective = spec.kind.pair.objective.upper()
    if not trained:
        sentence = NO_PAIR_WEIGHTS if spec.origin == "own" else NOT_IN_CHECKPOINT
        return sentence.format(label=spec.label, objective=objective)
    if skill is None:
        return UNMEASURED
    low, high = skill.interval
    shares = {"share": percent(skill.accuracy), "low": percent(low), "high": percent(high)}
    sentence = SKILL if skill.beats_chance else AT_CHANCE
    return sentence.format(label=spec.label, objective=objective, count=skill.count, **shares)


def closeness_said(model: str, value: float, low: float, high: float) -> str:
    """Return how close two words or texts are at the last layer, next to unrelated pairs."""
    among = "closer than" if value > high else "further apart than" if value < low else "among"
    pairs = f"19 of 20 unrelated pairs ({cosine(low)} to {cosine(high)})"
    if among == "among":
        pairs = f"unrelated pairs, of which nine in ten have {cosine(low)} to {cosine(high)}"
    return f"{model}, last layer: cosine {cosine(value)}, {among} {pairs}."


def labels_shared(models: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """Return which labels the models share; nothing where they have the same ones."""
    if len({frozenset(labels) for labels in models.values()}) < 2:
        return ()
    first, *others = models.values()
    shared = [label for label in first if all(label in labels for labels in others)]
    if not shared:
        return (NO_LABEL_SHARED,)
    return (LABELS_SHARED.format(labels=some_labels(shared)),)


def some_labels(labels: Sequence[str]) -> str:
    """Return the first of many labels, and the number of the others."""
    named = ", ".join(labels[:MAX_LABELS])
    more = len(labels) - MAX_LABELS
    return named if more <= 0 else f"{named} and {more} more"


def rounds_missing(form: str, needed: int, rounds: int, undisturbed: int, ended: str) -> str:
    """Return why a measurement has fewer rounds than a figure needs.

    Args:
        form: ``TIME_NEEDS`` or ``P90_NEEDS``.
        needed: Rounds that the figure needs.
        rounds: Complete rounds.
        undisturbed: Those of them that were not disturbed and left out.
        ended: Why the measurement ended; "cpu" for rounds of processor time within another one.
    """
    left_out = rounds - undisturbed
    kind = "undisturbed rounds" if left_out else "rounds"
    said = CPU_ROUNDS if ended == "cpu" else ENDED_AFTER[ended]
    cause = said.format(n=rounds, were="was" if rounds == 1 else "were")
    if left_out:
        cause = LEFT_OUT.format(cause=cause, k=left_out, were="was" if left_out == 1 else "were")
    return form.format(needed=needed, kind=kind, cause=cause)


def texts_read(layers: "LayerSimilarity", most: int, seconds: float) -> str:
    """Return how many texts were read for the similarity of layers, and why no more.

    Args:
        layers: The similarity.
        most: Words after which no more texts are read.
        seconds: Time after which no more texts are read.
    """
    words = counted(layers.n_words, "word")
    if layers.n_read == layers.n_texts:
        return TEXTS_READ.format(n=layers.n_texts, words=words)
    is_enough = layers.n_words >= most
    why = (
        ENOUGH_WORDS.format(most=f"{most:,}")
        if is_enough
        else TIME_UP.format(seconds=f"{seconds:g}")
    )
    return TEXTS_LEFT.format(n=layers.n_texts, read=layers.n_read, words=words, why=why)
