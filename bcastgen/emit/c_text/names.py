"""C identifiers for names that users chose, and text that is safe in C comments.

In: any Python identifier.  Out: a C identifier that no keyword, macro, helper or generated name clashes with.

    Namer("axpb").take("for") -> "v_for"        Namer("axpb").take("größe") -> "gru00f6u00dfe"

Identifiers never begin with an underscore or hold two in a row, which C and C++ reserve.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from ...core.c_names import spelled

__all__ = [
    "MODULE_MACROS",
    "Namer",
    "c_identifier",
    "c_string",
    "comment_text",
    "constant_prefix",
    "is_word_of_c",
    "kernel_identifiers",
    "kernel_prefix",
    "module_identifiers",
    "number_constants",
]

# Keywords of C11, C23 and C++, since both languages include emitted headers, and names that some compilers predefine.
_KEYWORDS = frozenset(
    """
    alignas alignof and and_eq asm auto bitand bitor bool break case catch char class compl concept const consteval
    constexpr constinit const_cast continue co_await co_return co_yield decltype default delete do double dynamic_cast
    else enum explicit export extern false float for friend goto if inline int long mutable namespace new noexcept not
    not_eq nullptr operator or or_eq private protected public register reinterpret_cast requires restrict return short
    signed sizeof static static_assert static_cast struct switch template this thread_local throw true try typedef
    typeid typename typeof typeof_unqual union unsigned using virtual void volatile wchar_t while xor xor_eq
    linux unix i386 near far main
    """.split()
)
# Macros of all standard headers, which users may have included before (an operand called I would be a constant after
# <complex.h>), and types of those that generated files include. The few in lower case are words; all others have a
# capital or end in _t. Patterns are texts here: one is compiled when a name asks for it, which most names do not, and
# compiling one takes longer than naming a kernel.
_STANDARD_WORDS = frozenset(
    "complex errno imaginary math_errhandling noreturn offsetof stderr stdin stdout unreachable".split()
)
_STANDARD = (
    r"u?int(?:_least|_fast)?(?:8|16|32|64|max|ptr)_t|U?INT(?:_LEAST|_FAST)?(?:8|16|32|64|MAX|PTR)_(?:MAX|MIN|C)"
    r"|(?:size|ptrdiff|wchar|wint|max_align|float|double|nullptr)_t|(?:SIZE|PTRDIFF|WCHAR|WINT|SIG_ATOMIC)_(?:MAX|MIN)"
    r"|NULL|NAN|INFINITY|HUGE_VAL[FL]?|FP_\w+|MATH_\w+|M_\w+|INT_M\w+"
    r"|I|W?EOF|BUFSIZ|(?:RAND|TMP|FOPEN|FILENAME|MB_LEN|MB_CUR)_MAX|L_tmpnam|TSS_DTOR_\w+"
    r"|(?:[SU]?CHAR|U?SHRT|U?INT|U?L?LONG)_(?:MAX|MIN|BIT|WIDTH)|(?:L?DBL|FLT|DECIMAL|FE|LC|SEEK|EXIT|ATOMIC)_\w+"
    r"|(?:PRI|SCN)[diouxX](?:LEAST|FAST)?(?:8|16|32|64|MAX|PTR)|SIG[A-Z_0-9]+|EDOM|ERANGE|EILSEQ|CLOCKS_PER_SEC|TIME_UTC"
    r"|ONCE_FLAG_INIT"
)
# Names that templates use (loop indices, domain extents, values, bookkeeping), and those of them that a number follows.
_GENERATED = frozenset(
    """
    arrays at bits bottom byte_strides bytes count data dim domains end extent extents first from given holds i
    index may_be messages most n number one operands other pairs rank reduced result result_rank results status step
    steps to top why words
    """.split()
)
_NUMBERED = frozenset("d given i lane lanes most number one other t word words".split())
# Functions (and objects) of the C library, by the form of their names: no kernel can have such a name. Those that take
# a float or long double end in f or l.
_LIBRARY = (
    r"(?:c?a?(?:sin|cos|tan)h?|atan2|c?exp|exp2|exp10|expm1|c?log|log10|log2|log1p|i?logb|c?pow|pow10|c?sqrt|cbrt|hypot"
    r"|erfc?|[lt]?gamma|ceil|floor|trunc|nearbyint|rint|l?l?r(?:int|ound)|fmod|remainder|remquo|drem|copysign|nan"
    r"|next(?:after|toward)|fdim|fmax|fmin|fma|c?abs|fabs|carg|cimag|creal|conj|cproj|frexp|ldexp|modf|scalb|scalbl?n"
    r"|significand|j[01n]|y[01n]|finite|isinf|isnan|div|sincos|l?l?(?:abs|div))[fl]?"
    r"|signbit|signgam|fpclassify|is(?:finite|normal|greater|greaterequal|less|lessequal|lessgreater|unordered)"
    r"|(?:is|to)w?(?:alnum|alpha|ascii|blank|cntrl|digit|graph|lower|print|punct|space|upper|xdigit|ctype)"
    r"|str(?:n?cat|r?chr|n?cmp|n?casecmp|coll|n?cpy|c?spn|n?dup|error|ftime|n?len|pbrk|sep|str|to[dfk]|told|toul?l?|xfrm)"
    r"|mem(?:r?chr|cmp|c?cpy|move|set)|(?:wcs|wmem|mbs|mbr|mbto|wcr|wcto)[a-z]+|v?[fs]?n?w?(?:print|scan)f"
    r"|f?put[cs]|f?get[cs]|(?:get|put)w?char"
    r"|f(?:close|eof|error|flush|open|read|write|seek|tell|reopen|getpos|setpos|ork)|clearerr|perror|remove|rename|rewind"
    r"|set(?:buf|vbuf|jmp|locale|env)|tmpfile|tmpnam|ungetc|std(?:in|out|err)?|environ|atoi|atol|atoll|atof|q?s?rand|random"
    r"|(?:m|c|re|aligned_)alloc|alloca|free|cfree|abort|at(?:_quick_)?exit|quick_exit|_?exit|getenv|system|bsearch|qsort"
    r"|longjmp|signal|raise|clock|(?:diff|mk|as|c|gm|local|strf)?time|localeconv|timespec_get|assert|index|rindex"
    r"|b(?:cmp|copy|zero)|ffsl?l?|read|write|open|close|link|unlink|pipe|dup2?|kill|sleep|pause|alarm|nice|wait|access"
    r"|exec[lv]p?e?|getpid|send|recv|bind|listen|accept|connect|select|poll|stat|times|truncate|gettext"
)
# Prefixes whose constants would be macros of <unistd.h>, <fenv.h> or <float.h>; and prefixes whose header would have
# the name of a system header.
_TAKEN_CONSTANTS = frozenset({"R", "W", "X", "F", "FE", "FP", "FLT", "DBL", "LDBL", "INT8", "INT16", "INT32", "INT64"})
_TAKEN_PREFIX = (
    r"assert|complex|ctype|errno|fenv|float|inttypes|iso646|limits|locale|math|setjmp|signal"
    r"|std(?:align|arg|atomic|bool|bit|ckdint|def|int|io|lib|noreturn)|string|tgmath|threads|time|uchar|wchar|wctype"
    r"|endian|features|fcntl|malloc|memory|poll|pthread|regex|sched|search|semaphore|strings|termios|unistd|windows|omp"
)
# The macros of a module beside those of its helpers, without their prefix.
MODULE_MACROS = (
    *("H", "HELPERS_H", "API", "EXPORTS", "SHARED"),
    *("INDEPENDENT", "PAIRS", "RESTRICT", "INLINE", "APART", "CALLED", "VECTORS", "ALIGNED"),
    *("OF_SET", "SET_TARGET", "SET_LEVEL", "HAS_SETS"),
)
# The endings of the names of a kernel's own functions and data.
_OF_KERNEL = (
    r"(?:shape|message|unchecked|workspace|domain|check|loops|rows|admits|holds|placed|sized|sizes|unit|any|zero|tile|stage"
    r"|data|extents|strides|[0-9])"
)


def c_identifier(name: str) -> str:
    """Spell a name in C's basic character set, clear of reserved words and of the words of generated code.

    Examples
    --------
    >>> c_identifier("x"), c_identifier("for"), c_identifier("_hidden"), c_identifier("t0")
    ('x', 'v_for', 'v_hidden', 'v_t0')
    """
    found = _spelled(name)
    reserved = is_word_of_c(found) or _is_generated(found)
    return f"v_{found}" if reserved else found


def is_word_of_c(name: str) -> bool:
    """True for keywords of C and C++, and for types and macros of the headers that generated files include."""
    if name in _KEYWORDS or name in _STANDARD_WORDS:
        return True
    return (not name.islower() or name.endswith("_t")) and re.fullmatch(_STANDARD, name) is not None


def _is_generated(name: str) -> bool:
    """Return whether emitted code has this name, or another one with a number: "i", "d2", "t3", "t3_1", "t3_block"."""
    head, _, tail = name.partition("_")
    if tail.isdecimal() or tail == "block":
        return head[:1] == "t" and head[1:].isdecimal()
    word = name.rstrip("0123456789")
    return name in _GENERATED or (word != name and word in _NUMBERED)


def constant_prefix(prefix: str) -> str:
    """Return the prefix of constants; none is then a macro of <unistd.h> (R_OK) or <fenv.h> (FE_OVERFLOW).

    Examples
    --------
    >>> constant_prefix("axpb"), constant_prefix("r")
    ('AXPB', 'R_KERNEL')
    """
    upper = prefix.upper()
    return f"{upper}_KERNEL" if upper in _TAKEN_CONSTANTS else upper


def number_constants(prefix: str, shown: Sequence[str], taken: set[str]) -> tuple[str, ...]:
    """Return the names of the constants for what a diagnostic of a kernel names by a number, each once.

    Parameters
    ----------
    prefix : the kernel's.
    shown : operands, results, and others, such as the text of a computed extent.
    taken : names that none of them may have; theirs are added.

    Examples
    --------
    >>> number_constants("axpb", ("a", "A", "n + 1"), {"AXPB_H"})
    ('AXPB_A', 'AXPB_A_2', 'AXPB_N_1')
    """
    found = []
    for name in shown:
        stem = f"{constant_prefix(prefix)}_{'_'.join(re.findall('[A-Z0-9]+', name.upper())) or 'NUMBER'}"
        chosen, count = stem, 2
        while chosen in taken:
            chosen, count = f"{stem}_{count}", count + 1
        taken.add(chosen)
        found.append(chosen)
    return tuple(found)


def kernel_prefix(name: str) -> str:
    """Return the prefix of a kernel's functions, types, constants and files; see :func:`kernel_identifiers`."""
    prefix = _spelled(name)
    return f"{prefix}_kernel" if re.fullmatch(_TAKEN_PREFIX, prefix.lower()) else prefix


