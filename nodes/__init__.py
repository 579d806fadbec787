"""One module per role: a node reads working memory and returns an update."""
