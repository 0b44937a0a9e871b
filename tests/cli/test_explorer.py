"""The explorer shows expressions and refusals to whoever has the token, on this machine only."""

from __future__ import annotations

import http.client
import re
import subprocess
import threading
from html import unescape
from urllib.parse import urlencode

import pytest

from bcastgen.cli import explorer
from bcastgen.cli.explorer import server
from bcastgen.cli.main import main
from browser import needs_chromium

TOKEN = "right-token"


@pytest.fixture(scope="module")
def running():
    made = server()
    made.token = TOKEN
    thread = threading.Thread(target=made.serve_forever, args=(0.05,))
    thread.start()
    yield made
    made.shutdown()
    thread.join()
    made.server_close()


def got(running, path="/", host=None, **query):
    connection = http.client.HTTPConnection("127.0.0.1", running.server_port, timeout=60)
    headers = {} if host is None else {"Host": host}
    connection.request("GET", f"{path}?{urlencode(query)}", headers=headers)
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer, text


def test_it_listens_on_this_machine_only(running):
    assert running.server_address[0] == "127.0.0.1"


@pytest.mark.parametrize("path", ["/", "/page", "/nothing"])
@pytest.mark.parametrize("query", [{}, {"token": ""}, {"token": "wrong"}, {"token": "räight"}], ids=str)
def test_without_the_token_nothing_is_shown(running, path, query):
    answer, text = got(running, path, expression="a + 1", **query)
    assert answer.status == 403 and "a + 1" not in text and TOKEN not in text


def test_a_server_without_a_token_answers_nobody():
    made = server()
    thread = threading.Thread(target=made.handle_request)
    thread.start()
    answer, _ = got(made, token="")
    thread.join()
    made.server_close()
    assert answer.status == 403


def test_another_name_for_this_machine_is_refused(running):
    assert got(running, token=TOKEN, host="evil.example")[0].status == 403


def test_a_port_that_is_taken_is_named(running, capsys):
    assert main(["explorer", "--port", str(running.server_port)]) == 1
    assert f"--port {running.server_port}: Address already in use; 0 takes a free one" in capsys.readouterr().err


def test_the_box_has_the_expression_and_a_frame_that_shows_it(running):
    given = '(f32[?] a) -> where(a > 0, a, "x")<b>'
    answer, text = got(running, token=TOKEN, expression=given)
    assert answer.status == 200 and "<b>" not in text
    assert unescape(re.search(r'name="expression" value="([^"]*)"', text)[1]) == given
    assert answer.headers["Referrer-Policy"] == "no-referrer" and answer.headers["Cache-Control"] == "no-store"
    path = unescape(re.search(r'<iframe [^>]*src="([^"]*)"', text)[1])
    assert path.startswith("/page?") and TOKEN in path


def test_a_page_and_a_refusal(running):
    _, text = got(running, "/page", token=TOKEN, expression="(f32[?, 3] a, f32[3] b) -> a * b")
    assert "Operands in the domain" in text and "tensor&lt;?x3xf32&gt;" in text
    answer, text = got(running, "/page", token=TOKEN, expression="(f32[2] a, f32[3] b) -> a * b")
    assert answer.status == 200 and 'role="alert"' in text and "operand &#x27;b&#x27; dim 0 has extent 3" in text
    _, text = got(running, "/page", token=TOKEN, expression="__import__('os') + <script>")
    assert "<script>" not in text and 'role="alert"' in text
    _, text = got(running, "/page", token=TOKEN, expression="a+" * 3000 + "a")
    assert "at most 4000" in text


def test_other_addresses_are_not_found(running):
    assert got(running, "/../etc/passwd", token=TOKEN)[0].status == 404


TYPES = """<p id="told"></p><script>
addEventListener("load", () => setTimeout(() => {
  const before = history.length, view = () => document.getElementById("shown").contentWindow;
  view().scrollTo({top: 300, behavior: "instant"});
  box.value = "(f32[?, 3] x) -> x*7";
  box.dispatchEvent(new Event("input"));
  setTimeout(() => {
    const asked = new URL(location.href).searchParams.get("expression");
    const found = [view().document.body.textContent.includes("t0 = multiply(x, 7)"), view().scrollY, asked];
    document.getElementById("told").textContent = JSON.stringify([...found, history.length - before]);
  }, 6000);
}, 1000));
</script></body>"""


@pytest.mark.slow
@needs_chromium
def test_while_an_expression_is_written_the_page_changes_and_the_reader_stays(running, monkeypatch):
    usual = explorer.render_template
    monkeypatch.setattr(
        explorer, "render_template", lambda *args, **named: usual(*args, **named).replace("</body>", TYPES)
    )
    address = f"http://127.0.0.1:{running.server_port}/?{urlencode({'token': TOKEN})}"
    command = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=15000", "--dump-dom"]
    shown = subprocess.run([*command, address], capture_output=True, text=True, timeout=120, check=True).stdout
    assert unescape(re.search(r'id="told">(.*?)</p>', shown)[1]) == '[true,300,"(f32[?, 3] x) -> x*7",0]'
