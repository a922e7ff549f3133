"""Sentences and labels of the Layer tab."""

from collections.abc import Sequence

from explorer.library import refusals
from explorer.models.choice.family import member, teacher_of
from explorer.models.specs import ModelSpec
from explorer.refusal import Sentence
from explorer.views.glossary import places

LABEL = "Layer"
QUESTION = "What does one layer do to a word?"
CANVAS = {
    "finding": "{place}{first} changes {word} more than {second} does, in {models}",
    "place": "In layer {n}, ",
    "places": "In the layers shown, ",
    "rest": "; {block} changes it more in {models}",
    "equal": "{place}{first} and {second} change {word} equally, in {models}",
    "equal_rest": "; both equally in {models}",
    "every": {"both": "both", "all": "all {n}"},
    "numbers": {"3": "three", "4": "four", "5": "five", "6": "six"},
    "and": " and ",
    "blocks": {"attention": "attention", "feed_forward": "feed-forward"},
    "stages": {
        "input": "Input",
        "attention": "Attention",
        "norm1": "Add & norm",
        "feed": "Feed-forward",
        "norm2": "Add & norm",
    },
    "from": "output of layer {n}",
    "from_embedding": "embedding",
    "to": "to layer {n}",
    "again": "again, as layer {n}",
    "to_head": "to the masked-LM head",
    "ends": "output of the model",
    "reads": "reads most, mean of {n} heads",
    "alone": "reads {word} alone",
    "predicts": "predicts {word} {p}",
    "turned": "turned {n}",
    "show_all": "Show all {n}",
    "show_few": "Show the {n} largest",
    "word": "Word",
    "layer": "Layer",
    "head": "Head",
    "norm": "norm {n}",
    "cosine": "cos {n}",
    "stations": {
        "embedding": "Embedding",
        "input": "Input",
        "scores": "Scores",
        "softmax": "Softmax",
        "heads": "Weighted values",
        "projection": "Output projection",
        "attended": "+ residual",
        "attention_norm": "Layer norm",
        "feed_forward": "Feed-forward",
        "summed": "+ residual",
        "output": "Layer norm: output",
    },
    "said": {
        "embedding": "The sum of the word's row, its position's row and, except in DistilBERT, its "
        "segment's row; then a layer norm.",
        "input": "The layer starts from the output of the layer before; layer 1 from the "
        "embedding.",
        "scores": "The query of {word} with each token's key: their dot product over the square "
        "root of the head's dimension.",
        "softmax": "Softmax turns the scores into weights that are positive and sum to 1.",
        "heads": "Each head averages the value vectors of all tokens with its weights. Shown: the "
        "chosen head.",
        "projection": "The heads' results, side by side, go through one matrix: each head adds its "
        "part to the result.",
        "attended": "The residual connection adds the input: attention changes the state, it does "
        "not replace it.",
        "attention_norm": "Zero mean and unit variance again, then each dimension is scaled and "
        "shifted.",
        "feed_forward": "This token alone: each inner unit responds to one direction of the state "
        "and writes another.",
        "summed": "A second residual connection adds the feed-forward block's input.",
        "output": "After a second layer norm this is the layer's output, and the next layer's "
        "input.",
    },
    "dot": "{key}: q · k, the largest products first",
    "dot_head": ["dimension", "q", "k", "q × k"],
    "dot_sum": "sum {sum} ÷ √{d} = score {score}",
    "softmax_head": ["token", "score", "exp", "weight"],
    "softmax_said": "exp = e^(score − {most}), the largest score subtracted; weight = exp ÷ {sum}, "
    "their sum.",
    "values_head": ["token", "weight", "norm of its value", "weight × norm"],
    "heads_head": ["head", "norm of its part"],
    "add_head": ["dimension", "{a}", "{b}", "sum"],
    "norm_head": ["dimension", "x", "scale", "shift", "result"],
    "norm_said": "(x − {mean}) ÷ {deviation} × scale + shift. Mean and deviation are over all "
    "dimensions; the largest results are shown.",
    "units_head": ["unit", "activation", "norm of what it writes"],
    "units_said": "Positive units: {n} of {all}; those that write most are shown.",
    "rows": {"word": "word", "position": "position", "segment": "segment"},
    "no_segment": "no segment embedding",
    "factorised": "{e} dimensions, projected to {d}",
    "dimension": "Dimension",
    "projected": "Projection, dimension {i}: x (after the layer norm) × w, the largest "
    "products first",
    "projected_head": ["dimension", "x", "w", "x × w"],
    "projected_sum": "sum {sum} + bias {bias} = {result}",
    "sum_head": ["dimension", "sum"],
    "dimensions": "The largest of {n} dimensions.",
    "input_said": "A vector of {n} numbers. Nothing is computed here.",
    "key": "Key",
    "open": "{station}: show the arithmetic",
    "strip": "{station} of {model}: {n} numbers, norm {norm}",
    "scale": "Strips: one cell a dimension, in the order of the vector; full colour at",
    "terms": places("residual", "layer norm", "logit lens"),
    "how": "Click a box for its numbers.",
    "note": "Turned: the angle of the word's vector before the block and after its add & norm; at "
    "90° nothing of it is left.\n"
    "A line around a block is its residual connection: add & norm adds the block's input, "
    "then applies a layer norm. Predictions are the masked-LM head's (a logit lens), which was "
    "trained on the last layer: early ones are unreliable.",
    "waiting": "Computing",
    "lacking": "This cannot be computed right now. Please press Compare and try again.",
}
SHARED = "layer {n} of {all}, the same weights each time"
COPIED = "layer {n} of {all}, initialised from {teacher} layer {origin}"
PLAIN = "layer {n} of {all}"
HEAD_OF = "; head {n} of {all}"
PIECE = "{piece} is the first of the {n} pieces of {word}."
NO_WORD = refusals.NO_WORD


