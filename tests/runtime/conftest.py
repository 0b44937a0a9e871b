"""Hand-written kernels that keep to csrc/abi/bcg_abi.h, compiled on demand, and `KernelBase` subclasses made of them.

In: the C statement for one element, `OUT(0, double) = IN(0, double) + IN(1, double);`.  Out: a kernel to call, on
either implementation of `KernelBase`. All is done where a kernel says whether it admits a call, element by element, so
that nothing rests on how loops are planned; COST is what its one loop, which does nothing, is said to take.
"""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from base_calls import guards
from bcastgen.core.dtypes import DTYPES, DType, Weak, dtype, from_key, promote, resolve_weak
from bcastgen.emit.c_text.body import loaded, stored
from bcastgen.runtime import base, fallback
from bcastgen.runtime.library import open_library
from compile_flags import CONTRACT, SHARED, WARNED
from csrc_includes import CSRC_FLAGS

SOURCE = r"""
#include <stdbool.h>
#include "bcg_abi.h"
#include "bcg_half.h"
#define IN(i, T) (*(const T *)(const void *)x[i])
#define OUT(j, T) (*(T *)(void *)y[j])

enum {
#define GUARD_STEP(name) STEP_##name,
#include "guard_steps.def"
};

static char *element(const bcg_array *a, int32_t rank, const int64_t *index)
{
    char *at = a->data;
    for (int32_t d = 0; d < a->rank; d++) {
        if (a->extents[d] != 1) at += index[rank - a->rank + d] * a->byte_strides[d];
    }
    return at;
}

static int32_t admits(const bcg_array *operands, const bcg_array *results, bcg_diagnostic *why)
{
    const bcg_array *domain = &results[0];
    int64_t index[BCG_MAX_RANK] = {0}, count = 1;
    (void)why;
    for (int32_t d = 0; d < domain->rank; d++) count *= domain->extents[d];
    for (int64_t step = 0; step < count; step++) {
        const char *x[N + 1];
        char *y[M];
        for (int i = 0; i < N; i++) x[i] = element(&operands[i], domain->rank, index);
        for (int j = 0; j < M; j++) y[j] = element(&results[j], domain->rank, index);
        (void)x;
        BODY
        for (int32_t d = domain->rank - 1; d >= 0 && ++index[d] == domain->extents[d]; d--) index[d] = 0;
    }
    return 0;
}

#ifndef NO_ENTRY
static void nothing(char *const *at, const int64_t *steps, int64_t rows, int64_t n)
{
    (void)at, (void)steps, (void)rows, (void)n;
}

static const int32_t positions[] = {N}, bytes[] = {8};
static const bcg_variant variants[] = {{0, nothing}};
static const bcg_nest nests[] = {
    {.arrays = 1, .positions = positions, .bytes = bytes, .cost = COST, .variants = 1, .variant = variants}};
static const int64_t guards[] = {GUARDS};
const bcg_kernel bcg_entry = {VERSION, N, M, ALIGNED, COST > 0, nests, guards, admits};
#endif
"""

Plan = tuple[tuple[DType, ...], str]


class Compiler:
    """Compiles one shared object for each set of macros."""

    def __init__(self, directory: Path) -> None:
        self.directory, self.made = directory, dict[tuple[str, ...], Path]()
        self.lock = threading.Lock()  # no thread reads what another one still writes
        (directory / "kernel.c").write_text(SOURCE)

    def __call__(self, operands: int, results: int, body: str, **macros: str) -> Path:
        macros = {
            "VERSION": "BCG_ABI_VERSION",
            "ALIGNED": "1",
            "COST": "0",
            "GUARDS": guards(operands, results),
            **macros,
            "N": str(operands),
            "M": str(results),
            "BODY": body,
        }
        flags = tuple(f"-D{name}={value}" for name, value in macros.items())
        with self.lock:
            if flags not in self.made:
                path = self.directory / f"kernel{len(self.made)}.so"
                command = [os.environ.get("CC", "gcc"), *SHARED, WARNED, CONTRACT, *CSRC_FLAGS]
                subprocess.run([*command, *flags, str(self.directory / "kernel.c"), "-o", str(path)], check=True)
                self.made[flags] = path
            return self.made[flags]


@pytest.fixture(scope="session")
def compile_kernel(tmp_path_factory: pytest.TempPathFactory) -> Compiler:
    return Compiler(tmp_path_factory.mktemp("kernels"))


def storage(kind: DType | Weak) -> DType:
    return kind.default if isinstance(kind, Weak) else kind


def plan_sum(call_types: tuple[DType | Weak, ...]) -> Plan:
    """r = a + b + ..., typed as NumPy types it."""
    met = promote(*resolve_weak(call_types))
    loads = (loaded(f"(IN({at}, {storage(kind).c_in_memory}))", storage(kind)) for at, kind in enumerate(call_types))
    value = stored(f"({met.c})({' + '.join(f'({met.c})({load})' for load in loads)})", met)
    return (met,), f"OUT(0, {met.c_in_memory}) = {value};"


def fixed(body: str, *results: str) -> Callable[[tuple[DType | Weak, ...]], Plan]:
    """A plan whose C does not depend on the operands' dtypes."""
    return lambda call_types: (tuple(map(dtype, results)), body)


class Toolbox:
    """Makes kernels on one implementation; `kernel.keys` lists what they were asked to compile."""

    def __init__(self, base_class: Any, compiler: Compiler) -> None:
        self.base_class, self.compiler = base_class, compiler

        class Kernel(base_class):  # type: ignore[misc]
            def __init__(self, plan: Any, *signature: Any, **macros: str) -> None:
                super().__init__(*signature)
                self.plan, self.macros, self.keys = plan, macros, []

            def _compile(self, key: bytes) -> None:
                self.keys.append(key)
                call_types = tuple(map(from_key, key))
                results, body = self.plan(call_types)
                library = open_library(compiler(len(key), len(results), body, **self.macros))
                met = promote(*resolve_weak(call_types)) if call_types else results[0]
                limit = (met.min, met.max) if met.is_integer else None
                self._add_binary(
                    key,
                    library.address,
                    bytes(DTYPES.index(storage(kind)) for kind in call_types),
                    bytes(map(DTYPES.index, results)),
                    tuple(limit if isinstance(kind, Weak) else None for kind in call_types),
                    library,
                )

        self.Kernel = Kernel

    def __call__(
        self,
        plan: Any = plan_sum,
        operands: tuple[str, ...] = ("a", "b"),
        results: tuple[str, ...] = ("r",),
        defaults: tuple[object, ...] = (),
        name: str = "f",
        **macros: str,
    ) -> Any:
        return self.Kernel(plan, name, operands, results, defaults, **macros)

    def c(self, body: str, *dtypes: str, **options: Any) -> Any:
        """A kernel of one statement in C."""
        return self(fixed(body, *dtypes), **options)

    @property
    def add(self) -> Any:
        return self()

    @property
    def both(self) -> Any:
        """Two results: the sum and the difference of two f64."""
        body = "double s = IN(0, double), t = IN(1, double); OUT(0, double) = s + t; OUT(1, double) = s - t;"
        return self.c(body, "f64", "f64", results=("sum", "difference"))


@pytest.fixture(params=["extension", "cffi"])
def kernels(request: pytest.FixtureRequest, compile_kernel: Compiler) -> Toolbox:
    if request.param == "cffi":
        return Toolbox(fallback.KernelBase, compile_kernel)
    if base.implementation != "extension":
        pytest.skip("the extension was not built here; it is optional")
    return Toolbox(base.KernelBase, compile_kernel)
