"""On the path in NumExpr's place: ``import numexpr`` gives bcastgen's, also in processes that a test starts."""

import bcastgen.numexpr

bcastgen.numexpr.install()
