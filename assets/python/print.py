"""What every script writes of its rows before it draws them: the lines of a CSV."""

import csv
import sys

table = csv.writer(sys.stdout, lineterminator="\n")
table.writerow(columns)
for row in rows:  # true and false as in the page's CSV
    table.writerow([str(cell).lower() if isinstance(cell, bool) else cell for cell in row])
