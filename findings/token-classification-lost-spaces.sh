#!/usr/bin/env bash
# transformers 5.23.0: entities of an ALBERT that are joined by words lose the blanks between them.
#
# With aggregation_strategy="first" (also "average" and "max"), the token-classification pipeline joins
# an entity's words. A BERT's entity over "new york" is printed "new york", an ALBERT's "newyork".
# With "simple" both have the blank. start and end are right in all cases, so take the text between them.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q torch==2.13.0 transformers==5.23.0 sentencepiece==0.2.3 protobuf==7.36.2

cat > "$folder/check.py" <<'PYTHON'
import pathlib
import random
import sys

import sentencepiece
import torch
import transformers as t

folder = pathlib.Path(sys.argv[1])
random.seed(0)
words = "new york city is a big town and she lives there".split()
(folder / "corpus").write_text("\n".join(" ".join(random.choices(words, k=8)) for _ in range(2000)))
sentencepiece.SentencePieceTrainer.train(
    input=str(folder / "corpus"),
    model_prefix=str(folder / "spiece"),
    vocab_size=60,
    hard_vocab_limit=False,
    pad_id=0,
    unk_id=1,
    bos_id=-1,
    eos_id=-1,
    pad_piece="<pad>",
    unk_piece="<unk>",
    user_defined_symbols="[CLS],[SEP],[MASK]",
    minloglevel=2,
)
albert = t.AlbertTokenizer.from_pretrained(folder)
(folder / "bert").mkdir()
pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *words]
(folder / "bert/vocab.txt").write_text("\n".join(pieces))
bert = t.BertTokenizer.from_pretrained(folder / "bert")
SIZE = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 64}
LABELS = {"id2label": {0: "O", 1: "I-PLACE"}, "label2id": {"O": 0, "I-PLACE": 1}}
seen = {}
for tokenizer, config, network in (
    (bert, t.BertConfig(vocab_size=len(bert), **SIZE, **LABELS), t.BertForTokenClassification),
    (
        albert,
        t.AlbertConfig(vocab_size=len(albert), embedding_size=16, **SIZE, **LABELS),
        t.AlbertForTokenClassification,
    ),
):
    model = network(config).eval()
    with torch.no_grad():  # every token is a place
        model.classifier.weight.zero_()
        model.classifier.bias.copy_(torch.tensor([0.0, 1.0]))
    for strategy in ("simple", "first"):
        find = t.pipeline("ner", model=model, tokenizer=tokenizer, aggregation_strategy=strategy)
        (entity,) = find("new york")
        assert (entity["start"], entity["end"]) == (0, 8)
        seen[config.model_type, strategy] = entity["word"]
print(seen)
assert seen == {
    ("bert", "simple"): "new york",
    ("bert", "first"): "new york",
    ("albert", "simple"): "new york",
    ("albert", "first"): "newyork",
}, "changed"
PYTHON
"$folder/venv/bin/python" "$folder/check.py" "$folder" 2>/dev/null
