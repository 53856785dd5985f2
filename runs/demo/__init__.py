"""The demo: a mailing house that sends real e-mail, slowly enough to watch, and is cancelled while a mail is out.

    people.py     the cast of docs/permissions.md
    recipients.csv  whom it writes to (made up)
    mailbox.py    the receiver: a real SMTP server, and what it really received, by idempotency key
    mailer.py     the worker: a process that runs jobs through the SDK and knows nothing but the API
    scenes.py     the office: hands jobs to workers, kills one where a scene asks for it
    office.py     the office's page: mailbox and scenes
    stage.py      starts all of it as processes, and ends all of it

Everything goes through the public doors: the HTTP API and the board. Nothing here is for production.
"""
