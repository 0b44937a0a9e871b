"""Templates that are compiled when the package is built render as jinja renders them, and without it."""

from __future__ import annotations

from types import SimpleNamespace

import jinja2
import pytest

import bcastgen as bg
from bcastgen.core.resources import folder
from bcastgen.emit.templating import render
from bcastgen.emit.templating.build import environment, module_text, python
from bcastgen.emit.templating.run import Compiled, Unusable

ROWS = [SimpleNamespace(name="a", rank=2, on=True), SimpleNamespace(name="b", rank=None, on=False)]


@pytest.fixture(scope="module")
def built():
    """What the module says that building writes."""
    found = {}
    exec(compile(module_text(folder("templates")), "_templates.py", "exec"), found)
    return found


@pytest.fixture
def both(tmp_path):
    """Call ``both(text, ...)`` for what renders the templates `0`, `1`, ...: jinja, and their compiled code."""

    def made(*texts):
        for at, text in enumerate(texts):
            (tmp_path / f"{at}.j2").write_text(text)
        found = {}
        exec(module_text(tmp_path), found)
        return environment(tmp_path).get_template("0.j2").render, Compiled(tmp_path, found["CODE"], {})

    return made


def test_every_template_is_there_and_belongs_to_this_python(built):
    templates = folder("templates")
    assert set(built["CODE"]) == {path.relative_to(templates).as_posix() for path in templates.rglob("*.j2")}
    assert built["PYTHON"] == python()


def test_no_path_of_the_machine_is_in_it(built):
    root = Compiled(folder("templates"), built["CODE"], {}).get_template("kernel.c.j2").root
    assert root.__code__.co_filename == "templates/kernel.c.j2"


def test_code_of_a_template_that_has_changed_is_not_used(built, tmp_path):
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "ties.c.j2").write_text("as it is now\n")
    with pytest.raises(Unusable, match="has changed since"):
        Compiled(tmp_path, built["CODE"], {}).render("parts/ties.c.j2", {})


@pytest.mark.parametrize(
    "text",
    [
        "{% for row in rows %}{{ loop.index0 }}{{ row.name }}{{ ', ' if not loop.last }}{% endfor %}",
        "{% for row in rows if row.on %}{{ 'first' if loop.first }}{% endfor %}",
        "{% macro m(x, y) %}<{{ x }}{{ y ~ 1 }}>{% endmacro %}{{ m(1, y=2) }}{{ m(y=3, x=4) }}",
        "{% set found = namespace(n=0) %}{% for row in rows %}{% set found.n = found.n + 1 %}{% endfor %}{{ found.n }}",
        "{{ rows | map(attribute='name') | join(', ') }} {{ rows | length }} {{ [3, 5] | max }} {{ 'a' | upper }}",
        "{{ rows | selectattr('on') | list | length }}",
        "{{ rows | rejectattr('rank', 'none') | map(attribute='name') | join }}",
        "{{ rows | rejectattr('rank', 'equalto', 2) | map(attribute='name') | join }} {{ [[1], [2]] | sum(start=[]) }}",
        "{{ rows[0].rank is none }} {{ rows[-1].rank is none }} {{ rows[1:] | length }} {{ range(3) | join }}",
    ],
)
def test_what_templates_say_is_what_jinja_has_for_it(text, both):
    expected, ours = both(text)
    assert ours.render("0.j2", {"rows": ROWS}) == expected(rows=ROWS) != ""


def test_macros_of_other_templates_see_what_their_import_says(both):
    texts = (
        "{% import '1.j2' as plain %}{% import '1.j2' as shown with context %}{% set own = 7 %}"
        "{{ plain.twice(2) }} {{ shown.twice(3) }} {{ shown.given() }}",
        "{% macro twice(x) %}{{ 2 * x }}{% endmacro %}{% macro given() %}{{ value }}{% endmacro %}",
    )
    expected, ours = both(*texts)
    assert ours.render("0.j2", {"value": "v"}) == expected(value="v") == "4 6 v"


@pytest.mark.parametrize(
    "text", ["{{ gone }}", "{{ rows.gone }}", "{{ rows | sort }}", "{% macro m(x) %}{% endmacro %}{{ m(1, 2) }}"]
)
def test_what_is_not_known_is_left_to_jinja(text, both):
    _, ours = both(text)
    with pytest.raises((Unusable, AttributeError)):
        ours.render("0.j2", {"rows": ROWS})


def test_jinja_says_where_a_name_is_missing(monkeypatch):
    monkeypatch.setattr(render, "_known", dict)
    for cached in (render._compiled, render._environment):
        cached.cache_clear()
    try:
        with pytest.raises(jinja2.UndefinedError, match="is undefined"):
            render.render_template("shape/body.c.j2")
    finally:
        for cached in (render._compiled, render._environment):
            cached.cache_clear()


@pytest.mark.parametrize(
    "text", ["a * b + c", "where(a < b, exp(a) * sin(b), c ** 2)", "(f32[n, 3] a, f32[n, ?] b) -> a + b"]
)
def test_a_kernel_is_what_jinja_renders(text, built, monkeypatch):
    compiled = Compiled(folder("templates"), built["CODE"], render._known())
    monkeypatch.setattr(render, "_compiled", lambda: compiled)
    monkeypatch.setattr(render, "_environment", lambda: pytest.fail("jinja was asked"))
    ours = bg.from_text(text).source
    monkeypatch.undo()
    monkeypatch.setattr(render, "_compiled", lambda: None)
    assert bg.from_text(text).source == ours
