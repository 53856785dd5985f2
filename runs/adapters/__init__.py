"""Between a cancel token and what is running: each file stops one kind of work, in a bound that it states.

They need the SDK alone (runs.worker), no Django; celery.py and procrastinate.py need those. Nothing is
imported here: import the one you want. Examples: docs/worker.md.
"""
