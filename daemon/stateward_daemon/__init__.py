"""The daemon: alone knows both the engine and the protocol."""
