#!/usr/bin/env bash
# transformers 5.23.0 splits a word at a hyphen in another way than its own spiece.model does.
#
# ALBERT's published vocabulary has the signs ( ) " - . as user-defined symbols. When a folder has
# only spiece.model, AlbertTokenizer makes added tokens of them and reads what follows as the
# beginning of a new word: "half-open" ends in "▁o...". sentencepiece, and so the pre-training,
# goes on within the word: "o...". The pieces of the same text have other ids, without a message.
# The vocabulary here is trained on a few sentences; the published one behaves alike.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q transformers==5.23.0 sentencepiece==0.2.3 protobuf==7.36.2

cat > "$folder/check.py" <<'PYTHON'
import itertools
import json
import pathlib
import sys

import sentencepiece
from transformers import AutoTokenizer

folder = pathlib.Path(sys.argv[1]) / "model"
folder.mkdir()
sentences = [
    f"{who} {did} {what}."
    for who, did, what in itertools.product(
        ("the old cat", "a small dog", "our new teacher", "that quiet child"),
        ("found", "carried", "wanted", "painted"),
        ("a well-known song", "the red ball", "an old book (again)", "a half-open door"),
    )
]
sentencepiece.SentencePieceTrainer.train(
    sentence_iterator=iter(sentences),
    model_prefix=str(folder / "spiece"),
    vocab_size=48,
    pad_id=0,
    unk_id=1,
    bos_id=-1,
    eos_id=-1,
    control_symbols=["[CLS]", "[SEP]", "[MASK]"],
    user_defined_symbols=["(", ")", '"', "-", "."],
    minloglevel=2,
)
(folder / "config.json").write_text(json.dumps({"model_type": "albert"}))
(folder / "spiece.vocab").unlink()
processor = sentencepiece.SentencePieceProcessor(model_file=str(folder / "spiece.model"))
tokenizer = AutoTokenizer.from_pretrained(folder)
text = "a half-open door"
ours, theirs = processor.encode(text, out_type=str), tokenizer.tokenize(text)
print("sentencepiece", ours)
print("transformers ", theirs)
after = [pieces[pieces.index("-") + 1] for pieces in (ours, theirs)]
assert not after[0].startswith("▁") and after[1].startswith("▁"), "it has changed"
PYTHON
"$folder/venv/bin/python" "$folder/check.py" "$folder"
