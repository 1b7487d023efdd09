"""Ask the processor for memory before it is needed: LLVM's prefetch, which numba has no name for.

It takes functions from inside numba, which may move from version to version. Where they are missing, nothing is
prefetched: the same bytes come out, only later.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from numba import types
from numba.extending import intrinsic

TO_WRITE, USED_SOON, DATA = 1, 3, 1
"""Arguments of llvm.prefetch: access, locality, cache."""


def _prefetch(_: Any, array: Any, i: Any, j: Any, k: Any) -> Any:  # noqa: ARG001 - numba wants an argument for each
    """Begin to load the cache line of array[i, j, k], which will be changed; nothing waits for it."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        with suppress(ImportError, AttributeError, TypeError):
            _generate_prefetch(context, builder, signature.args[0], arguments[0], arguments[1:])
        return context.get_dummy_value()

    return types.void(array, types.intp, types.intp, types.intp), generate


def _generate_prefetch(context: Any, builder: Any, kind: Any, array: Any, place: Any) -> None:
    """Add LLVM's instruction to the function that is being compiled.

    Raises:
        ImportError, AttributeError, TypeError: if this version of numba or llvmlite has other inner functions.
    """
    from llvmlite import ir
    from numba.core import cgutils
    from numba.np.arrayobj import make_array

    address = cgutils.get_item_pointer(
        context, builder, kind, make_array(kind)(context, builder, array), place
    )
    pointer, number = ir.IntType(8).as_pointer(), ir.IntType(32)
    signature = ir.FunctionType(ir.VoidType(), [pointer, number, number, number])
    flags = [ir.Constant(number, flag) for flag in (TO_WRITE, USED_SOON, DATA)]
    function = builder.module.declare_intrinsic("llvm.prefetch", [pointer], signature)
    builder.call(function, [builder.bitcast(address, pointer), *flags])


prefetch: Any = intrinsic(_prefetch)
