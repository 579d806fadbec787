"""Aids for small models, all in one place and behind one switch (``Context.assist``).

An aid changes what a model wrote, hides something from it, or asks it differently than a capable
model needs to be asked. ``asking`` holds how a model is asked, ``replies`` what becomes of its
words, ``query_writer`` how a query is written with it. Each aid asks the switch itself, so the
nodes call it without a condition; off, it returns what it was given. A test shows for every public
function of ``asking`` and ``replies`` what it does, and that off it does nothing.
"""
