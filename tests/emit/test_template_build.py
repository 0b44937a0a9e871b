"""Templates that are compiled when the package is built render as those that are compiled at a first call."""

from __future__ import annotations

import jinja2
import pytest

from bcastgen.emit.template_build import environment, module_text
from bcastgen.resources import folder


@pytest.fixture(scope="module")
def built():
    """What the module says that building writes."""
    found = {}
    exec(compile(module_text(folder("templates")), "_templates.py", "exec"), found)
    return found


def test_every_template_is_there_and_belongs_to_this_jinja(built):
    templates = folder("templates")
    assert set(built["CODE"]) == {path.relative_to(templates).as_posix() for path in templates.rglob("*.j2")}
    assert built["VERSION"] == jinja2.__version__


def test_no_path_of_the_machine_is_in_it(built):
    code = environment(folder("templates"), built["CODE"]).get_template("kernel.c.j2").root_render_func.__code__
    assert code.co_filename == "templates/kernel.c.j2"


def test_code_of_a_template_that_has_changed_is_not_used(built, tmp_path):
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "ties.c.j2").write_text("as it is now\n")
    assert environment(tmp_path, built["CODE"]).get_template("parts/ties.c.j2").render() == "as it is now\n"


def test_code_that_is_there_is_used(built, tmp_path):
    template = folder("templates") / "parts" / "ties.c.j2"
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "ties.c.j2").write_bytes(template.read_bytes())
    found = environment(tmp_path, built["CODE"]).get_template("parts/ties.c.j2")
    assert found.root_render_func.__code__.co_filename == "templates/parts/ties.c.j2"
