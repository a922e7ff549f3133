#!/usr/bin/env bash
# transformers 5.23.0: BertTokenizer(vocab_file=...) ignores its argument without a message.
#
# Up to version 4 this was the way to read a vocab.txt. In 5.23.0 the parameter is called vocab,
# and the old keyword is accepted and dropped: the tokenizer has its five special tokens, and
# every word becomes [UNK]. The same path without a keyword is read.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q transformers==5.23.0

cat > "$folder/check.py" <<'PYTHON'
import pathlib
import sys

from transformers import BertTokenizer

path = pathlib.Path(sys.argv[1]) / "vocab.txt"
path.write_text("\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "cat"]) + "\n")
by_keyword = BertTokenizer(vocab_file=str(path))
by_position = BertTokenizer(str(path))
print("vocab_file=", len(by_keyword), by_keyword.tokenize("the cat"))
print("position  ", len(by_position), by_position.tokenize("the cat"))
assert by_keyword.tokenize("the cat") == ["[UNK]", "[UNK]"], "it has changed"
assert (len(by_keyword), len(by_position)) == (5, 7), "it has changed"
PYTHON
"$folder/venv/bin/python" "$folder/check.py" "$folder"
