"""What every script writes of its rows before it draws them: the lines of a CSV."""

import csv
import sys

table = csv.writer(sys.stdout, lineterminator="\n")
table.writerow(columns)
table.writerows(rows)
