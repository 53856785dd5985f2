"""Django admin: what an administrator sets up, and a read-only look at what its viewer may see.

    viewer    who looks, and what they hold
    base      what all lists share                  form       a form with its reason
    ledger    jobs and their receipts: only read    account    people, service accounts, groups
    rights    grants and tokens: given, revoked     setup      queues, tools, causes, the tenant
    bulk      operations and archives: only read    trail      what was done here, and refusals
    tallies   what Insights counts: only read    columns   what its lists and forms call them

Who may enter, and which of Django's own pages there are: `cancelboard.admin_site`.

The ledger rules: nothing of a job is added, changed or deleted here, by nobody. Being a superuser gives no
right over any job, and none to change anything: that takes `manage_grants`, asked again inside the change.
"""

from django.contrib import admin
from django.contrib.auth.models import Group

from . import account, bulk, columns, ledger, rights, setup, tallies, trail

admin.site.unregister(Group)  # Django's own page would change members and permissions past the tenant's lock
for place in (ledger, bulk, account, rights, setup, trail, tallies):
    for model, page in place.PAGES.items():
        columns.in_words(model)
        admin.site.register(model, page)
