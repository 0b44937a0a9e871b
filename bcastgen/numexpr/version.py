"""The version of NumExpr whose names and rules this package has; programs ask for it before they use NumExpr."""

import platform

__all__ = ["version"]

version = __version__ = "2.14.2"
platform_machine = platform.machine()
