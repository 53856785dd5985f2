"""Mutants: the product broken on purpose, a line at a time, to see that a test notices (`make mutants`).

    tables.py   made from the protocol's tables: each row left out, each two neighbours swapped
    listed.py   written by hand: a lock, the replay check, the receipt's transaction, the fence, the right, …
    run.py      applies each to a copy of the tree, never to the tree itself, and runs the few tests that are
                about it; a table of what killed which

Not in CI: a quarter of an hour and more. That each one still fits the code is a test (test_mutants.py).
"""
