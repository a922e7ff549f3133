"""The sentences of the fold on two texts, one patched into the other."""

from explorer.views.glossary import places

FOLD = "Activation patching: where does the difference between two texts travel?"
SECOND = "Second text: the first with one change"
START = "Patch every state"
STOP = "Stop"
STOPPED = "Stopped. “Patch every state” starts again."
READING = "Reading the second text."
PROGRESS = "{done} of {n} states patched."
NO_MODEL = "No model is available, so there is nothing to patch."
NO_MASK = "The text has no [MASK]: mask a word, and its prediction can be followed."
NO_PROPOSAL = "No change is suggested for this text: type a second text that differs in one place."
LONG = "Patching takes texts of at most {most} words and punctuation marks; this one has {n}."
MANY_PIECES = "Patching takes texts of at most {most} pieces; {model} makes {n} of this one."
PIECES = (
    "{model} tokenizes “{was}” into {n_was} and “{becomes}” into {n_becomes}: their states cannot "
    "be paired."
)
PICTURE = {
    "finding": "{was} or {becomes}: at first that word's state carries all of the difference. The "
    "[MASK] carries more of it ",
    "from": "in {model} from layer {n} of {total} on",
    "no_partner": "In no model does {was} have as many pieces as {becomes}, so their states "
    "cannot be paired.",
    "no_finding": "In no patched model do {was} and {becomes} change the scores enough to be "
    "followed.",
    "offers": "Suggested changes",
    "kinds": {
        "number": "number",
        "gender": "gender",
        "negation": "negation",
        "name": "name",
    },
    "offer": "{kind}: {was} → {becomes}",
    "mask": "Mask",
    "first_masks": "The first {n} of {all} masks are shown.",
    "embeddings": "emb.",
    "layer": "layer {n}",
    "layers": "layer",
    "map": "{model}: the share of the difference that each word's state restores, by layer",
    "cell": "{model}, {word}, {layer}: {share}",
    "answers": "{first} (first text) against {second} (second text)",
    "same": "Same top prediction, so by KL: {first} (first text) against {second} (second text)",
    "gaps": "; logit differences: {d_first} and {d_second}.",
    "little": "The scores of the two texts differ by only {gap} logits, too little to divide by: "
    "nothing is drawn.",
    "how": "A cell: the share of the difference that the first text's state restores there.\n"
    "One pass over the second text, in which that word's state at that layer is replaced by the "
    "first text's: (d_patch − d_second) / (d_first − d_second), where d is the difference of the "
    "two scores. 1: as in the first text; 0: as in the second; below 0 (dashed): moved the other "
    "way. The shares of a layer need not add up to 1, because states interact. "
    "Where both texts have the same top prediction, the two words are those with the largest terms "
    "of the KL divergence, one likelier in each text.",
    "frame": "Between lines: the changed word and the [MASK]. Layers are aligned by relative "
    "depth.\n"
    "Activation patching: Vig et al. 2020; Meng et al. 2022.",
    "terms": places("logits", "KL"),
}


def refusal(label: str, was: str, becomes: str, pieces: tuple[int, int]) -> str:
    """Why the changed word of one model has no partner."""
    counts = [f"{n} piece" if n == 1 else f"{n} pieces" for n in pieces]
    return PIECES.format(
        model=label, was=was, becomes=becomes, n_was=counts[0], n_becomes=counts[1]
    )
