"""How positive a text is, and what each word has to do with it, in logits: two attributions.

Integrated gradients lead from a text of masks to the text (Sundararajan et al. 2017).
"""

import re

import numpy as np
import torch
from peft import PeftModel
from transformers import AutoModelForSequenceClassification, AutoTokenizer

TEXT = "The film was not bad."
MODELS = {
    "mini-BERT": ["assets/models/mini-bert", "main"],
    "mini-DistilBERT": ["assets/models/mini-distilbert", "main"],
    "mini-ALBERT": ["assets/models/mini-albert", "main"],
}
ADAPTERS = {
    "mini-BERT": "assets/models/mini-bert/tasks/sst2",
    "mini-DistilBERT": "assets/models/mini-distilbert/tasks/sst2",
    "mini-ALBERT": "assets/models/mini-albert/tasks/sst2",
}
PARTS, POINTS, MISS, NARROWEST = 4, 4, 0.05, 1 / 64  # a part of the path that misses is halved
WORD = r"\[(?:MASK|SEP|CLS|UNK|PAD)\]|[\w\u0300-\u036f]+(?:['’][\w\u0300-\u036f]+)*|[^\w\s]"


def positive_minus_negative(model, **inputs):
    logits = model(**inputs).logits
    return logits[:, 1] - logits[:, 0]


columns = ["model", "positive", "word", "integrated_gradients", "leave_one_out"]
rows, words = [], list(re.finditer(WORD, TEXT))
points, weights = np.polynomial.legendre.leggauss(POINTS)
for label, adapter in ADAPTERS.items():
    source, revision = MODELS[label]
    tokenizer = AutoTokenizer.from_pretrained(source, revision=revision)
    model = AutoModelForSequenceClassification.from_pretrained(
        source, revision=revision, attn_implementation="eager"
    )
    if adapter:  # else the checkpoint brings its own head
        model = PeftModel.from_pretrained(model, adapter).merge_and_unload()
    model = model.eval()
    coded = tokenizer(TEXT, return_offsets_mapping=True, return_tensors="pt")
    ids, added = coded["input_ids"], torch.tensor([side is None for side in coded.sequence_ids()])
    embed = model.get_input_embeddings()
    end = embed(ids).detach()
    start = embed(torch.where(added, ids, tokenizer.mask_token_id)).detach()
    shares, parts = torch.zeros(ids.shape[1]), [(i / PARTS, (i + 1) / PARTS) for i in range(PARTS)]
    while parts:
        low, high = parts.pop()
        at = torch.tensor((low, high, *(low + (high - low) * (points + 1) / 2)))[:, None, None]
        at = (start + at.to(start.dtype) * (end - start)).requires_grad_()
        scores = positive_minus_negative(model, inputs_embeds=at)
        (slopes,) = torch.autograd.grad(scores.sum(), at)
        weight = torch.tensor(weights * (high - low) / 2, dtype=start.dtype)
        found = weight @ (slopes[2:] * (end - start)).sum(-1)
        miss, width = abs(found.sum() - (scores[1] - scores[0])).item(), high - low
        if width > NARROWEST and miss > MISS * width**0.5:
            parts += [(low, (low + high) / 2), ((low + high) / 2, high)]
        else:
            shares += found.detach()
    per_word = [0.0] * len(words)
    for share, (first, last), side in zip(
        shares.tolist(), coded["offset_mapping"][0].tolist(), coded.sequence_ids(), strict=True
    ):
        first += len(TEXT[first:last]) - len(TEXT[first:last].lstrip())
        if side is not None:  # a piece belongs to the first word that ends after its beginning
            per_word[next(i for i, word in enumerate(words) if word.end() > first)] += share
    with torch.inference_mode():
        whole = positive_minus_negative(model, input_ids=ids)[0].double()
        for word, share in zip(words, per_word, strict=True):
            rest = " ".join(f"{TEXT[: word.start()]} {TEXT[word.end() :]}".split())
            left = positive_minus_negative(model, **tokenizer(rest, return_tensors="pt"))[0]
            rows.append([label, whole.sigmoid().item(), word[0], share, (whole - left).item()])
FIGURE = ("bars", "model", "word", ["integrated_gradients", "leave_one_out"])
