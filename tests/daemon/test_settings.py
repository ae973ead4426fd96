"""Settings: what was given wins over the environment, the environment over the defaults."""

from __future__ import annotations

import pytest

from stateward_daemon.settings import Settings
from stateward_protocol.errors import WireError


def test_an_option_wins_over_the_environment_and_that_over_the_default() -> None:
    environment = {"STATEWARD_IDLE_EXIT_S": "5", "STATEWARD_CONNECTIONS_MAX": "7", "STATEWARD_OTHER": "x"}
    settings = Settings.from_environment({"idle_exit_s": 0, "client_stall_s": None}, environment)

    assert (settings.idle_exit_s, settings.connections_max) == (0, 7)
    assert settings.client_stall_s == Settings().client_stall_s


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("STATEWARD_IDLE_EXIT_S", "abc", "expected float, got str"),
        ("STATEWARD_CONNECTIONS_MAX", "0", "expected int >= 1"),
        ("STATEWARD_MAX_MESSAGE_BYTES", "1.5", "expected int, got str"),
        ("STATEWARD_STORE_FILE_SYSTEM", "nfs", "invalid enum value"),
    ],
)
def test_a_setting_that_does_not_fit_is_named_with_its_variable(name: str, text: str, said: str) -> None:
    with pytest.raises(WireError) as refused:
        Settings.from_environment({}, {name: text})

    assert refused.value.category == "invalid_request"
    assert name in refused.value.message
    assert said in refused.value.message


def test_the_settings_are_these() -> None:
    """A new one is added on purpose; what todos and their documents say needs none (LX-086)."""
    assert Settings.__struct_fields__ == (
        "max_message_bytes",
        "client_stall_s",
        "idle_exit_s",
        "header_timeout_s",
        "body_timeout_s",
        "connections_max",
        "queue_length_max",
        "machine",
        "database_connect_s",
        "database_statement_s",
        "database_lock_s",
        "database_poll_s",
        "max_stale_s",
        "store_file_system",
    )
