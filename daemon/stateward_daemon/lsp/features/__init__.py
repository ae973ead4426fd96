"""Features: one file per LSP method, named after it."""
