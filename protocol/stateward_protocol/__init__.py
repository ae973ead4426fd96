"""The protocol: knows messages, and nothing of state. No I/O."""

__version__ = "0.1.0"
