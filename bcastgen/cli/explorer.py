"""``bcastgen explorer``: a local page with a box for an expression, which shows the expression's page.

In: a port.  Out: a server of the standard library, on this machine only, until Ctrl-C.

    bcastgen explorer          prints http://127.0.0.1:PORT/?token=...

Whoever does not know the token, which is new in each run, gets nothing: other pages in the browser cannot guess it, and
other users of the machine do not see it. Expressions are read as everywhere else: they are never run by Python.
"""

from __future__ import annotations

import argparse
import hmac
import secrets
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlencode, urlsplit

from ..api.functions import from_text
from ..core.errors import BcastgenError
from ..emit.templating.render import render_template

__all__ = ["add_arguments", "run", "server"]

_FIRST = "(f32[?, 3] x, f32[3] mean) -> (x - mean)*2"
_LONGEST = 4000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments to its parser."""
    parser.add_argument("--port", type=int, default=0, help="of 127.0.0.1; 0 takes a free one (default: %(default)s)")


def run(options: argparse.Namespace) -> int:
    """Serve until the user interrupts.

    Raises
    ------
    BcastgenError
        If the port is none, or is taken.
    """
    if not 0 <= options.port < 1 << 16:
        raise BcastgenError(f"--port {options.port} is no port; give one below 65536, or 0 for a free one")
    try:
        made, token = server(options.port), secrets.token_urlsafe()
    except OSError as error:
        raise BcastgenError(f"--port {options.port}: {error.strerror}; 0 takes a free one") from error
    made.token = token
    print(f"http://127.0.0.1:{made.server_port}/?token={token}  (Ctrl-C ends it)", flush=True)
    try:
        made.serve_forever()
    except KeyboardInterrupt:
        pass
    finally:
        made.server_close()
    return 0


class Server(ThreadingHTTPServer):
    """A server and the token that its visitors have to know."""

    daemon_threads = True
    token = ""


def server(port: int = 0) -> Server:
    """Return a server on the loopback interface; it answers nobody until it has a token."""
    return Server(("127.0.0.1", port), Visit)


class Visit(BaseHTTPRequestHandler):
    """Answers a request: `/` is the box with a frame below it, `/page` what the frame shows."""

    server: Server

    def do_GET(self) -> None:
        """Answer with a page, or say why there is none."""
        address = urlsplit(self.path)
        asked = {name: values[-1] for name, values in parse_qs(address.query).items()}
        token = self.server.token
        # The host is compared, too: another site's name may be made to point at this machine.
        known = self.headers.get("Host", "") == f"127.0.0.1:{self.server.server_port}"
        if not (known and token and hmac.compare_digest(asked.get("token", "").encode(), token.encode())):
            self._answer(403, "<p>The address needs the token that bcastgen explorer printed.</p>")
        elif address.path == "/page":
            self._answer(200, _page(asked.get("expression", _FIRST)))
        elif address.path == "/":
            given = asked.get("expression", _FIRST)
            frame = "/page?" + urlencode({"token": token, "expression": given})
            view = {"token": token, "expression": given, "frame": frame}
            self._answer(200, render_template("page/explorer.html.j2", view=view, html=escape))
        else:
            self._answer(404, "<p>There is no such page.</p>")

    def _answer(self, status: int, text: str) -> None:
        data = text.encode()
        self.send_response(status)
        for name, value in (
            ("Content-Type", "text/html; charset=utf-8"),
            ("Content-Length", str(len(data))),
            ("Cache-Control", "no-store"),
            # The token is part of addresses, and no other site is to learn these.
            ("Referrer-Policy", "no-referrer"),
            ("X-Content-Type-Options", "nosniff"),
        ):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: addresses have the token in them."""


def _page(text: str) -> str:
    """Return the page of an expression, or what is wrong with it."""
    try:
        if len(text) > _LONGEST:
            raise BcastgenError(f"the expression has {len(text)} characters; here at most {_LONGEST} are shown")
        return from_text(text).explain(html=True)
    except BcastgenError as error:
        return (
            '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="color-scheme" content="light dark">'
            f'<title>Refused</title><pre role="alert" style="white-space: pre-wrap">{escape(str(error))}</pre>'
        )
