"""What an intent takes with it when it is deleted: the cascade (state.md section 9).

An intent owns the keys of its own scope that its structured references name exactly. It is decided once, when the
deletion is; the net patch says what came of it, and replay does not ask again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeAlias

from stateward_engine.state.paths import Member
from stateward_engine.state.references import structured

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from stateward_engine.json_value import Json
    from stateward_engine.state.paths import Path, Selector
    from stateward_engine.state.view import Planes, ScopeName

Keys: TypeAlias = tuple[str, ...]

OWNABLE_PLANES: Final = frozenset({"strategy", "tactics", "lazy"})


def cascade(scope: ScopeName, before: Planes, after: Planes, authored: Planes) -> list[Keys]:
    """Return what the deletion of intents clears, as keys from the plane downwards, sorted, none below another.

    Args:
        scope: The owner of the intents; references to others are passed over.
        before: Its planes before the patch.
        after: The same with the patch's part for `intents` applied and nothing else.
        authored: The patch; only a null in its part for `intents` deletes an intent.
    """
    intents, remaining = _intents(before), _intents(after)
    deleted = [intents[name] for name, part in _intents(authored).items() if part is None and name in intents]
    targets = {keys for path in structured(deleted) if (keys := _target(path, scope)) and _exists(before, keys)}
    if not targets:
        return []
    protected = [path.selectors for path in structured(list(remaining.values())) if _is_current(path, scope)]
    return _topmost(_unprotected(targets, protected))


def removal(targets: Iterable[Keys]) -> dict[str, Json]:
    """Return the patch that deletes targets of which none is below another.

    >>> removal([("lazy", "plan"), ("tactics", "a", "b"), ("tactics", "c")])
    {'lazy': {'plan': None}, 'tactics': {'a': {'b': None}, 'c': None}}
    """
    patch: dict[str, Any] = {}
    for *containers, last in targets:
        place = patch
        for key in containers:
            place = place.setdefault(key, {})
        place[last] = None
    return patch


def _intents(planes: Planes) -> Mapping[str, Json]:
    intents = planes.get("intents")
    return intents if isinstance(intents, dict) else {}


def _target(path: Path, scope: ScopeName) -> Keys | None:
    """Return the keys that a reference owns, if it is one that owns: `<scope>.<plane>.<name>{.<name>}`."""
    names = tuple(selector.name for selector in path.selectors if isinstance(selector, Member))
    if path.root != scope or path.indexed or len(names) != len(path.selectors) or len(names) < 2:  # noqa: PLR2004
        return None
    return names if names[0] in OWNABLE_PLANES else None


def _exists(planes: Planes, keys: Keys) -> bool:
    value: Json = planes
    for key in keys:
        if not isinstance(value, dict) or key not in value:
            return False
        value = value[key]
    return True


def _is_current(path: Path, scope: ScopeName) -> bool:
    return path.root == scope and path.offset == "0"


def _unprotected(targets: Iterable[Keys], protected: Sequence[tuple[Selector, ...]]) -> list[Keys]:
    """Return the targets that no reference of a remaining intent equals, is above or is below.

    Sets of addresses and of their ancestors, because both sides may be many.
    """
    addresses = set(protected)
    ancestors = {selectors[:length] for selectors in protected for length in range(len(selectors) + 1)}
    return [keys for keys in targets if not _is_protected(tuple(map(Member, keys)), addresses, ancestors)]


def _is_protected(
    target: tuple[Selector, ...], addresses: set[tuple[Selector, ...]], ancestors: set[tuple[Selector, ...]]
) -> bool:
    return target in ancestors or any(target[:length] in addresses for length in range(len(target)))


def _topmost(targets: Iterable[Keys]) -> list[Keys]:
    """Return the targets in the order of their keys, without those below another."""
    found: list[Keys] = []
    for keys in sorted(targets):
        if not found or keys[: len(found[-1])] != found[-1]:
            found.append(keys)
    return found
