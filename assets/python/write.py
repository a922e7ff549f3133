"""What every script ends with: its figure as a page, for a machine may have no screen."""

from pathlib import Path

page = Path(__file__).with_suffix(".html").name  # in the folder where it is run
figure.write_html(page)
print(f"The figure is in {page}.", file=sys.stderr)
