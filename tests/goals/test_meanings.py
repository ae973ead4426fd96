"""What metadata keys mean: one sentence for each, in one voice."""

from __future__ import annotations

from stateward_engine.goals.fields import FIELDS
from stateward_engine.goals.meanings import MEANINGS
from stateward_engine.goals.tokens import TAKES


def test_each_key_is_explained_in_the_order_of_the_table() -> None:
    assert list(MEANINGS) == list(FIELDS)
    assert TAKES.keys() == FIELDS.keys()


def test_each_meaning_goes_on_behind_a_colon() -> None:
    assert [text for text in MEANINGS.values() if not text or text[0].isupper() or text.endswith(".")] == []
    assert len(set(MEANINGS.values())) == len(MEANINGS)
