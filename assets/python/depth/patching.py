"""How much of the first text's answer each of its states brings back in the second text."""

import re

import torch
from transformers import AutoModelForMaskedLM

TEXT = "The ship sailed across the [MASK] to America."
SECOND = "The ship sailed across the [MASK] to Africa."
WORDS = ["America"]
GROUPS = {"mini-BERT": [[7]], "mini-DistilBERT": [[7]], "mini-ALBERT": [[7]]}  # their tokens
MAX_MASKS = 4
LAYER = r"\.(layer|albert_layers)\.\d+$"
LEAST = 0.1  # logits by which the two texts must differ

columns = ["model", "mask", "answer_first_text", "answer_second_text"]
columns += ["gap_first_text", "gap_second_text", "layer", "word", "share_brought_back"]
rows = []
for label, groups in GROUPS.items():
    tokenizer, model = load(label, AutoModelForMaskedLM)
    n_layers = model.config.num_hidden_layers
    both = []
    for text in (TEXT, SECOND):
        parts = parts_of(text.replace("[MASK]", tokenizer.mask_token))
        both.append(tokenizer(*parts, return_tensors="pt", return_token_type_ids=True))
    masks = (both[0]["input_ids"][0] == tokenizer.mask_token_id).nonzero()[:, 0][:MAX_MASKS]
    carried, calls = (None, None), 0  # ALBERT's one layer is called again and again

    def carry(_, arguments):
        global calls
        layer, positions = carried
        hidden = arguments[0]
        if calls == layer:
            hidden = hidden.clone()
            hidden[0, positions] = states[layer][0, positions]
        calls += 1
        return (hidden, *arguments[1:])

    def answers():
        global calls
        calls = 0
        with torch.inference_mode():
            return model(**both[1]).logits[0, masks].double()

    for name, module in model.named_modules():
        if re.search(LAYER, name):
            module.register_forward_pre_hook(carry)
    with torch.inference_mode():
        out = model(**both[0], output_hidden_states=True)
    states, first, second = out.hidden_states, out.logits[0, masks].double(), answers()
    pairs = []
    for ours, theirs in zip(first, second, strict=True):
        p, q = ours.log_softmax(-1), theirs.log_softmax(-1)
        same = ours.argmax() == theirs.argmax()  # then the two words that part most
        pair = (p.exp() * (p - q), q.exp() * (q - p)) if same else (ours, theirs)
        pairs.append([one.argmax() for one in pair])

    def gap(logits):
        return torch.stack([one[a] - one[b] for one, (a, b) in zip(logits, pairs, strict=True)])

    before, whole = gap(second), gap(first) - gap(second)
    told = []
    for mask, pair in enumerate(pairs):
        words = [spelled(tokenizer, i) for i in pair]
        told.append([label, mask + 1, *words, gap(first)[mask].item(), before[mask].item()])
    rows += [[*told[m], None, None, None] for m in range(len(masks)) if whole[m] < LEAST]
    found = {mask: [] for mask in range(len(masks))}
    for layer in range(n_layers + 1):
        for word, positions in zip(WORDS, groups, strict=True):
            if layer < n_layers:
                carried = layer, positions
                share = (gap(answers()) - before) / whole
            else:  # behind the last layer nothing is read but the mask's own state
                share = torch.tensor([float(mask in positions) for mask in masks.tolist()])
            for mask in range(len(masks)):
                if whole[mask] >= LEAST:
                    found[mask].append([*told[mask], layer, word, share[mask].item()])
    rows += [row for listed in found.values() for row in listed]
FIGURE = ("heatmap", "model mask", "word", ["share_brought_back"], "layer")
