#!/usr/bin/env bash
# transformers 5.23.0 reads an ALBERT folder that has vocab.txt as a tokenizer of five pieces.
#
# Chinese and Korean ALBERTs are published with a WordPiece vocab.txt, as BERT is. AutoTokenizer
# chooses AlbertTokenizer from the config, which looks for spiece.model, finds none, and returns
# its five special tokens without a warning or an error. Every word of every text becomes <unk>
# (id 1). The same folder with model_type "bert" gives all nine pieces.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q transformers==5.23.0

cat > "$folder/check.py" <<'PYTHON'
import json
import pathlib
import sys

from transformers import AutoTokenizer

folder = pathlib.Path(sys.argv[1]) / "model"
folder.mkdir()
pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "cat", "sat", "##s"]
(folder / "vocab.txt").write_text("\n".join(pieces) + "\n")
seen = {}
for kind in ("albert", "bert"):
    config = {"model_type": kind, "vocab_size": len(pieces)}
    (folder / "config.json").write_text(json.dumps(config))
    tokenizer = AutoTokenizer.from_pretrained(folder)
    seen[kind] = (len(tokenizer), tokenizer("the cat sat").input_ids)
    print(kind, type(tokenizer).__name__, *seen[kind])
assert seen == {"albert": (5, [2, 1, 1, 1, 3]), "bert": (9, [2, 5, 6, 7, 3])}, "it has changed"
PYTHON
"$folder/venv/bin/python" "$folder/check.py" "$folder"
