"""Aids for small models, all in this folder and behind one switch (``Context.assist``).

An aid changes what a model wrote, hides something from the model, or changes how it is asked.
``asking`` has the aids for prompts, ``replies`` those for replies, ``query_writer`` writes queries
with ``forms`` and ``answerable``, and ``row_answer`` answers with the rows of a query. Each aid
checks the switch itself, so nodes call it without a condition; switched off, it returns its input.
A test shows for every public function of ``asking`` and ``replies`` what it does, and that it does
nothing when switched off.
"""
