"""How broadly and how far each head looks, averaged over the words of the text."""

import torch
from transformers import AutoModel, AutoTokenizer

TEXT = "The ship sailed across the [MASK] to America."
MODELS = {
    "mini-BERT": ["assets/models/mini-bert", "main"],
    "mini-DistilBERT": ["assets/models/mini-distilbert", "main"],
    "mini-ALBERT": ["assets/models/mini-albert", "main"],
}
GROUPS = {
    "mini-BERT": [[0], [1], [2], [3], [4], [5], [6], [7], [8], [9], [10]],
    "mini-DistilBERT": [[0], [1], [2], [3], [4], [5], [6], [7], [8], [9], [10]],
    "mini-ALBERT": [[0], [1], [2], [3], [4], [5], [6], [7], [8], [9], [10]],
}  # the tokens of each word on which all the models agree
ADDED = [0, 10]  # which of these words the tokenizers added

columns = ["model", "layer", "head", "entropy_nats", "distance_words"]
rows = []
for label, (source, revision) in MODELS.items():
    tokenizer = AutoTokenizer.from_pretrained(source, revision=revision)
    model = AutoModel.from_pretrained(source, revision=revision, attn_implementation="eager").eval()
    text = TEXT.replace("[MASK]", tokenizer.mask_token)
    parts = text.split("[SEP]", 1)
    parts = parts if all(part.strip() for part in parts) else [text]
    inputs = tokenizer(*parts, return_tensors="pt", return_token_type_ids=True)
    with torch.inference_mode():
        attention = torch.cat(model(**inputs, output_attentions=True).attentions)
    # What a word receives is the sum over its tokens, what it gives is the mean over them.
    members = torch.zeros(len(GROUPS[label]), attention.shape[-1])
    for word, tokens in enumerate(GROUPS[label]):
        members[word, tokens] = 1
    between = (members / members.sum(1, keepdim=True)) @ attention @ members.T
    read = [word for word in range(len(members)) if word not in ADDED] or list(range(len(members)))
    entropy = torch.special.entr(between.double()).sum(-1)[:, :, read].mean(-1)
    places = torch.arange(len(members))
    distance = (between * (places[:, None] - places).abs()).sum(-1)[:, :, read].mean(-1)
    for layer in range(entropy.shape[0]):
        for head in range(entropy.shape[1]):
            numbers = entropy[layer, head].item(), distance[layer, head].item()
            rows.append([label, layer + 1, head + 1, *numbers])
FIGURE = ("points", "model", "distance_words", ["entropy_nats"])
