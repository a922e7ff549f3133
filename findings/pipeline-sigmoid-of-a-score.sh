#!/usr/bin/env bash
# transformers 5.23.0: the pipeline puts a sigmoid over a head that was trained to give a score.
#
# A classifier with one label is trained by the network's own forward pass with a squared error, as a
# regression: similarities of 0 to 5, for example. The text-classification pipeline reads the same
# saved head as a probability, unless its config says problem_type "regression". The first forward
# pass with labels writes that field, so a folder that was trained with the network's own loss is
# read as a score, and one trained with a loss outside the network is squeezed into 0 to 1.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q torch==2.13.0 transformers==5.23.0

cat > "$folder/check.py" <<'PYTHON'
import torch
from transformers import BertConfig, BertForSequenceClassification, BertTokenizer, pipeline

torch.manual_seed(0)
words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "cat", "sat"]
tokenizer = BertTokenizer(vocab={word: i for i, word in enumerate(words)})
config = BertConfig(
    vocab_size=len(words), hidden_size=8, num_hidden_layers=1, num_attention_heads=2,
    intermediate_size=16, num_labels=1,
)
network = BertForSequenceClassification(config).eval()
with torch.no_grad():
    network.classifier.bias.fill_(4.2)
inputs = tokenizer("a cat sat", return_tensors="pt")
score = network(**inputs).logits.item()


def read():
    return pipeline("text-classification", model=network, tokenizer=tokenizer)("a cat sat")[0]["score"]


print(f"the head: {score:.3f}; problem_type {config.problem_type}; the pipeline: {read():.3f}")
assert score > 3 and abs(read() - torch.tensor(score).sigmoid().item()) < 1e-5, "changed"
loss = network(**inputs, labels=torch.tensor([4.0])).loss.item()
print(f"loss with the label 4: {loss:.4f}, squared error {(score - 4) ** 2:.4f}")
assert abs(loss - (score - 4) ** 2) < 1e-5, "changed"
print(f"after a pass with a label: problem_type {config.problem_type}; the pipeline: {read():.3f}")
assert config.problem_type == "regression" and abs(read() - score) < 1e-5, "changed"
PYTHON
"$folder/venv/bin/python" "$folder/check.py" 2>/dev/null
