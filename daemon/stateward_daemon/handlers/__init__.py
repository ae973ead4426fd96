"""One handler per method of the wire: typed params in, one call of the engine, an answer or a command out."""
