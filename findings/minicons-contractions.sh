#!/usr/bin/env bash
# minicons 0.3.39: within_word_l2r hides the rest of "unlikely" when it scores "un", and not that of "didn't".
#
# PLL_metric="within_word_l2r" (Kauf and Ivanova 2023) masks the later pieces of a word too, so that none is
# predicted from the rest of its own word. What is a word comes from the tokenizer's word_ids, and BERT's
# tokenizer splits at the apostrophe: didn, ' and t are three words, each read while the others are
# visible. Their scores are those of the plain metric.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q torch==2.13.0 transformers==4.57.6 minicons==0.3.39

cat > "$folder/check.py" <<'PYTHON'
import sys

import torch
from minicons import scorer
from transformers import BertConfig, BertForMaskedLM, BertTokenizerFast

PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "un", "##like", "##ly", "cat", "didn", "'", "t"]
folder = sys.argv[1]
with open(f"{folder}/vocab.txt", "w") as file:
    file.write("\n".join(PIECES))
tokenizer = BertTokenizerFast(f"{folder}/vocab.txt")
torch.manual_seed(0)
config = BertConfig(
    vocab_size=len(PIECES),
    hidden_size=32,
    num_hidden_layers=2,
    num_attention_heads=2,
    intermediate_size=64,
    initializer_range=0.5,
)
model = BertForMaskedLM(config).eval()
model.save_pretrained(f"{folder}/model")
tokenizer.save_pretrained(f"{folder}/model")
text = "the unlikely cat didn't"
ids = tokenizer(text, return_tensors="pt").input_ids


def masked(i, hidden):
    """Return the log-probability of token i with it and the hidden ones masked."""
    changed = ids.clone()
    changed[0, [i, *hidden]] = tokenizer.mask_token_id
    with torch.no_grad():
        return model(changed).logits[0, i].log_softmax(-1)[ids[0, i]].item()


by_minicons = scorer.MaskedLMScorer(f"{folder}/model", "cpu")
(scored,) = by_minicons.token_score([text], PLL_metric="within_word_l2r")
places = {piece: i for i, piece in enumerate(tokenizer.convert_ids_to_tokens(ids[0]))}
for piece, rest in (("un", ("##like", "##ly")), ("didn", ("'", "t"))):
    visible = masked(places[piece], [])
    hidden = masked(places[piece], [places[other] for other in rest])
    given = dict(scored)[piece]
    print(f"{piece}: minicons {given:.4f}, with the rest of its word visible {visible:.4f}, hidden {hidden:.4f}")
    assert abs(visible - hidden) > 0.01
    assert abs(given - (hidden if piece == "un" else visible)) < 1e-4, "changed"
PYTHON
"$folder/venv/bin/python" -W ignore "$folder/check.py" "$folder" 2>/dev/null
