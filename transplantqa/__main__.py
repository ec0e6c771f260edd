"""``python -m transplantqa``: the same commands as the console script."""

import sys

from transplantqa.cli import main

sys.exit(main())
