"""The engine: knows state, and nothing of messages, sockets or editors."""
