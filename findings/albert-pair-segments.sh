#!/usr/bin/env bash
# transformers 5.23.0: AlbertTokenizer returns no token_type_ids, so a pair is read as one segment.
#
# An ALBERT is pre-trained with segment 0 for the first sentence and 1 for the second. The tokenizer
# still computes these numbers; its list of model inputs no longer names them. tokenizer(a, b)
# therefore gives two keys, and a network called with **inputs reads the second sentence as segment
# 0, without a message. BertTokenizer returns three keys. return_token_type_ids=True gives them.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q transformers==5.23.0

cat > "$folder/check.py" <<'PYTHON'
from transformers import AlbertTokenizer, BertTokenizer

pieces = ["<pad>", "<unk>", "[CLS]", "[SEP]", "[MASK]", "▁the", "▁cat", "▁sat"]
albert = AlbertTokenizer(vocab=[(piece, -1.0) for piece in pieces])
words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "cat", "sat"]
bert = BertTokenizer(vocab={word: row for row, word in enumerate(words)})
for tokenizer in (bert, albert):
    print(type(tokenizer).__name__, sorted(tokenizer("the cat", "the cat sat")))
asked = albert("the cat", "the cat sat", return_token_type_ids=True)
print("asked for:", asked["token_type_ids"])
assert "token_type_ids" in bert("the cat", "the cat sat"), "it has changed"
assert "token_type_ids" not in albert("the cat", "the cat sat"), "it has changed"
assert asked["token_type_ids"] == [0, 0, 0, 0, 1, 1, 1, 1], "it has changed"
PYTHON
"$folder/venv/bin/python" "$folder/check.py"
