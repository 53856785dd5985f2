"""The HTTP contract (docs/http.md): parse, call one command or one query, answer. No opinion of its own.

commands.py   a path for each command           reads.py     a path for each read
operations.py many jobs at once
who.py        who is calling; rate.py           body.py      strict bodies and queries; ids.py
answers.py    answers of commands; shapes.py    problems.py  errors, wording.py
framework.py  ninja, bent to the contract       docs.py      the contract as a page
"""

from . import commands, docs, operations, reads
from .framework import Api
from .problems import translate
from .who import Bearer, Session

api = Api(
    title="cancelboard",
    version="1",
    description="Durable cancellation. What each answer means is said in docs/protocol.md.",
    urls_namespace="api",
    openapi_url=None,
    docs_url=None,
    auth=[Bearer(), Session()],
)
translate(api)
commands.add_to(api)
reads.add_to(api)
operations.add_to(api)
docs.add_to(api)

__all__ = ["api"]
