"""What all tests share. In the folder above them, because `tests/e2e` has a `conftest` of its own."""

pytest_plugins = ["store.postgres_fixtures"]