def kernel_identifiers(name: str) -> tuple[str, str]:
    """Return the prefix of a kernel's types, constants and files, and the name of its function.

    The function may not have the name of a function of the C library or of a keyword, nor a header that of a system
    header.

    Examples
    --------
    >>> kernel_identifiers("axpb"), kernel_identifiers("exp"), kernel_identifiers("double"), kernel_identifiers("time")
    (('axpb', 'axpb'), ('exp', 'exp_kernel'), ('double', 'double_kernel'), ('time_kernel', 'time_kernel'))
    """
    prefix = kernel_prefix(name)
    reserved = is_word_of_c(prefix) or re.fullmatch(_LIBRARY, prefix)
    return prefix, f"{prefix}_kernel" if reserved else prefix


def module_identifiers(
    name: str, kernels: Sequence[str], helpers: Collection[str] = ()
) -> tuple[str, tuple[tuple[str, str], ...]]:
    """Return a module's name in C and, for each kernel, the prefix of its functions and the name of its own function.

    The only kernel of a module of the same name gets the module's name; other kernels get it as a prefix.

    Parameters
    ----------
    name, kernels : the users' names.
    helpers : names, without the prefix, that the module may define beside kernels; no kernel gets one of these.

    Examples
    --------
    >>> module_identifiers("exp", ["exp"])
    ('exp', (('exp', 'exp_kernel'),))
    >>> module_identifiers("ops", ["exp", "exp_shape"], ["status"])
    ('ops', (('ops_exp', 'ops_exp'), ('ops_v_exp_shape', 'ops_v_exp_shape')))
    """
    prefix, function = kernel_identifiers(name)
    if len(kernels) == 1 and _spelled(kernels[0]) == _spelled(name):
        return prefix, ((prefix, function),)
    found: list[str] = []
    for kernel in kernels:
        base = _spelled(kernel)
        while any(_is_function_of(helper, base) for helper in helpers) or any(
            _is_function_of(one, other) for taken in found for one, other in ((base, taken), (taken, base))
        ):
            base = f"v_{base}"
        found.append(base)
    return prefix, tuple((f"{prefix}_{base}", f"{prefix}_{base}") for base in found)


