"""What users of NumPy write that is no operator: functions with arguments, methods, branches, several lines.

In: nothing.  Out: texts with places for an earlier value, two values of any kind, and a dtype.

    {0}.clip(max={1})        if {0} is None: {new} = {1}
"""

from __future__ import annotations

__all__ = ["FORMS", "STATEMENTS"]

# Forms have two spaces between them. What is summed is integers, so that no order of additions shows.
FORMS = tuple(
    """
np.nan_to_num({0})  np.nan_to_num({0}, nan=1.5)  np.nan_to_num({0}, posinf=3, neginf=-2.5)  np.fabs({0})
np.real({0})  np.imag({0})  {0}.real  {0}.imag  {0}.conj()  np.conjugate({0})  np.angle({0})  np.iscomplex({0})
np.isreal({0})  np.isposinf({0})  np.isneginf({0})  np.zeros_like({0})  np.ones_like({0}, dtype={3})
np.full_like({0}, {1})  np.full_like({0}, {1}, dtype={3})  np.fmod({0}, {1})  np.gcd({0}, {1})  np.lcm({0}, {1})
np.heaviside({0}, {1})  np.nextafter({0}, {1})  np.spacing({0})  np.ldexp({0}, {1})  np.bitwise_count({0})
np.isclose({0}, {1})  np.isclose({0}, {1}, atol=1, equal_nan=True)  np.divmod({0}, {1})[0]  divmod({0}, {1})[1]
np.modf({0})[0]  np.frexp({0})[1]  np.select([{0} > 1, {0} < 0], [{1}, {2}])
np.select([{0} > 1], [{1}], default={2})  np.piecewise({0}, [{0} > 1], [lambda v: -v, {1}])  np.round({0}, 1)
{0}.round(-1)  np.around({0}, decimals=2)  {0}.round(decimals=1)  round({0})  round({0}, 1)  np.clip({0}, {1}, None)
np.clip({0}, None, {1})  {0}.clip(max={1})  np.clip({0}, min={1}, max={2})  {0}.clip({1})  {0}.clip(None, {2})
np.clip({0}, a_min={1}, a_max=None)  np.add({0}, {1}, dtype={3})
np.multiply({0}, {1}, dtype={3}, casting='same_kind')  np.sqrt({0}, dtype={3})  np.add({0}, {1}, casting='unsafe')
np.subtract({0}, {1}, order='F')  np.negative({0}, subok=False)  np.maximum({0}, {1}, where=True)
np.maximum({0}, {1}, where={0} > 1)  np.add({0}, {1}, None)  np.less({0}, {1}, dtype=bool)
np.add({0}, {1}, out=None)  np.add({0}, {1}, signature='dd->d')  np.add({0}, {1}, out=np.zeros_like({0}))
{0}.astype({3}, casting='safe')  {0}.astype({3}, casting='same_kind', copy=False)  {0}.astype(dtype={3}, order='C')
np.astype({0}, np.dtype({3}))  np.copy({0})  np.asarray({0})  np.asarray({0}, dtype={3})  np.array({0})
np.float32({0})  np.where({0} > 1, {1}, {2})  np.where({0}, {1}, {2})  np.where({1}, {0}, {2})
np.logical_and({0}, {1}) | ({0} == {2})  {0} if np.ndim({0}) else -{0}  {0} if np.isscalar({0}) else {1}
{0} if isinstance({0}, np.ndarray) else {0} * 2  {0} if type({0}) is float else {0} * 2
{0} if {0}.dtype == {3} else {0} * 2  {0} if {0} is not None else {1}  {0} if len({0}) > 2 else {0} * 2
{0} if {0}.shape == (3,) else -{0}  {0} * {0}.size  {0} if {0}.ndim else {1}  {0} if ({0} > 1).all() else {0} * 2
{0} and {1}  not {0}  max({0}, {1})  {0} in (1, 2)  {1} in {0}  {0} == None  {0} == 'x'  {0} == [1, 2, 3]
{0} + [1, 2, 3]  {0} + (1, 2, 3)  {0} + np.arange(3)  {0} * np.matrix([[2]])  {0} * np.ma.masked
{0} + np.ma.array([1, 2, 3])  {0} * np.arange(3).view(np.recarray)  {0} + np.datetime64(3, 'D')
{0} * np.array(2, dtype='>i4')  {0} * np.array(2, dtype=object)  {0} + np.timedelta64(3)  {0} * np.clongdouble(2)
{0}.sum(dtype='i8') if {0}.dtype.kind in 'biu' else {0}  {0}.max()  {0}.min(axis=0)  np.amax({0}, keepdims=True)
{0}.any()  {0}.all(axis=-1)  np.any({0})  np.count_nonzero({0})  {0}.argmax()  {0}.argmin(axis=0)  np.argmax({0})
{0}.max(initial=9)  {0}.max(initial=2.5)  {0}.max(initial=300)  {0}.sum(initial=2.5)
{0}.min(where={0} > 1, initial=9)  np.mean(np.sign({0}), where={0} > 1)  np.sign({0}).std(axis=0, where={0} > {1})
np.sign({0}).var(where={0} < 3, ddof=1, keepdims=True)  np.mean(np.sign({0}), -1, where={1})  np.any({0}, where={1})
np.mean(np.sign({0}), dtype='f4', where={1})  np.sum(np.sign({0}), axis=0, where={1})
np.prod(np.sign({0}), where={1} > 1)
np.mean(np.sign({0}), where={0} > 1, keepdims={1})  np.std(np.sign({0}), mean={1})  np.var(np.sign({0}), correction=1)
np.minimum.reduce({0}, 0, 'f8')  np.add.reduce(np.sign({0}), axis=None, where={1})  np.matmul({0}, {1})  np.nanmax({0})
np.maximum.reduce({0})  np.logical_or.reduce({0}, axis=None)
np.minimum.accumulate({0})  np.add.outer({0}, {1})  np.multiply.at({0}, 0, {1})  {0}[0]  {0}[{0} > 1]  {0}[::-1]
{0}.flat  {0}.swapaxes(0, -1)  np.squeeze({0}, 0)  np.squeeze({0})  np.expand_dims({0}, -1)  np.moveaxis({0}, 0, -1)
{0}.mT  {0}.reshape(-1)  {0}.ravel()  np.broadcast_to({0}, (2, 3))  np.broadcast_to({0}, (2, 3)) * {1}
{0}.transpose()  {0}[()]  {0}.fill(1)  {0}.item()  {0}.tolist()  float({0})  int({0})  complex({0})
operator.index({0})  math.sqrt({0})  hash({0})  abs({0})  pow({0}, 2)  pow({0}, 2, 5)  {0} @ {0}  math.floor({0})
bool({0})  str({0})  {0}.nosuch  getattr({0}, 'mask', {0})
""".replace("\n", "  ")
    .strip()
    .split("  ")
)
# Statements of more than a line, and of several names.
STATEMENTS = (
    "try: {new} = {0} if {0} > 1 else -{0}\nexcept Exception: {new} = {0} * 2",
    "try: {new} = {0} + {1}\nexcept (TypeError, OverflowError): {new} = {0}",
    "try: {new} = float({0})\nexcept TypeError: {new} = {0}",
    "{new} = {0}\n{new} {op} {1}\n{new} = {0} * {new}",
    "{new} = {0} + 0\n{new} {op} {1}",
    "{new} = {0} + 0\nu = {new}.T\nu {op} {1}",
    "{new} = {0} + 0\n{new}[...] = {1}",
    "{new} = {0} + 0\nnp.add({new}, {1}, out={new})",
    "{new} = ({0} + 0).copy()\nu = {new}\n{new} {op} {1}\n{new} = u",
    "match {0}:\n    case 0: {new} = {0} + 1\n    case _: {new} = {0}",
    "match {0}:\n    case float(): {new} = {0} + 1\n    case _: {new} = {0}",
    "if {0} is None: {new} = {1}\nelif callable({0}): {new} = {0}\nelse: {new} = {0} * 2",
    "{new} = {0}\nfor _ in range(3): {new} = {new} + {1}",
    "{new}, u = np.divmod({0}, {1})\n{new} = {new} + u",
)
