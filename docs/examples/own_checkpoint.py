from transformers import AutoModelForMaskedLM, AutoTokenizer

import explorer

model = AutoModelForMaskedLM.from_pretrained("./my-bert")
tokenizer = AutoTokenizer.from_pretrained("./my-bert")
mine = explorer.load({"bert": (model, tokenizer)})
heads = explorer.attention("The cat sat on the mat.", mine).heads("bert")
heads.shape  # layers, heads, queries, keys
from_folder = explorer.load({"bert": "./my-bert"})
