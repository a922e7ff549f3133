"""What each word has to do with the label of one word by a model's own token classifier.

Both attributions are of the label's log-odds at the word's first token, summed over its tags:
integrated gradients from a text of masks to the text (Sundararajan et al. 2017), and the decrease
when a word is masked.
"""

import torch
from transformers import AutoModelForTokenClassification

TEXT = "Anna Berg lives in Paris."
AT = 0
HEADS = {"bert": [["O", "B-PER", "I-PER"], "PER"]}


def label_of(tag):
    prefix, dash, label = tag.partition("-")
    return label if dash and prefix in {*"BIELSU"} else tag


columns = ["model", "label", "attributed", "baseline"]
columns += ["word", "integrated_gradients", "leave_one_out"]
rows, words = [], words_of(TEXT)
for label, (tags, wanted) in HEADS.items():
    tokenizer, model = load(label, AutoModelForTokenClassification, attn_implementation="eager")
    coded, spans = token_spans(tokenizer, TEXT)
    ids = torch.tensor([coded["input_ids"]])
    segments = {}
    if getattr(model.config, "type_vocab_size", 0) > 1:
        segments = {"token_type_ids": torch.tensor([coded["token_type_ids"]])}
    place = [  # a piece belongs to the first word that ends after its beginning
        None if side is None else next(i for i, word in enumerate(words) if word.end() > first)
        for (first, _), side in zip(spans, coded.sequence_ids(), strict=True)
    ]
    chosen = torch.tensor([label_of(tag) == wanted for tag in tags])

    def log_odds(**read):
        logits = model(**read, **segments).logits[:, place.index(AT)]
        return logits[:, chosen].logsumexp(-1) - logits[:, ~chosen].logsumexp(-1)

    def masked(*left_out):
        hidden = torch.tensor([word in left_out for word in place])
        return torch.where(hidden, tokenizer.mask_token_id, ids)

    embed = model.get_input_embeddings()
    start, end = (embed(part).detach() for part in (masked(*range(len(words))), ids))
    shares, baseline = integrated(lambda at: log_odds(inputs_embeds=at), start, end)
    per_word = [0.0] * len(words)
    for share, word in zip(shares, place, strict=True):
        if word is not None:
            per_word[word] += share
    with torch.inference_mode():
        whole = log_odds(input_ids=ids)[0].item()
        for i, (word, share) in enumerate(zip(words, per_word, strict=True)):
            left = log_odds(input_ids=masked(i))[0].item()
            rows.append([label, wanted, whole, baseline, word[0], share, whole - left])
FIGURE = ("bars", "model", "word", ["integrated_gradients", "leave_one_out"])
