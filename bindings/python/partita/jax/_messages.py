"""Point-to-point messages in compiled programs: not collective.

Messages with one sender and one tag arrive in the order of sending. If no message is sent, the receiver gets a JaxRuntimeError with the
text of a TimeoutError at the deadline.
"""

from __future__ import annotations

from typing import Any, Optional, Sequence, Tuple

import jax  # type: ignore[import-not-found,unused-ignore]
import jax.numpy as jnp  # type: ignore[import-not-found,unused-ignore]

from .._errors import ArgumentError
from ._group import Group, chosen, pairwise
from ._program import batched, batching, call, linear

_send = call("send", lambda x, **_: None)
_receive = call("receive", lambda like, **_: (like.shape, like.dtype))
_send_receive = call("send_receive", lambda x, shape, **_: (shape, x.dtype))


def _exchange_batch(operands: Sequence[Any], axes: Sequence[int], shape: Tuple[int, ...], **params: Any) -> Any:
    moved = jnp.moveaxis(operands[0], axes[0], 0)
    return _send_receive.bind(moved, shape=(moved.shape[0], *shape), **params), 0


def _send_back(receipt: Any, x: Any, group: Group, to: int, tag: int) -> Any:
    return _receive.bind(jnp.zeros(x.shape, x.dtype), group=group, source=to, tag=tag)


def _receive_back(cotangent: Any, like: Any, group: Group, source: int, tag: int) -> Any:
    _send.bind(cotangent, group=group, to=source, tag=tag)
    return jnp.zeros(like.shape, like.dtype)


def _exchange_back(cotangent: Any, x: Any, group: Group, to: int, source: int, tag: int, shape: Tuple[int, ...]) -> Any:
    return _send_receive.bind(cotangent, group=group, to=source, source=to, tag=tag, shape=x.shape)


batched(_send, lambda axis: (axis, None))
batched(_receive, lambda axis: (axis, axis))
batching.primitive_batchers[_send_receive] = _exchange_batch
linear(_send, _send_back)
linear(_receive, _receive_back)
linear(_send_receive, _exchange_back)


def _array(what: str, x: Any) -> Any:
    """A single array: a message is not a pytree, whose leaves each side would have to know."""
    if not jax.tree_util.all_leaves([x]):
        raise TypeError(f"expected one array, got {type(x).__name__}; {what} its leaves separately")
    return jnp.asarray(x)


def _peer(what: str, peer: int, group: Group) -> int:
    if not 0 <= peer < group.size:
        raise ArgumentError(f"{what}: rank {peer} is not one of the {group.size} ranks")
    return int(peer)


@pairwise
def send(x: Any, to: int, *, tag: int = 0, group: Optional[Group] = None) -> jax.Array:
    """Send the array to rank `to`. Not collective.

    Parameters
    ----------
    x : array
        The elements to send.
    to : int
        The rank that gets them.

    Returns
    -------
    jax.Array
        A receipt, 0, for derivatives: if it is added to the value that is differentiated, the cotangent of the sent array is received from
        the receiver, whose `like` must depend on its variable of differentiation.
    """
    among = chosen(group)
    receipt: jax.Array = _send.bind(_array("send", x), group=among, to=_peer("send", to, among), tag=int(tag))
    return receipt


@pairwise
def receive(like: Any, source: int, *, tag: int = 0, group: Optional[Group] = None) -> jax.Array:
    """The oldest message of rank `source` with this tag. Not collective.

    Parameters
    ----------
    like : array
        Has the shape and dtype of the message; its values are ignored.
    source : int
        The sender.
    """
    among = chosen(group)
    found: jax.Array = _receive.bind(_array("receive", like), group=among, source=_peer("receive", source, among), tag=int(tag))
    return found


@pairwise
def send_receive(
    x: Any, to: int, source: int, *, like: Any = None, tag: int = 0, group: Optional[Group] = None
) -> jax.Array:
    """Send the array to rank `to` and receive that of rank `source`, concurrently. Not collective.

    Parameters
    ----------
    x : array
        The elements to send.
    to : int
        The rank that gets them.
    source : int
        The rank from which to receive.
    like : array, optional
        Has the shape of the received array; unset: that of `x`.
    """
    among, x = chosen(group), _array("exchange", x)
    shape = x.shape if like is None else jnp.shape(like)
    if like is not None and jnp.result_type(like) != x.dtype:
        raise ArgumentError(f"send_receive: the dtypes of sent ({x.dtype}) and received ({jnp.result_type(like)}) data must be equal")
    return exchanged(x, _peer("send_receive", to, among), _peer("send_receive", source, among), shape, int(tag), among)


def exchanged(x: Any, to: int, source: int, shape: Sequence[int], tag: int, group: Group) -> jax.Array:
    found: jax.Array = _send_receive.bind(x, group=group, to=to, source=source, tag=tag, shape=tuple(shape))
    return found


def mirror(x: Any, group: Group) -> Any:
    """The array of the rank that has the same distance from the last rank as this one from the first."""
    peer = group.size - 1 - group.rank
    return x if peer == group.rank else exchanged(x, peer, peer, x.shape, -1, group)
