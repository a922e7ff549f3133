"""The numbers of lists of texts by plain transformers: one text at a time, nothing shared with the product."""

import torch

MASK = "[MASK]"


def logits_of(loaded, ids, segments=None):
    """Return the logits [position, vocabulary] of one text."""
    inputs = {"input_ids": torch.tensor([ids])}
    if segments is not None and "token_type_ids" in loaded.tokenizer.model_input_names:
        inputs["token_type_ids"] = torch.tensor([segments])
    with torch.no_grad():
        out = loaded.network(**inputs)
    return (out.logits if "logits" in out else out.prediction_logits)[0].double()


def masked(loaded, text, answer):
    """Return the first token's id, its probability, and log-probability and worst rank of the answer."""
    tokenizer = loaded.tokenizer
    ids = tokenizer(text)["input_ids"]
    place = ids.index(tokenizer.mask_token_id)
    log_probs = logits_of(loaded, ids)[place].log_softmax(-1)
    first = int(log_probs.argmax())
    # As many masks as the answer has pieces in its place, filled from left to right.
    encoding = tokenizer(text.replace(MASK, answer), return_offsets_mapping=True)
    whole, start = encoding["input_ids"], text.index(MASK)
    inside = [
        i
        for i, (low, high) in enumerate(encoding["offset_mapping"])
        if low < start + len(answer) and high > start
    ]
    place, n_pieces = inside[0], len(inside)
    if n_pieces == 1:
        target = float(log_probs[whole[place]])
        return first, float(log_probs[first].exp()), target, 1 + int((log_probs > target).sum())
    targets, filled = whole[place : place + n_pieces], list(whole)
    filled[place : place + n_pieces] = [tokenizer.mask_token_id] * n_pieces
    total, worst = 0.0, 0
    for offset, target in enumerate(targets):
        row = logits_of(loaded, filled)[place + offset].log_softmax(-1)
        total, worst = total + float(row[target]), max(worst, 1 + int((row > row[target]).sum()))
        filled[place + offset] = target
    return first, float(log_probs[first].exp()), total, worst


def pseudo_log_likelihoods(loaded, text):
    """Return PLL (Salazar et al. 2020) and PLL-word-l2r (Kauf and Ivanova 2023) of a sentence.

    The second is ``within_word_l2r`` of minicons, whose words are the tokenizer's ``word_ids``.
    """
    tokenizer = loaded.tokenizer
    encoding = tokenizer(text)
    ids, sides, words = encoding["input_ids"], encoding.sequence_ids(), encoding.word_ids()
    sums = [0.0, 0.0]
    scored = [position for position, side in enumerate(sides) if side is not None]
    for position in scored:
        later = [p for p in scored if p > position and words[p] == words[position]]
        found = {}
        for hidden in {(position,), (position, *later)}:
            masked_ids = [tokenizer.mask_token_id if p in hidden else i for p, i in enumerate(ids)]
            found[hidden] = float(
                logits_of(loaded, masked_ids)[position].log_softmax(-1)[ids[position]]
            )
        sums[0] += found[(position,)]
        sums[1] += found[(position, *later)]
    return sums


def features(loaded, text, pooling):
    """Return the features of one text at every layer: [layer + 1, width]."""
    with torch.no_grad():
        out = loaded.network.base_model(
            **loaded.tokenizer(text, return_tensors="pt"), output_hidden_states=True
        )
    states = torch.stack(out.hidden_states)[:, 0]
    return (states[:, 0] if pooling == "cls" else states.float().mean(1)).float().numpy()
