"""``python -m cachecheck``."""

import sys

from cachecheck.cli import main

sys.exit(main())
