"""csrc/runtime: memory for a plan's tables is counted as the plan takes it.

In: the text of the run time. Nests of up to 16 arrays have room to spare, so that a run shows too little memory only
where tables of a nest of many arrays reach behind those of tiles, whose last bytes are used.
"""

from __future__ import annotations

import re

from bcastgen.core.resources import csrc_file


def text(name: str) -> str:
    return csrc_file(name).read_text(encoding="utf-8")


def test_a_caller_s_tables_are_counted_as_they_are_taken() -> None:
    taken = re.findall(r"c->\w+ = source_take_memory\(&memory, \(size_t\)sources \* (.*)\);", text("run_plan.inc"))
    counted = re.search(r"enum \{ CALLER_BYTES = (.*), CALLER_TABLES = (\d+) \}", text("run_source.inc"))
    assert counted is not None
    assert counted[1] == " + ".join(taken)
    assert int(counted[2]) == len(taken) == 4
