"""The method table as documents: a JSON Schema for programs and the generated parts of the protocol page."""

from __future__ import annotations

import json
from typing import Any

import msgspec

from stateward_protocol.errors import CATEGORIES
from stateward_protocol.methods import METHODS, PROTOCOL_VERSION, Method


def schema() -> dict[str, Any]:
    """Return one JSON Schema document: params and result of each method, and the structs that they are made of."""
    types = [kind for method in METHODS.values() for kind in (method.params, method.result)]
    found, components = msgspec.json.schema_components(types, ref_template="#/$defs/{name}")
    methods = {
        name: {"summary": method.summary, "params": found[2 * number], "result": found[2 * number + 1]}
        for number, (name, method) in enumerate(METHODS.items())
    }
    return {"protocol": PROTOCOL_VERSION, "methods": methods, "$defs": components}


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
        lines += ["", "| param | required | default |", "|---|---|---|"]
        lines += [f"| `{field.name}` | {'yes' if field.required else 'no'} | {_default(field)} |" for field in fields]
    if issubclass(method.result, msgspec.Struct):
        names = ", ".join(f"`{field.name}`" for field in msgspec.structs.fields(method.result))
        lines += ["", f"Result: {names}.", *_first_sentences(method.result)]
    return "\n".join(lines)


def _first_sentences(kind: type) -> list[str]:
    """Return the docstring of a struct as lines of one sentence each."""
    text = " ".join((kind.__doc__ or "").split())
    return [sentence.rstrip(".") + "." for sentence in text.split(". ") if sentence]


def _default(field: msgspec.structs.FieldInfo) -> str:
    if field.required or field.default is msgspec.UNSET or field.default is msgspec.NODEFAULT:
        return ""
    return f"`{json.dumps(field.default)}`"
