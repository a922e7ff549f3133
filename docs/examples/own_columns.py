import explorer

tuned = explorer.load({"before": "mini-bert", "after": "./my-bert"})
explorer.predict("The cat sat on the [MASK].", tuned).figure()
explorer.depth("The cat sat on the [MASK].", tuned, model="after")
