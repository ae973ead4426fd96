"""The language server: one session per editor. pygls dispatches; state, documents and bytes are elsewhere."""
