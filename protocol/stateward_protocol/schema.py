"""The method table as documents: a JSON Schema for programs and the generated parts of the protocol page."""

from __future__ import annotations

import json
import types
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin, get_type_hints

import msgspec

from stateward_protocol.errors import CATEGORIES
from stateward_protocol.methods import METHODS, PROTOCOL_VERSION, Method
from stateward_protocol.notices import NOTICES

_WORDS: Final[dict[object, str]] = {
    str: "string", int: "integer", bool: "true or false", type(None): "null", Any: "any JSON value"
}  # fmt: skip


def schema() -> dict[str, Any]:
    """Return one JSON Schema document: params and result of each method, notifications, and what they are made of."""
    types = [kind for method in METHODS.values() for kind in (method.params, method.result)] + [*NOTICES.values()]
    found, components = msgspec.json.schema_components(types, ref_template="#/$defs/{name}")
    methods = {
        name: {"summary": method.summary, "params": found[2 * number], "result": found[2 * number + 1]}
        for number, (name, method) in enumerate(METHODS.items())
    }
    notifications = dict(zip(NOTICES, found[2 * len(METHODS) :], strict=True))
    return {"protocol": PROTOCOL_VERSION, "methods": methods, "notifications": notifications, "$defs": components}


def methods_page() -> str:
    """Return the section of each method, as Markdown."""
    return "\n\n".join(_method_section(method) for method in METHODS.values())


def errors_page() -> str:
    """Return the table of error categories, as Markdown."""
    rows = [f"| `{name}` | {category.code} | {category.meaning} |" for name, category in CATEGORIES.items()]
    return "\n".join(["| category | code | meaning |", "|---|---|---|", *rows])


def _method_section(method: Method) -> str:
    call = {"jsonrpc": "2.0", "id": 1, "method": method.name, "params": method.example}
    lines = [f"### `{method.name}`", "", method.summary, f"This method {method.kind.value}."]
    about = _first_sentences(method.params)
    if about:
        lines += ["", *about]
    lines += ["", "```json", json.dumps(call, ensure_ascii=False), "```"]
    fields = msgspec.structs.fields(method.params)
    if fields:
        lines += ["", "| param | type | required | default |", "|---|---|---|---|"]
        lines += [
            f"| `{field.name}` | {_cell(type_words(method.params, field.name))} | {'yes' if field.required else 'no'} "
            f"| {_default(field)} |"
            for field in fields
        ]
    if issubclass(method.result, msgspec.Struct):
        names = ", ".join(f"`{field.name}`" for field in msgspec.structs.fields(method.result))
        lines += ["", f"Result: {names}.", *_first_sentences(method.result)]
    return "\n".join(lines)


def type_words(kind: type[msgspec.Struct], *place: str) -> str:
    """Return what a param may be, in words.

    Args:
        kind: The struct of the params.
        place: Names of members from the outside to the inside; a number, or `...`, stands for any element of a list.

    >>> type_words(METHODS["configure"].params, "history_limit")
    'integer from 0 to 100'
    """
    hint: Any = kind
    for name in place:
        hint = _member_hint(hint, name)
    return _hint_words(hint)


def _member_hint(hint: Any, name: str) -> Any:  # noqa: ANN401 - type hints have no type
    bare, _ = _bare(hint)
    if _is_struct(bare):
        return get_type_hints(bare, include_extras=True).get(name, Any)
    return get_args(bare)[0] if get_origin(bare) is list else Any


def _is_struct(bare: object) -> bool:
    return isinstance(bare, type) and issubclass(bare, msgspec.Struct)


def _bare(hint: Any) -> tuple[Any, msgspec.Meta | None]:  # noqa: ANN401 - type hints have no type
    """Return a hint without what JSON does not show, and what bounds it."""
    if get_origin(hint) in (Union, types.UnionType):
        members = [member for member in get_args(hint) if member not in (msgspec.UnsetType, type(None))]
        if len(members) == 1:
            return _bare(members[0])
    if get_origin(hint) is Annotated:
        bare, meta = get_args(hint)
        return bare, meta
    return hint, None


def _hint_words(hint: Any) -> str:  # noqa: ANN401 - type hints have no type
    bare, meta = _bare(hint)
    if bare in _WORDS:
        words = _WORDS[bare]
    elif get_origin(bare) is Literal:
        words = " | ".join(json.dumps(choice) for choice in get_args(bare))
    elif get_origin(bare) is list:
        words = f"list of {_hint_words(get_args(bare)[0])}"
    elif _is_struct(bare):
        hints = get_type_hints(bare, include_extras=True)
        optional = {field.name for field in msgspec.structs.fields(bare) if not field.required}
        members = [f"{'maybe ' * (name in optional)}{name} ({_hint_words(hint)})" for name, hint in hints.items()]
        words = f"object of {', '.join(members)}"
    else:
        words = "object"
    if bare is Any and meta and meta.description:
        return meta.description
    words += _bounds(bare, meta) if meta else ""
    return f"{words}, or null" if type(None) in get_args(hint) else words


def _bounds(bare: object, meta: msgspec.Meta) -> str:
    if meta.description:
        return f" of {meta.description}"
    if meta.ge is not None:
        return f" from {meta.ge} to {meta.le}"
    unit = "elements" if get_origin(bare) is list else "characters"
    return (
        f", at least {meta.min_length}"
        if meta.max_length is None
        else f" of {meta.min_length} to {meta.max_length} {unit}"
    )


def _cell(words: str) -> str:
    """Return text for a cell of a table; what is typed as it stands is code, and a bar would end the cell."""
    return " ".join(f"`{word}`" if word.startswith('"') else word for word in words.split(" ")).replace("|", "\\|")


def _first_sentences(kind: type) -> list[str]:
    """Return the docstring of a struct as lines of one sentence each."""
    text = " ".join((kind.__doc__ or "").split())
    return [sentence.rstrip(".") + "." for sentence in text.split(". ") if sentence]


def _default(field: msgspec.structs.FieldInfo) -> str:
    if field.required or field.default is msgspec.UNSET or field.default is msgspec.NODEFAULT:
        return ""
    return f"`{json.dumps(field.default)}`"
