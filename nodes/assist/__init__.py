"""Aids for small models, all in one place and behind one switch (``Context.assist``).

An aid changes what a model wrote, hides something from the model, or changes how it is asked.
``asking`` holds the aids for prompts, ``replies`` those for replies, and ``query_writer`` writes
queries with a small model. Each aid checks the switch itself, so nodes call it without a condition;
switched off, it returns its input. A test shows for every public function of ``asking`` and
``replies`` what it does, and that it does nothing when switched off.
"""
