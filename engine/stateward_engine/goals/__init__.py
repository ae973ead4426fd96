"""Goal documents: from Markdown text to a typed projection with problems. Pure."""
