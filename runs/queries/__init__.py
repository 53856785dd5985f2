"""The only reader for lists and pages. Every query is filtered by permission in SQL; nothing here writes.

jobs.py       a page of jobs, one job, by what their reader may see
shape.py      a job as the contract shows it (docs/http.md), many at once in a fixed number of queries
headlines.py  the headline as a condition of SQL          children.py  how many children are unfinished
receipts.py   a job's receipts, one receipt               cursor.py    the signed place in a list
preview.py    what a cancel would do now                  setup.py     queues, causes, who is asking
signals.py    what the holders of claims are to be told now
"""
