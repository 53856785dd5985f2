"""The durable cancellation protocol as a pure core: no database, no clock, no user, no HTTP.

What was *asked* (control) and what *happened* (result) are two axes. A cancel forbids the next step at once;
it is confirmed only when nothing of the job is out. A step that is out, and whose worker is gone, is unknown
until somebody with evidence settles it; a late word is kept, as an outcome or as testimony, never thrown
away.

    states.py     the enums and the frozen values a decision looks at
    asks.py       what each command asks, with every bound; spec.py, evidence.py, fields.py below it
    tables/       one table for each command: its rows are docs/protocol.md's, in their order
    questions.py  what a row asks      verbs.py  what it does      tells.py  what its answer tells
    decide.py     the first row that fits
    headline.py   the one code that says it all
    canonical.py  RFC 8785 and digests      json_door.py  the one strict parser

`decide(TABLES[ask.kind], world, ask)` is the whole interface.
"""
