"""Scoped semantic state: paths, patches, overlays, reads and transitions. Pure."""