def _is_function_of(name: str, kernel: str) -> bool:
    """True if a kernel's own functions or data may have this name; case is ignored, since macros are in upper case."""
    name, kernel = name.lower(), kernel.lower()
    return name == kernel or (
        name.startswith(f"{kernel}_") and re.match(_OF_KERNEL, name[len(kernel) + 1 :]) is not None
    )


def _spelled(name: str) -> str:
    core = spelled(name)
    # Our own names are renamed after rendering, or shared by modules, so a user's name may not look like one of them.
    ours = re.match(r"(?:bcg|bcastgen)(?:_|\Z)", core, re.IGNORECASE)
    plain_start = not name.startswith("_") and core[:1].isalpha() and not ours
    return core if plain_start else f"v_{core}".rstrip("_")


def comment_text(text: str) -> str:
    r"""Make text safe inside a C comment: it cannot end it, and holds no line splice and no foreign character.

    Examples
    --------
    >>> comment_text("a */ b"), comment_text("größe")
    ('a * / b', 'gr\\u00f6\\u00dfe')
    """
    plain = "".join(c if c == "\n" or " " <= c <= "~" else f"\\u{ord(c):04x}" for c in text)
    plain = re.sub(r"\*(?=/)|/(?=\*)", r"\g<0> ", plain).replace("??/", "?? /")
    return re.sub(r"\\(?= *(?:\n|\Z))", r"\\.", plain)


