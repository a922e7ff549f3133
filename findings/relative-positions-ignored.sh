#!/usr/bin/env bash
# transformers 5.23.0: a BERT with relative positions is built as one with absolute positions.
#
# Checkpoints with position_embedding_type "relative_key_query" have a table of distances in each
# layer. 5.23.0 keeps the value in the config, builds no such table and adds absolute positions
# instead. Two networks with the same weights and either value give the same hidden states.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q torch==2.13.0 transformers==5.23.0

cat > "$folder/check.py" <<'PYTHON'
import torch
from transformers import BertConfig, BertModel

states = {}
for positions in ("absolute", "relative_key_query"):
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=100,
        hidden_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=128,
        position_embedding_type=positions,
    )
    model = BertModel(config).eval()
    tables = [name for name, _ in model.named_parameters() if "distance" in name]
    with torch.no_grad():
        states[positions] = model(torch.arange(5, 21)[None]).last_hidden_state
    print(positions, "config says", config.position_embedding_type, "tables", tables)
    assert config.position_embedding_type == positions and not tables, "it has changed"
assert torch.equal(*states.values()), "it has changed"
PYTHON
"$folder/venv/bin/python" "$folder/check.py"
