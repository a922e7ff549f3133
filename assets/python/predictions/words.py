"""How likely each word is in its place: hidden, then its pieces filled from left to right."""

import math
import re

import torch
from transformers import AutoModelForMaskedLM, AutoTokenizer

TEXT = "The ship sailed across the [MASK] to America."
MODELS = {
    "mini-BERT": ["assets/models/mini-bert", "main"],
    "mini-DistilBERT": ["assets/models/mini-distilbert", "main"],
    "mini-ALBERT": ["assets/models/mini-albert", "main"],
}
WORD = r"\[(?:MASK|SEP|CLS|UNK|PAD)\]|[\w\u0300-\u036f]+(?:['’][\w\u0300-\u036f]+)*|[^\w\s]"

ANSWERS = 3  # of the first piece, listed beside it

columns = ["position", "word", "model", "probability", "surprisal_nats", "rank", "tokens"]
for n in range(1, ANSWERS + 1):
    columns += [f"answer_{n}", f"probability_of_answer_{n}"]
rows = []
for label, (source, revision) in MODELS.items():
    tokenizer = AutoTokenizer.from_pretrained(source, revision=revision)
    model = AutoModelForMaskedLM.from_pretrained(source, revision=revision).eval()
    parts = TEXT.split("[SEP]", 1)
    parts = parts if all(part.strip() for part in parts) else [TEXT]
    coded = tokenizer(*parts, return_offsets_mapping=True, return_token_type_ids=True)
    ids, sentences, shift = coded["input_ids"], coded.sequence_ids(), len(TEXT) - len(parts[-1])
    spans = []
    for (start, end), sentence in zip(coded["offset_mapping"], sentences, strict=True):
        start, end = (v + shift * (sentence or 0) for v in (start, end))
        start += len(TEXT[start:end]) - len(TEXT[start:end].lstrip())
        spans.append((start, end) if sentence is not None else (0, 0))
    for position, word in enumerate(re.finditer(WORD, TEXT), 1):
        inside = [i for i, (a, b) in enumerate(spans) if a < word.end() and b > word.start()]
        straddles = any(spans[i][0] < word.start() or spans[i][1] > word.end() for i in inside)
        if not inside or straddles or re.fullmatch(r"\[\w+\]", word[0]):
            continue
        pieces = " ".join(tokenizer.convert_ids_to_tokens([ids[i] for i in inside]))
        hidden = [tokenizer.mask_token_id if i in inside else id for i, id in enumerate(ids)]
        nats, first = 0.0, None
        for i in inside:
            segments = torch.tensor([coded["token_type_ids"]])
            with torch.inference_mode():
                out = model(input_ids=torch.tensor([hidden]), token_type_ids=segments)
            logs = out.logits[0, i].double().log_softmax(-1)
            first = logs if first is None else first
            nats -= logs[ids[i]].item()
            hidden[i] = ids[i]
        rank = 1 + (first > -nats + 1e-12).sum().item() if len(inside) == 1 else None
        known = tokenizer.unk_token_id not in [ids[i] for i in inside]
        found = [math.exp(-nats), nats, rank] if known else [None, None, None]
        top, listed = first.topk(ANSWERS), []
        for i, p in zip(top.indices.tolist(), top.values.exp().tolist(), strict=True):
            listed += [spelled(tokenizer, i), p]
        rows.append([position, word[0], label, *found, pieces, *listed])
FIGURE = ("bars", "model", "position word", ["surprisal_nats"])
