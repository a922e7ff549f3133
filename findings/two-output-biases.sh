#!/usr/bin/env bash
# transformers 4.57.6 and 5.23.0 apply different output biases of the same tied BERT.
#
# The file holds cls.predictions.bias (all 1) and cls.predictions.decoder.bias (all 2); the output
# layer is tied to the word embeddings. Version 4 ties the two biases and applies the first. Version
# 5 applies the second, and a warning speaks of weights that are not tied. So the probabilities of
# one checkpoint differ between the versions where its two biases differ.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT

cat > "$folder/check.py" <<'PYTHON'
import sys
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from transformers import BertConfig, BertForMaskedLM, __version__

path = Path(sys.argv[1]) / f"model-{__version__}"
config = BertConfig(
    vocab_size=20,
    hidden_size=8,
    num_hidden_layers=1,
    num_attention_heads=2,
    intermediate_size=8,
)
BertForMaskedLM(config).save_pretrained(path)
weights = load_file(path / "model.safetensors")
weights["cls.predictions.bias"] = torch.full((20,), 1.0)
weights["cls.predictions.decoder.bias"] = torch.full((20,), 2.0)
save_file(weights, path / "model.safetensors", {"format": "pt"})
model = BertForMaskedLM.from_pretrained(path).eval()
tokens = torch.tensor([[2, 5, 3]])
with torch.no_grad():
    states = model.cls.predictions.transform(model.bert(tokens)[0])
    applied = model(tokens).logits - states @ model.cls.predictions.decoder.weight.T
print(__version__, "applies", applied[0, 0, 0].item())
assert abs(applied.mean().item() - float(sys.argv[2])) < 1e-4, "it has changed"
PYTHON
for pair in 4.57.6=1 5.23.0=2; do
  python3 -m venv "$folder/${pair%=*}"
  "$folder/${pair%=*}/bin/pip" install -q torch==2.13.0 "transformers==${pair%=*}"
  "$folder/${pair%=*}/bin/python" "$folder/check.py" "$folder" "${pair#*=}"
done
