"""The board: pages and fragments for people. One command or one query per view; what may be done is asked
of one helper (`may.py`), and every command asks it again.

    urls        the addresses                      door      who asks; from errors to pages
    shell       what frames every page             shapes    what templates are given
    looks       states in their words and colours  may       what this person may do to this job, and why not
    sheet       how a form is shown and sent       refusals  what an answer means that changed nothing
    verify, jobs, lookups, disputed, late_writes,  the lists
    workers
    job, verdict, timeline                         one job
    outcome, cancel, deeds (evidence_form, forms)  what people do to it
    bulk, operations (answers)                     the same asked of many jobs
"""
