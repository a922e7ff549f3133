"""What one table V x H of words stores, and what a narrow one with its matrix does."""

TABLES = [
    ["bert-base-uncased", 30522, 768, 768],
    ["albert-base-v2", 30000, 768, 128],
]  # vocabulary, width of the layers, width of the table

columns = ["model", "vocabulary", "hidden", "embedding", "one_table", "stored"]
rows = []
for name, v, h, e in TABLES:
    is_one = e == h and name != "chosen"  # a real model has no second matrix then
    rows.append([name, v, h, e, v * h, v * h if is_one else v * e + e * h])
FIGURE = ("bars", "", "model", ["one_table", "stored"])
