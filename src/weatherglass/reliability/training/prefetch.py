"""Prefetch memory into the processor's cache: LLVM's prefetch instruction, which numba does not offer."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np.arrayobj import make_array

TO_WRITE, USED_SOON, DATA = 1, 3, 1
"""Arguments of llvm.prefetch: access, locality, cache."""


def _prefetch(_: Any, array: Any, i: Any, j: Any, k: Any) -> Any:  # noqa: ARG001 - numba wants an argument for each
    """Begin to load the cache line of array[i, j, k], which will be changed; nothing waits for it."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array_type, indices = signature.args[0], arguments[1:]
        values = make_array(array_type)(context, builder, arguments[0])
        address = cgutils.get_item_pointer(context, builder, array_type, values, indices)
        pointer, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [pointer, number, number, number])
        flags = [ir.Constant(number, flag) for flag in (TO_WRITE, USED_SOON, DATA)]
        function = builder.module.declare_intrinsic("llvm.prefetch", [pointer], kind)
        builder.call(function, [builder.bitcast(address, pointer), *flags])
        return context.get_dummy_value()

    return types.void(array, types.intp, types.intp, types.intp), generate


prefetch: Any = intrinsic(_prefetch)