def c_string(text: str) -> str:
    r"""Spell a string in C: quotes, backslashes, question marks and what is not plain ASCII in octal, as UTF-8.

    Examples
    --------
    >>> print(c_string("it's é"), c_string('"?'))
    "it's \303\251" "\042\077"
    """
    plain = (chr(byte) if 32 <= byte < 127 and chr(byte) not in '"\\?' else f"\\{byte:03o}" for byte in text.encode())
    return f'"{"".join(plain)}"'


class Namer:
    """Hands out identifiers for one kernel, each once.

    Parameters
    ----------
    kernel : the kernel's prefix: it and what begins with it are functions, types and constants of the file.
    words : other names that the kernel's C uses, mostly functions: a parameter of such a name would hide them.
    taken : identifiers that were handed out before.
    """

    def __init__(self, kernel: str, words: frozenset[str] = frozenset(), taken: frozenset[str] = frozenset()) -> None:
        self._kernel = kernel.lower()
        self._words = words
        self._taken = set(taken)

    def within(self) -> Namer:
        """Return a namer for an inner scope: what it hands out is new there, and free again outside."""
        return Namer(self._kernel, self._words, frozenset(self._taken))

    def take(self, name: str) -> str:
        """Return the C identifier of a name, with a number appended where it is taken."""
        base = c_identifier(name)
        if base in self._words or base.lower() == self._kernel or base.lower().startswith(f"{self._kernel}_"):
            base = f"v_{base}"
        chosen, count = base, 2
        while chosen in self._taken:
            chosen, count = f"{base}_{count}", count + 1
        self._taken.add(chosen)
        return chosen
