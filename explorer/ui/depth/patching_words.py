"""The sentences of the fold on two texts, one patched into the other."""

from explorer.views.glossary import places

FOLD = "Two texts, patched: where does the difference travel?"
SECOND = "Second text: the first with one change"
START = "Follow the change"
STOP = "Stop"
STOPPED = "Stopped. “Follow the change” starts again."
READING = "Reading the second text."
PROGRESS = "{done} of {n} states were carried over."
NO_MODEL = "No model is available, so there is nothing to patch."
NO_MASK = "There is no [MASK] in the text: mask a word, and the answer to it can be followed."
NO_PROPOSAL = "No change is proposed for this text: type a second one that differs in one place."
LONG = "States are carried between texts of at most {most} words and signs; this one has {n}."
MANY_PIECES = "States are carried between texts of at most {most} pieces; {model} makes {n} of it."
PIECES = (
    "{model} writes “{was}” in {n_was} and “{becomes}” in {n_becomes}: the states have no partners."
)
PICTURE = {
    "finding": "{was} or {becomes}: at first that word holds all of the difference. The [MASK] "
    "itself carries more of it ",
    "from": "in {model} from layer {n} of {total} on",
    "no_partner": "In no model has {was} as many pieces as {becomes}: no state has a partner.",
    "no_finding": "No patched model tells {was} from {becomes} by enough to be followed.",
    "offers": "Change",
    "kinds": {
        "number": "number",
        "gender": "gender",
        "negation": "negation",
        "name": "name",
    },
    "offer": "{kind}: {was} → {becomes}",
    "mask": "Mask",
    "first_masks": "The first {n} of {all} masks are followed.",
    "embeddings": "emb.",
    "layer": "layer {n}",
    "layers": "layer",
    "map": "{model}: the share of the difference that each word's state brings, by layer",
    "cell": "{model}, {word}, {layer}: {share}",
    "answers": "{first} (first text) against {second} (second text)",
    "same": "Both texts have the same first answer, so the two words that part most are followed: "
    "{first} (more in the first text) against {second} (more in the second)",
    "gaps": "; score of the one minus score of the other, in logits: {d_first} and {d_second}.",
    "little": "The two texts part by {gap} logits only, too little to divide by: nothing is drawn.",
    "how": "A cell is one pass over the second text in which that word's state at that layer is "
    "the first text's. In it is the share of the difference that this brings back: "
    "(d_patch − d_second) / (d_first − d_second), d the difference of the two scores. 1: the "
    "score stands as in the first text; 0: as in the second; below 0 (dashed): moved the other "
    "way. The shares of a layer need not add up to 1, since states also act together.",
    "frame": "Between lines: the changed word and the [MASK]. Layers stand by their share of the "
    "whole depth. Activation patching: Vig et al. 2020; Meng et al. 2022.",
    "terms": places("logits"),
}


def refusal(label: str, was: str, becomes: str, pieces: tuple[int, int]) -> str:
    """Why the changed word of one model has no partner."""
    counts = [f"{n} piece" if n == 1 else f"{n} pieces" for n in pieces]
    return PIECES.format(
        model=label, was=was, becomes=becomes, n_was=counts[0], n_becomes=counts[1]
    )
