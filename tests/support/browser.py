"""Pages as people see them: the contrast of two colours, and a page in headless Chromium, as wide as a phone.

In: HTML, and JavaScript.  Out: what the script finds in the page.

    in_chromium(page, "document.title", tmp_path)  ->  {"faults": [], "wider": False, "found": "kernel"}
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from html import unescape
from pathlib import Path
from typing import Any

import pytest

needs_chromium = pytest.mark.skipif(shutil.which("chromium") is None, reason="chromium is not installed")

_FAULTS = """<script>window.faults = []; addEventListener('error', (event) => window.faults.push(event.message));
const told = console.error; console.error = (...words) => { window.faults.push(words.join(' ')); told(...words); };
</script>"""
_PROBE = """<script>
const wide = document.documentElement, found = (() => {{ {script} }})();
parent.postMessage({{faults: window.faults, wider: wide.scrollWidth > wide.clientWidth, found}}, "*");
</script>"""
_FRAME = """<!doctype html><body><iframe style="width: 375px; height: 4000px; border: 0" srcdoc="{}"></iframe><p></p>
<script>
const said = document.querySelector("p");
window.addEventListener("message", (event) => {{ said.textContent = JSON.stringify(event.data); }});
</script>"""


def in_chromium(page: str, script: str, folder: Path) -> dict[str, Any]:
    """Return the faults of a page 375 pixels wide, whether it is wider than that, and what a script returns."""
    text = page.replace("<head>", "<head>" + _FAULTS, 1).replace("</body>", _PROBE.format(script=script) + "</body>")
    file = folder / "frame.html"
    file.write_text(_FRAME.format(text.replace("&", "&amp;").replace('"', "&quot;")), encoding="utf-8")
    command = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=5000", "--dump-dom"]
    shown = subprocess.run([*command, file.as_uri()], capture_output=True, text=True, timeout=120, check=True).stdout
    found: dict[str, Any] = json.loads(unescape(re.search(r"<p>(\{.*\})</p>", shown)[1]))
    return found


def _luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colours: level AA asks for 4.5 of texts, and 3 of lines and shapes."""
    bright, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (bright + 0.05) / (dark + 0.05)
