"""The durable store and its one writer: the only part of the engine that touches clock, disk and threads."""
