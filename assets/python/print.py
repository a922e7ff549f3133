"""What every recipe prints of its rows before it draws them."""

print(*columns, sep="\t")
for row in rows:
    print(*row, sep="\t")
