"""How the heads of a shared layer change from one application to the next: JS of their rows."""

import torch
from transformers import AutoModel, AutoTokenizer

TEXT = "The ship sailed across the [MASK] to America."
MODELS = {
    "mini-BERT": ["assets/models/mini-bert", "main"],
    "mini-DistilBERT": ["assets/models/mini-distilbert", "main"],
    "mini-ALBERT": ["assets/models/mini-albert", "main"],
}
GROUPS = {"mini-ALBERT": [[0], [1], [2], [3], [4], [5], [6], [7], [8], [9], [10]]}  # by word
READ = [1, 2, 3, 4, 5, 6, 7, 8, 9]  # the words whose rows are compared


def js(first, second):
    middle, both = (first + second) / 2, [first, second]
    own = sum(torch.special.entr(one).sum(-1).mean(-1) for one in both) / 2
    return (torch.special.entr(middle).sum(-1).mean(-1) - own).clamp(min=0)


columns = ["layer", "head", "js_from_first_nats", "js_from_layer_before_nats"]
rows = []
for label, groups in GROUPS.items():
    source, revision = MODELS[label]
    tokenizer = AutoTokenizer.from_pretrained(source, revision=revision)
    model = AutoModel.from_pretrained(source, revision=revision, attn_implementation="eager").eval()
    text = TEXT.replace("[MASK]", tokenizer.mask_token)
    parts = text.split("[SEP]", 1)
    parts = parts if all(part.strip() for part in parts) else [text]
    inputs = tokenizer(*parts, return_tensors="pt", return_token_type_ids=True)
    with torch.inference_mode():
        attention = torch.cat(model(**inputs, output_attentions=True).attentions)
    # What a word receives is the sum over its tokens, what it gives is the mean over them.
    members = torch.zeros(len(groups), attention.shape[-1])
    for word, tokens in enumerate(groups):
        members[word, tokens] = 1
    words = ((members / members.sum(1, keepdim=True)) @ attention @ members.T)[:, :, READ].double()
    for layer in range(len(words)):
        first = js(words[0], words[layer])
        step = js(words[layer - 1], words[layer]) if layer else [None] * len(first)
        for head, (one, other) in enumerate(zip(first, step, strict=True), 1):
            rows.append([layer + 1, head, float(one), None if other is None else float(other)])
FIGURE = ("lines", "head", "layer", ["js_from_first_nats", "js_from_layer_before_nats"])