def layer_note(spec: ModelSpec, layer: int, specs: Sequence[ModelSpec]) -> str:
    """Return the layer's number, and that it is shared or was copied from a teacher's layer."""
    shape, teacher = spec.architecture, member(teacher_of(spec), specs)
    n, total = layer + 1, shape.n_layers
    if shape.shares_layers:
        return SHARED.format(n=n, all=total)
    if teacher:
        origin = spec.initialised_from[layer] + 1
        return COPIED.format(n=n, all=total, teacher=teacher.label, origin=origin)
    return PLAIN.format(n=n, all=total)


STEPS_FOLD = "Log-probability by block: which block wrote the answer?"
STEPS = {
    "title": "{model}: log-probability of {word}",
    "axis": "log-probability, nats",
    "layer": "layer",
    "blocks": {"attention": "attention", "feed_forward": "feed-forward"},
    "embedding": "embedding",
    "answer": "after layer {n}",
    "step": "layer %{customdata[0]}, %{customdata[1]}: %{y:+.3f} nats<extra></extra>",
    "end": "{name}: %{{y:.3f}} nats<extra></extra>",
    "note": "The head, trained on the last layer only, reads after each block; embeddings and "
    "steps sum to the log-probability.",
}
STEP_WORD = "Word to follow (empty: each model's own answer)"
STEP_FIND = "Follow"
UNKNOWN_WORD = Sentence(
    "word-not-one-piece", "{word} is not one piece of the vocabulary of {models}."
)
STEP = "layer {layer} {block} ({step} nats)"
CONTEXTS_FOLD = "Bidirectional context: how much does right-hand context help?"
CONTEXTS = {
    "reading": "Reading",
    "readings": {
        "both": "both sides, as trained",
        "left": "left side only",
        "right": "right side only",
        "no_order": "no order: all positions alike",
        "shuffled": "the other words shuffled",
        "alone": "no attention between words",
    },
    "short": {
        "both": "both sides",
        "left": "left only",
        "right": "right only",
        "no_order": "no order",
        "shuffled": "shuffled",
        "alone": "no attention",
    },
    "wanted": "{p}, rank {rank}",
    "unshuffled": "nothing to shuffle",
    "scores": "Masked word predicted correctly, with 95% intervals",
    "first": "{model}, first",
    "among": "{model}, among five",
    "upper": "The models were trained on both sides, so this overstates what a one-sided model "
    "would lose.",
}
CONTEXTS_NOTE = (
    "Small print: probability and rank of the masked word if it is one known token, else of the "
    "both-sides answer."
)
MANY = "Score all {n} held-out sentences"
NO_MASK = refusals.NO_MASK_TO_READ
STOP = "Stop"
STOPPED = "Stopped."
PROGRESS = "{done} of {n} sentences"
MASK_OF = "Mask {i} of {n}. "
RECURRENT_MORE = "More: what does reading in order cost?"
RECURRENT = {
    "title": "Time per token, one thread",
    "names": {"encoder layer": "one encoder layer", "LSTM": "LSTM of the same width"},
    "length": "tokens in the text",
    "time": "µs per token",
    "hover": "%{x} tokens: %{y:.4g} µs per token<br>%{customdata[0]} sequential steps, "
    "%{customdata[1]:.3g} GFLOP",
}
TIME = "Time an LSTM against one layer"
RECURRENT_NOTE = (
    "An LSTM, {d} wide: {share} of the arithmetic of one layer of {model} at {n} tokens, but "
    "in {n} steps, not 1."
)
RECURRENT_FOUND = "At {n} tokens the LSTM takes {ratio} × the layer's time ({ends})"
RECURRENT_LAST = ", at {n} tokens {ratio} × ({ends})"
NO_INTERVAL = "too few rounds for an interval"
POINTS = "{done} of {n} lengths measured"
