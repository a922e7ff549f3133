#!/usr/bin/env bash
# antiberty 0.1.3 adds none of its classifiers' losses to that of the masked residues.
#
# The network has a masked-LM head and heads for species, chain and graft. Its forward pass takes labels
# for each and returns one loss, written as "a if has_a else 0 + b if has_b else 0 + ...". Python reads
# this as "a if has_a else (0 + b if has_b else (...))". With labels for all heads, the loss is that of
# the first one alone, and its gradient for the other heads is zero: they do not learn.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q torch==2.13.0 transformers==4.57.6 tqdm==4.67.1
"$folder/venv/bin/pip" install -q --no-deps antiberty==0.1.3

cat > "$folder/check.py" <<'PYTHON'
import torch
from antiberty import AntiBERTy
from transformers import BertConfig

torch.manual_seed(0)
config = BertConfig(
    vocab_size=25, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16
)
model = AntiBERTy(config).eval()
ids = torch.randint(5, 25, (4, 9))
species, chain = {"species_label": torch.tensor([0, 1, 2, 3])}, {"chain_label": torch.tensor([0, 1, 0, 1])}


def loss(**labels):
    return model(ids, **labels).loss


alone = [loss(labels=ids), loss(**species), loss(**chain)]
for name, wanted, found in (
    ("all", sum(alone), loss(labels=ids, **species, **chain)),
    ("species and chain", alone[1] + alone[2], loss(**species, **chain)),
):
    print(f"{name}: {found:.4f}; the sum of the heads' own losses: {wanted:.4f}")
    assert abs(found - wanted) > 0.1, "changed"
loss(labels=ids, **species, **chain).backward()
assert torch.equal(loss(labels=ids, **species, **chain), alone[0]), "changed"
for name in ("species", "chain", "graft"):
    slope = getattr(model.cls, name).weight.grad
    print(f"gradient of the head for {name}: {slope}")
    assert slope is None or not slope.any(), "changed"
PYTHON
"$folder/venv/bin/python" "$folder/check.py" 2>/dev/null
