#!/usr/bin/env bash
# transformers 5.23.0: an ALBERT's spiece.model of byte-pair encoding is read as a unigram model.
#
# sentencepiece writes both kinds into the same form of file, with the kind in the trainer's part. The
# tokenizer of ALBERT takes the pieces and their scores, which in byte-pair encoding are minus the order of
# merges, for log-probabilities: "the" becomes t and he, though "the" is a piece. There is no message.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q torch==2.13.0 transformers==5.23.0 sentencepiece==0.2.3 protobuf==7.36.2

cat > "$folder/check.py" <<'PYTHON'
import itertools
import json
import sys

import sentencepiece
from transformers import AutoTokenizer

folder = sys.argv[1]
PARTS = (
    ("the old cat", "a small dog", "our new teacher", "that quiet child"),
    ("found", "carried", "wanted", "painted"),
    ("a well-known song", "the red ball", "an old book", "a half-open door"),
)
SENTENCES = [" ".join(parts) for parts in itertools.product(*PARTS)]
differ = {}
for kind in ("unigram", "bpe"):
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(SENTENCES),
        model_prefix=f"{folder}/spiece",
        model_type=kind,
        vocab_size=80,
        hard_vocab_limit=False,
        pad_id=0,
        unk_id=1,
        bos_id=-1,
        eos_id=-1,
        control_symbols=["[CLS]", "[SEP]", "[MASK]"],
        minloglevel=2,
    )
    with open(f"{folder}/config.json", "w") as file:
        json.dump({"model_type": "albert"}, file)
    processor = sentencepiece.SentencePieceProcessor(model_file=f"{folder}/spiece.model")
    tokenizer = AutoTokenizer.from_pretrained(folder)
    texts = [text for text in SENTENCES if "-" not in text]
    differ[kind] = sum(tokenizer.tokenize(t) != processor.encode(t, out_type=str) for t in texts)
    print(kind, f"{differ[kind]} of {len(texts)} sentences are split otherwise than by sentencepiece")
print(tokenizer.tokenize(SENTENCES[1]), processor.encode(SENTENCES[1], out_type=str))
assert differ["unigram"] == 0 and differ["bpe"] > len(texts) / 2, "changed"
PYTHON
"$folder/venv/bin/python" -W ignore "$folder/check.py" "$folder" 2>/dev/null
