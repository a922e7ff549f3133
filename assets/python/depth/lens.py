"""What the masked-word head says of each [MASK] when it reads every layer (the logit lens)."""

import torch
from transformers import AutoModelForMaskedLM, AutoTokenizer

TEXT = "The ship sailed across the [MASK] to America."
MODELS = {
    "mini-BERT": ["assets/models/mini-bert", "main"],
    "mini-DistilBERT": ["assets/models/mini-distilbert", "main"],
    "mini-ALBERT": ["assets/models/mini-albert", "main"],
}
HEADS = {
    "bert": lambda net, hidden: net.cls(hidden),
    "distilbert": lambda net, hidden: net.vocab_projector(
        net.vocab_layer_norm(net.activation(net.vocab_transform(hidden)))
    ),
    "albert": lambda net, hidden: net.predictions(hidden),
}

columns = ["mask", "model", "layer", "token", "probability", "place_of_final_answer"]
columns += ["kl_final_to_layer_nats"]
rows = []
for label, (source, revision) in MODELS.items():
    tokenizer = AutoTokenizer.from_pretrained(source, revision=revision)
    model = AutoModelForMaskedLM.from_pretrained(source, revision=revision).eval()
    text = TEXT.replace("[MASK]", tokenizer.mask_token)
    parts = text.split("[SEP]", 1)
    parts = parts if all(part.strip() for part in parts) else [text]
    inputs = tokenizer(*parts, return_tensors="pt", return_token_type_ids=True)
    masks = (inputs["input_ids"][0] == tokenizer.mask_token_id).nonzero()[:, 0]
    with torch.inference_mode():
        states = model(**inputs, output_hidden_states=True).hidden_states
        read = HEADS[model.config.model_type]
        logits = torch.stack([read(model, state[0, masks]) for state in states]).double()
    logs = logits.log_softmax(-1)
    for mask in range(len(masks)):
        answer = logs[-1, mask].argmax()
        kl = (logs[-1, mask].exp() * (logs[-1, mask] - logs[:, mask])).sum(-1)
        place = 1 + (logits[:, mask] > logits[:, mask, answer, None]).sum(-1)
        token = tokenizer.convert_ids_to_tokens(answer.item())
        for layer in range(len(states)):
            p = logs[layer, mask, answer].exp().item()
            rows.append([mask + 1, label, layer, token, p, place[layer].item(), kl[layer].item()])
FIGURE = ("lines", "model mask", "layer", ["probability"])
