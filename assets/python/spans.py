"""Words in the tokens of a text: put in front of a recipe that masks words and scores them."""

import torch


def with_own_mask(tokenizer, part):
    """A text with the model's own mask, and where each character of it stands in the text."""
    places, at = [], 0
    for number, piece in enumerate(part.split("[MASK]")):
        if number:
            places += [at] * len(tokenizer.mask_token)
            at += len("[MASK]")
        places += range(at, at + len(piece))
        at += len(piece)
    return part.replace("[MASK]", tokenizer.mask_token), [*places, at]


def token_spans(tokenizer, text):
    """The tokens of a text or of a pair, and where each stands; added ones stand nowhere."""
    parts = parts_of(text)
    told, places = zip(*(with_own_mask(tokenizer, part) for part in parts), strict=True)
    encoding = tokenizer(*told, return_offsets_mapping=True, return_token_type_ids=True)
    shift, spans = len(text) - len(parts[-1]), []
    sides = encoding.sequence_ids()
    for (start, end), side in zip(encoding["offset_mapping"], sides, strict=True):
        start, end = (places[side or 0][place] + shift * (side or 0) for place in (start, end))
        start += len(text[start:end]) - len(text[start:end].lstrip())
        spans.append((start, end) if side is not None else (0, 0))
    return encoding, spans


def tokens_of(spans, start, end):
    """The tokens of the word from start to end; none where a token is of two words."""
    inside = [i for i, (a, b) in enumerate(spans) if a < end and b > start]
    return [] if any(spans[i][0] < start or spans[i][1] > end for i in inside) else inside


def fill(model, tokenizer, encoding, inside):
    """Masked tokens filled from left to right: nats in all, log-probabilities of the first."""
    ids = encoding["input_ids"]
    masked = [tokenizer.mask_token_id if i in inside else id for i, id in enumerate(ids)]
    nats, first = 0.0, None
    for i in inside:
        segments = torch.tensor([encoding["token_type_ids"]])
        with torch.inference_mode():
            out = model(input_ids=torch.tensor([masked]), token_type_ids=segments)
        logs = out.logits[0, i].double().log_softmax(-1)
        first = logs if first is None else first
        nats -= logs[ids[i]].item()
        masked[i] = ids[i]
    return nats, first


def surprisal(model, tokenizer, text, start, end):
    """Nats of a word filled from left to right, log-probabilities for its first piece, pieces."""
    encoding, spans = token_spans(tokenizer, text)
    inside = tokens_of(spans, start, end)
    if not inside:
        return None, None, []
    pieces = tokenizer.convert_ids_to_tokens([encoding["input_ids"][i] for i in inside])
    return *fill(model, tokenizer, encoding, inside), pieces
