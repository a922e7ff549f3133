"""What training changed: weights, token states, heads and predictions, each with its control."""

import numpy as np
import torch
from transformers import AutoModel, AutoModelForMaskedLM

PAIR = ["mini-BERT", "mini-BERT"]  # before and after
READER = ["mini-BERT"]  # whose masked-LM head reads the states after; none: no masks are compared
TEXTS = ["The ship sailed across the sea to America."]
MAX_WORDS = 1000  # tokens whose states are compared
SHARE, UNKNOWN = 0.15, ("[UNK]", "<unk>")
LAYERS = {
    "bert": lambda model: model.encoder.layer,
    "distilbert": lambda model: model.transformer.layer,
    "albert": lambda model: model.encoder.albert_layer_groups[0].albert_layers,
}
MATRICES = {
    "bert": "attention.self.query attention.self.key attention.self.value"
    " attention.output.dense intermediate.dense output.dense",
    "distilbert": "attention.q_lin attention.k_lin attention.v_lin attention.out_lin"
    " ffn.lin1 ffn.lin2",
    "albert": "attention.query attention.key attention.value attention.dense ffn ffn_output",
}
NAMES = ("query", "key", "value", "output", "inner", "outer")


def matrices(model, read):
    """The embeddings, apart by whether a text holds the piece, and six matrices of each layer."""
    kind = model.config.model_type
    kind = kind if kind in LAYERS else "bert"  # RoBERTa has BERT's names
    words = model.get_input_embeddings().weight.double()
    is_read = torch.zeros(len(words), dtype=torch.bool)
    is_read[read] = True
    yield None, "words read", words[is_read]
    yield None, "words not read", words[~is_read]
    yield None, "positions", model.embeddings.position_embeddings.weight.double()
    for number, layer in enumerate(LAYERS[kind](model)):
        for name, place in zip(NAMES, MATRICES[kind].split(), strict=True):
            yield number, name, layer.get_submodule(place).weight.double()


def js(p, q):
    """The Jensen-Shannon divergence of attention rows, in nats."""
    m = (p + q) / 2
    halves = [torch.where(x > 0, x * (x / m).log(), 0).sum(-1) for x in (p, q)]
    return (halves[0] + halves[1]) / 2


def gram(states):
    """The products of centred states with one another, of length 1: their dot product is CKA."""
    centred = states - states.mean(0)
    products = centred @ centred.T
    return products / products.norm()


def masked(coded, tokenizer, number):
    """A text with some tokens masked at random, where they are, and what was there."""
    ids, sides = coded["input_ids"][0], coded.sequence_ids(0)
    pieces = tokenizer.convert_ids_to_tokens(ids.tolist())
    told = zip(sides, pieces, strict=True)
    known = [i for i, (side, one) in enumerate(told) if side is not None and one not in UNKNOWN]
    n = min(len(known), max(1, round(SHARE * len(known))))
    random = np.random.default_rng((0, number))
    places = sorted(random.choice(known, n, replace=False).tolist()) if n else []
    hidden = ids.clone()
    hidden[places] = tokenizer.mask_token_id
    return {**coded, "input_ids": hidden[None]}, places


eager = {"attn_implementation": "eager"}  # the other ways to attend return no weights
(tokenizer, before), (_, after) = (load(label, AutoModel, **eager) for label in PAIR)
lm = {label: load(label, AutoModelForMaskedLM)[1] for label in {PAIR[0], *READER} if READER}


def log_p(label, states):
    """The log-probabilities that a masked-LM head reads from states."""
    model = lm[label]
    return MLM_HEAD[model.config.model_type](model, states).double().log_softmax(-1)


words, moved, control, n_tokens = [], 0, 0, 0
masks, read = [], set()
for number, text in enumerate(TEXTS):
    coded = encode(tokenizer, before, text)
    read |= {*coded["input_ids"][0].tolist()}
    own = [i for i, side in enumerate(coded.sequence_ids(0)) if side is not None]
    with torch.inference_mode():
        asked = {"output_hidden_states": True, "output_attentions": True}
        old, new = (model(**coded, **asked) for model in (before, after))
        p, q = (torch.cat(out.attentions)[:, :, own].double() for out in (old, new))
        words.append([torch.cat(out.hidden_states)[:, own].double() for out in (old, new)])
        moved, control = moved + js(p, q).sum(-1), control + js(p, p.roll(-1, 1)).sum(-1)
        n_tokens += len(own)
        hidden, places = masked(coded, tokenizer, number)
        if lm and places:
            old, new = (
                [states[0, places] for states in model(**hidden, output_hidden_states=True)[-1]]
                for model in (before, after)
            )
            own_answer, earlier = (log_p(PAIR[0], old[at]) for at in (-1, -2))
            others = log_p(READER[0], new[-1]), earlier
            kl = [(own_answer.exp() * (own_answer - other)).sum(-1) for other in others]
            masks += zip(*kl, strict=True)

columns = ["quantity", "layer", "part", "value", "control"]
rows = []
shuffling = torch.Generator().manual_seed(0)
with torch.inference_mode():
    pairs = zip(matrices(before, sorted(read)), matrices(after, sorted(read)), strict=True)
    for (layer, name, v), (_, _, w) in pairs:
        if not v.norm():
            continue
        order = torch.randperm(len(w), generator=shuffling)
        far, shuffled = (((x - v).norm() / v.norm()).item() for x in (w, w[order]))
        cosine = ((v * w).sum() / v.norm() / w.norm()).item() if w.norm() else 1.0
        rows.append(["distance", layer, name, far, shuffled])
        rows.append(["scale", layer, name, (w.norm() / v.norm()).item(), None])
        rows.append(["cosine", layer, name, cosine, None])
old, new = (torch.cat(states, 1)[:, :MAX_WORDS] for states in zip(*words, strict=True))
order = np.random.default_rng(0).permutation(old.shape[1])
for layer, (x, y) in enumerate(zip(map(gram, old), map(gram, new), strict=True)):
    cka, chance = ((x * z).sum().item() for z in (y, y[order][:, order]))
    rows.append(["cka", layer, "tokens", cka, chance])
for layer, heads in enumerate((moved / n_tokens).tolist()):
    for head, value in enumerate(heads):
        other = (control / n_tokens)[layer, head].item() if len(heads) > 1 else None
        rows.append(["js", layer, f"head {head}", value, other])
rows += [["kl", None, f"mask {n}", a.item(), b.item()] for n, (a, b) in enumerate(masks)]
plotted = [row for row in rows if row[0] != "kl"]
FIGURE = ("bars", "quantity", "layer part", ["value"])
