#!/usr/bin/env bash
# transformers 5.23.0 saves a tokenizer class that 4.57.6 does not have: its AutoTokenizer refuses the folder.
#
# A tokenizer that was made from a tokenizers.Tokenizer is saved with "tokenizer_class":
# "TokenizersBackend". 4.57.6 then says "Tokenizer class TokenizersBackend does not exist or is not
# currently imported", though tokenizer.json holds all of it: PreTrainedTokenizerFast of 4.57.6 reads
# the same folder, and its ids are the same. BertTokenizer is saved as "BertTokenizer" and is read.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
for version in 5.23.0 4.57.6; do
  python3 -m venv "$folder/$version"
  "$folder/$version/bin/pip" install -q "transformers==$version"
done

cat > "$folder/save.py" <<'PYTHON'
import json
import sys

from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import AutoTokenizer, BertTokenizer, PreTrainedTokenizerFast

folder = sys.argv[1]
words = {word: i for i, word in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "cat"])}
inner = Tokenizer(models.WordPiece(words, unk_token="[UNK]"))
inner.pre_tokenizer = pre_tokenizers.Whitespace()
own = PreTrainedTokenizerFast(tokenizer_object=inner, unk_token="[UNK]", pad_token="[PAD]")
for name, tokenizer in (("own", own), ("bert", BertTokenizer(vocab=words))):
    tokenizer.save_pretrained(f"{folder}/{name}")
    with open(f"{folder}/{name}/tokenizer_config.json", encoding="utf-8") as file:
        print("5.23.0 saves", name, "as", json.load(file)["tokenizer_class"])
print("5.23.0 reads it:", AutoTokenizer.from_pretrained(f"{folder}/own")("the cat")["input_ids"])
PYTHON
cat > "$folder/read.py" <<'PYTHON'
import sys

from transformers import AutoTokenizer, PreTrainedTokenizerFast

folder = sys.argv[1]
try:
    said = type(AutoTokenizer.from_pretrained(f"{folder}/own")).__name__
except ValueError as error:
    said = str(error)
print("4.57.6, AutoTokenizer:", said)
ids = PreTrainedTokenizerFast.from_pretrained(f"{folder}/own")("the cat")["input_ids"]
print("4.57.6, PreTrainedTokenizerFast:", ids)
bert = AutoTokenizer.from_pretrained(f"{folder}/bert")("the cat")["input_ids"]
print("4.57.6, AutoTokenizer of the BERT:", bert)
assert "TokenizersBackend does not exist" in said, "changed"
assert ids == [5, 6] and bert == [2, 5, 6, 3], "changed"
PYTHON
"$folder/5.23.0/bin/python" -W ignore "$folder/save.py" "$folder" 2>/dev/null
"$folder/4.57.6/bin/python" -W ignore "$folder/read.py" "$folder" 2>/dev/null
