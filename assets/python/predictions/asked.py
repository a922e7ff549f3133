"""How likely a word is in a gap: hidden, then its pieces filled from left to right."""

import math

import torch
from transformers import AutoModelForMaskedLM, AutoTokenizer

MODELS = {
    "mini-BERT": ["assets/models/mini-bert", "main"],
    "mini-DistilBERT": ["assets/models/mini-distilbert", "main"],
    "mini-ALBERT": ["assets/models/mini-albert", "main"],
}
STRETCHES = [
    ["The ship sailed across the sea to America.", 27, 30],
    ["The ship sailed across the ocean to America.", 27, 32],
]  # each text with a word in its place, and where that stands
ASKED = [["sea", 1], ["ocean", 1]]  # the words, and into which gap each was put


def spans_of(tokenizer, text):
    """The tokens of a text or of a pair, and where each stands; added ones stand nowhere."""
    parts = text.split("[SEP]", 1)
    parts = parts if all(part.strip() for part in parts) else [text]
    coded = tokenizer(*parts, return_offsets_mapping=True, return_token_type_ids=True)
    shift, spans = len(text) - len(parts[-1]), []
    for (start, end), side in zip(coded["offset_mapping"], coded.sequence_ids(), strict=True):
        start, end = (v + shift * (side or 0) for v in (start, end))
        start += len(text[start:end]) - len(text[start:end].lstrip())
        spans.append((start, end) if side is not None else (0, 0))
    return coded, spans


def priced(model, tokenizer, text, start, end):
    """Log-probability of a stretch, filled from left to right; of its first piece all of them."""
    coded, spans = spans_of(tokenizer, text)
    ids = coded["input_ids"]
    inside = [i for i, (a, b) in enumerate(spans) if a < end and b > start]
    if not inside or any(spans[i][0] < start or spans[i][1] > end for i in inside):
        return None, None, []
    pieces = tokenizer.convert_ids_to_tokens([ids[i] for i in inside])
    hidden, nats, first = list(ids), 0.0, None
    for i in inside:
        hidden[i] = tokenizer.mask_token_id
    for i in inside:
        segments = torch.tensor([coded["token_type_ids"]])
        with torch.inference_mode():
            out = model(input_ids=torch.tensor([hidden]), token_type_ids=segments)
        logs = out.logits[0, i].double().log_softmax(-1)
        first = logs if first is None else first
        nats -= logs[ids[i]].item()
        hidden[i] = ids[i]
    return nats, first, pieces


columns = ["word", "gap", "model", "probability", "surprisal_nats", "rank", "pieces"]
columns.append("vocabulary")
rows = []
for label, (source, revision) in MODELS.items():
    tokenizer = AutoTokenizer.from_pretrained(source, revision=revision)
    model = AutoModelForMaskedLM.from_pretrained(source, revision=revision).eval()
    for asked, (text, start, end) in zip(ASKED, STRETCHES, strict=True):
        nats, first, pieces = priced(model, tokenizer, text, start, end)
        if nats is None or tokenizer.unk_token in pieces:
            rows.append([*asked, label, None, None, None, None, len(tokenizer)])
            continue
        rank = 1 + (first > -nats + 1e-12).sum().item() if len(pieces) == 1 else None
        found = math.exp(-nats), nats, rank, " ".join(pieces)
        rows.append([*asked, label, *found, len(tokenizer)])
FIGURE = ("bars", "model", "gap word", ["probability"])
