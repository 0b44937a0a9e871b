"""``python -m bcastgen``: the command line.

In: arguments.  Out: an exit code.

    python -m bcastgen demo
"""

from __future__ import annotations

import sys

from .cli.main import main

if __name__ == "__main__":
    sys.exit(main())
