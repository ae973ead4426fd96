"""What a mutation answers (state.md section 10)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from stateward_engine.json_value import Json
    from stateward_engine.state.ownership import Keys
    from stateward_engine.state.view import ScopeName, Selection


def patch_receipt(
    selection: Selection, changed: Sequence[ScopeName], cascaded: Mapping[ScopeName, Sequence[Keys]]
) -> dict[str, Json]:
    """Return the receipt of a patch.

    Args:
        selection: Who made it; a sole owner's paths are relative.
        changed: The scopes that it changed, in precedence order.
        cascaded: For each scope of the patch, in precedence order, what the deletion of intents cleared.
    """
    updates: dict[str, Json] = {}
    if paths := [_path(selection, scope, keys) for scope, found in cascaded.items() for keys in found]:
        updates["cascaded"] = paths
    receipt: dict[str, Json] = {"changed": list(changed)}
    return receipt | {"state_updates": updates} if updates else receipt


def _path(selection: Selection, scope: ScopeName, keys: Keys) -> str:
    return ".".join(keys if len(selection.wanted) == 1 else (scope, *keys))
