import explorer

sentences = ["The cat sat on the [MASK].", "She poured the [MASK] into a cup."]
table = explorer.texts(sentences, "mini").to_frame()
table.to_csv("table.csv", index=False)
explorer.depth(sentences[0], "mini").figure().write_html("depth.html")
