"""The board: pages and fragments for people. One command or one query per view; what may be done is asked
of one helper (`may.py`), and every command asks it again.

    urls        the addresses        door      the translator from errors to pages; who asks
    shapes      what templates get   looks     states in their words and colours
    may         what this person may do to this job now, and why not
"""
