#!/usr/bin/env bash
# transformers 5.23.0: fill-mask scores the end of a word where a target of ALBERT is also an inner piece.
#
# An ALBERT's vocabulary writes the word "man" as "▁man" and the end of "salesman" as "man". Of the
# published one, both forms of man, woman, he and she are pieces. The pipeline looks a target up as it is
# typed, so targets=["man", "king"] compares the end of a word with a whole word where only one of them
# is also an inner piece, and it prints both alike. A warning appears only for the target that is right:
# it says that "king" does not exist and is replaced by "▁king". targets=["▁man"] gives the word.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q torch==2.13.0 transformers==5.23.0 sentencepiece==0.2.3 protobuf==7.36.2

cat > "$folder/check.py" <<'PYTHON'
import random
import sys

import sentencepiece
import torch
from transformers import AlbertConfig, AlbertForMaskedLM, AlbertTokenizer, pipeline

folder = sys.argv[1]
random.seed(0)
words = "the man king said salesman postman fireman came to a town of and".split()
with open(f"{folder}/corpus", "w") as corpus:
    corpus.writelines(" ".join(random.choices(words, k=9)) + "\n" for _ in range(2000))
sentencepiece.SentencePieceTrainer.train(
    input=f"{folder}/corpus",
    model_prefix=f"{folder}/spiece",
    vocab_size=60,
    hard_vocab_limit=False,
    pad_id=0,
    unk_id=1,
    bos_id=-1,
    eos_id=-1,
    pad_piece="<pad>",
    unk_piece="<unk>",
    user_defined_symbols="[CLS],[SEP],[MASK],man,▁man",
    minloglevel=2,
)
tokenizer = AlbertTokenizer.from_pretrained(folder)
pieces = tokenizer.get_vocab()
print("pieces:", *(piece for piece in ("man", "▁man", "king", "▁king") if piece in pieces))
torch.manual_seed(0)
config = AlbertConfig(
    vocab_size=len(tokenizer), embedding_size=16, hidden_size=32, num_hidden_layers=1,
    num_attention_heads=2, intermediate_size=64,
)  # fmt: skip
fill = pipeline("fill-mask", model=AlbertForMaskedLM(config).eval(), tokenizer=tokenizer)
answers = fill("the [MASK] came", targets=["man", "king"])
scored = {answer["token_str"]: tokenizer.convert_ids_to_tokens(answer["token"]) for answer in answers}
print("printed and scored:", scored)
assert scored == {"man": "man", "king": "▁king"}, "changed"
PYTHON
"$folder/venv/bin/python" "$folder/check.py" "$folder" 2>/dev/null
