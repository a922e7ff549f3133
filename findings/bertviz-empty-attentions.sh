#!/usr/bin/env bash
# transformers 5.23.0 returns an empty tuple of attentions by default, at which bertviz 1.4.1 fails.
#
# BertViz's documented call, a model loaded without attn_implementation and output_attentions=True,
# runs sdpa. 5.23.0 then warns and returns attentions of length 0.
# head_view ends with "stack expects a non-empty TensorList", model_view with
# "tuple index out of range". With attn_implementation="eager", both draw.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q torch==2.13.0 transformers==5.23.0 bertviz==1.4.1

cat > "$folder/check.py" <<'PYTHON'
import torch
from bertviz import head_view, model_view
from transformers import AlbertConfig, AlbertModel, BertConfig, BertModel, DistilBertConfig, DistilBertModel

SIZE = {"vocab_size": 100, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2}
KINDS = (
    (BertModel, BertConfig(**SIZE, intermediate_size=64)),
    (AlbertModel, AlbertConfig(**SIZE, intermediate_size=64, embedding_size=16)),
    (DistilBertModel, DistilBertConfig(vocab_size=100, dim=32, n_layers=2, n_heads=2, hidden_dim=64)),
)


def drawn(view, attentions):
    try:
        return type(view(attentions, list("abcdef"), html_action="return")).__name__
    except (RuntimeError, IndexError) as error:
        return str(error)


for network, config in KINDS:
    for chosen in (None, "eager"):
        model = network._from_config(config, attn_implementation=chosen).eval()
        attentions = model(torch.randint(5, 100, (1, 6)), output_attentions=True).attentions
        seen = [len(attentions), drawn(head_view, attentions), drawn(model_view, attentions)]
        print(network.__name__, chosen, *seen, sep=" | ")
        wanted = [2, "HTML", "HTML"]
        if chosen is None:
            wanted = [0, "stack expects a non-empty TensorList", "tuple index out of range"]
        assert seen == wanted, "changed"
PYTHON
"$folder/venv/bin/python" "$folder/check.py" 2>/dev/null
