"""Programs, word problems and plans."""
