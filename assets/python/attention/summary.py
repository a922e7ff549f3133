"""All of a model's attention in one matrix between words, in one of four ways."""

import re

import torch
from transformers import AutoModelForMaskedLM

TEXT = "The ship sailed across the [MASK] to America."
GROUPS = {
    "mini-BERT": [[0], [1], [2], [3], [4], [5], [6], [7], [8], [9], [10]],
    "mini-DistilBERT": [[0], [1], [2], [3], [4], [5], [6], [7], [8], [9], [10]],
    "mini-ALBERT": [[0], [1], [2], [3], [4], [5], [6], [7], [8], [9], [10]],
}  # the tokens of each word on which all the models agree
WORDS = ["[CLS]", "The", "ship", "sailed", "across", "the", "[MASK]", "to", "America", ".", "[SEP]"]
WAY = "rollout"  # or mean, value, gradient
VALUES = r"attention\.(self\.value|v_lin|value)$"
MIXING = r"attention\.(output\.dense|out_lin|dense)$"  # what reads the outputs of all heads


def mean(weights, *_):
    return weights.mean((0, 1))


def rollout(weights, *_):  # Abnar & Zuidema 2020: half of each layer passes by
    one = torch.eye(weights.shape[-1]).double()
    found = one
    for layer in weights.mean(1):
        found = (layer + one) / 2 @ found
    return found


def value(weights, out, model):  # Kobayashi et al. 2020: times the length of what is carried
    modules = list(model.base_model.named_modules())
    values = [module for name, module in modules if re.search(VALUES, name)]
    mixing = [module for name, module in modules if re.search(MIXING, name)]
    lengths = []
    for i, layer in enumerate(weights):
        heads = values[i % len(values)](out.hidden_states[i][0]).unflatten(-1, (len(layer), -1))
        parts = mixing[i % len(mixing)].weight.unflatten(-1, (len(layer), -1))
        lengths.append(torch.einsum("khv,ohv->hko", heads, parts).norm(dim=-1))
    found = (weights * torch.stack(lengths).double()[:, :, None]).mean((0, 1))
    return found / found.sum(-1, keepdim=True)


def gradient(weights, out, _):  # after Chefer et al. 2021: what the first answer needs
    logits = out.logits[0, place]
    slopes = torch.cat(torch.autograd.grad(logits[logits.argmax()], out.attentions))
    found = (weights * slopes.double()).clamp(min=0).mean(1).sum(0)
    return found / found.sum()


columns = ["model", "query", "key", "value"]
rows = []
for label, groups in GROUPS.items():
    tokenizer, model = load(label, AutoModelForMaskedLM, attn_implementation="eager")
    inputs = encode(tokenizer, model, TEXT)
    is_mask = inputs["input_ids"][0] == tokenizer.mask_token_id
    place = is_mask.nonzero()[0, 0] if is_mask.any() else None
    out = model(**inputs, output_attentions=True, output_hidden_states=True)
    weights = torch.cat(out.attentions).detach().double()
    ways = {"mean": mean, "rollout": rollout, "value": value, "gradient": gradient}
    found = ways[WAY](weights, out, model)
    # What a word receives is the sum over its tokens; what it gives the mean, of slopes the sum.
    members = torch.zeros(len(groups), len(found)).double()
    for word, tokens in enumerate(groups):
        members[word, tokens] = 1
    given = members if WAY == "gradient" else members / members.sum(1, keepdim=True).clamp(min=1)
    between = given @ found @ members.T
    for query, shares in zip(WORDS, between.tolist(), strict=True):
        rows += [[label, query, key, share] for key, share in zip(WORDS, shares, strict=True)]
FIGURE = ("heatmap", "model", "key", ["value"], "query")
