"""What is trained: it learns from data and ships as small artefacts that the graphs load."""
