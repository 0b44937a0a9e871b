"""In NumExpr's place: imports, modules that have it already, pandas and PyTables; and back again."""

import subprocess
import sys
import textwrap
from types import ModuleType

import numpy as np
import pytest

import bcastgen.numexpr as ne


def run(script):
    """Run a script in a process of its own; return what it prints."""
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_imports_find_ours_until_it_is_undone():
    before = {name: module for name, module in sys.modules.items() if name.partition(".")[0] == "numexpr"}
    with ne.install():
        import numexpr
        from numexpr.expressions import ConstantNode

        assert numexpr is ne and ConstantNode is ne.expressions.ConstantNode
        assert numexpr.necompiler is ne.necompiler and sys.modules["numexpr.utils"] is ne.utils
        ne.install()
    after = {name: module for name, module in sys.modules.items() if name.partition(".")[0] == "numexpr"}
    assert after == before
    ne.uninstall()


def test_modules_that_have_numexpr_get_ours(monkeypatch):
    theirs = pytest.importorskip("numexpr", reason="numexpr is not installed (pip install -e .[suites])")
    user = ModuleType("some_user")
    user.ne, user.evaluate, user.np = theirs, theirs.evaluate, np
    monkeypatch.setitem(sys.modules, "some_user", user)
    with ne.install():
        assert user.ne is ne and user.evaluate is ne.evaluate and user.np is np
    assert user.ne is theirs and user.evaluate is theirs.evaluate


PANDAS = """
    df = pd.DataFrame({"a": np.arange(20_000), "b": np.arange(20_000.0)[::-1]})
    kept = len(ne.necompiler._texts)
    assert df.query("a > b and a % 2 == 0", engine="numexpr").shape == (5000, 2)
    assert (df.eval("a * 2 + b", engine="numexpr") == df.a * 2 + df.b).all()
    assert (pd.eval("df.a + df.b", engine="numexpr") == 19_999).all()
    df.eval("c = sin(a) + b", inplace=True)
    assert np.allclose(df.c, np.sin(df.a) + df.b)
    assert len(ne.necompiler._texts) >= kept + 4, "pandas has not asked this module"
    print("passed")
"""


@pytest.mark.parametrize("first", ["bcastgen", "pandas", "pandas without numexpr"])
def test_pandas_computes_with_it(first):
    pytest.importorskip("pandas", reason="pandas is not installed (pip install -e .[suites])")
    block = "import sys; sys.modules['numexpr'] = None" if "without" in first else ""
    unblock = "del sys.modules['numexpr']" if block else ""
    lines = [block, "import pandas as pd, numpy as np", unblock]
    ours = "import bcastgen.numexpr as ne; ne.install()"
    lines = [ours, *lines] if first == "bcastgen" else [*lines, ours]
    assert run("\n".join(lines) + textwrap.dedent(PANDAS)) == ["passed"]


def test_pandas_is_as_before_when_it_is_undone():
    pytest.importorskip("pandas", reason="pandas is not installed (pip install -e .[suites])")
    script = """
    import sys; sys.modules["numexpr"] = None
    import pandas, numpy as np
    del sys.modules["numexpr"]
    import bcastgen.numexpr as ne
    from pandas.core.computation import check, expressions
    before = dict(vars(check)), dict(vars(expressions))
    with ne.install():
        assert check.NUMEXPR_INSTALLED and expressions.USE_NUMEXPR
    assert (dict(vars(check)), dict(vars(expressions))) == before
    assert "numexpr" not in sys.modules
    print("passed")
    """
    assert run(script) == ["passed"]


def test_pytables_selects_with_it(tmp_path):
    pytest.importorskip("tables", reason="tables is not installed (pip install -e .[suites])")
    script = f"""
    import bcastgen.numexpr as ne; ne.install()
    import tables, numpy as np
    assert tables.table.ne is ne
    columns = [np.arange(50, dtype="i4"), np.arange(50) / 4, np.array([b"x", b"yz"] * 25)]
    rows = np.rec.fromarrays(columns, names="i,d,s")
    with tables.open_file({str(tmp_path / "t.h5")!r}, "w") as file:
        table = file.create_table("/", "t", obj=rows)
        found = [row["i"] for row in table.where("(i > 10) & (d * 2 < 8) & (s == b'x')")]
        assert found == [12, 14], found
        table.cols.i.create_index()
        assert sorted(row["i"] for row in table.where("(i > 46) & (d > 0)")) == [47, 48, 49]
        a = file.create_array("/", "a", np.arange(100.0))
        made = tables.Expr("a * 2 + 1").eval()
        assert np.array_equal(made, np.arange(100.0) * 2 + 1)
    print("passed")
    """
    assert run(script) == ["passed"]


def test_dask_computes_texts_in_its_threads():
    script = """
    import bcastgen.numexpr as ne; ne.install()
    import dask, numpy as np
    a = np.arange(1000.0)
    parts = [dask.delayed(ne.evaluate)("2 * a + 1", {"a": a[at : at + 100]}) for at in range(0, 1000, 100)]
    assert np.array_equal(np.concatenate(dask.compute(*parts)), 2 * a + 1)
    print("passed")
    """
    pytest.importorskip("dask", reason="dask is not installed (pip install -e .[suites])")
    assert run(script) == ["passed"]


def test_the_tests_of_numexpr_are_found_and_have_ours():
    pytest.importorskip("numexpr", reason="numexpr is not installed (pip install -e .[suites])")
    script = """
    import sys, unittest
    import bcastgen.numexpr as ne
    with ne.install():
        module = ne.substitute._tests()
        assert module.evaluate is ne.evaluate and module.numexpr is ne
        module.suite = lambda: unittest.defaultTestLoader.loadTestsFromTestCase(module.test_strings)
        ne.substitute._tests = lambda: module
    assert ne.test().wasSuccessful()
    print("passed")
    """
    assert run(script) == ["passed"]


def test_tests_of_a_numexpr_that_is_not_installed(monkeypatch):
    monkeypatch.setattr(sys, "path", [])
    with pytest.raises(ImportError, match="pip install numexpr"):
        ne.test()
