"""Public functions from a shell: ``python -m explorer predict "The [MASK] sat."``."""

import sys

from explorer.library.command import main

if __name__ == "__main__":
    sys.exit(main())
