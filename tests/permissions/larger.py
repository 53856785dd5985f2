"""The larger matrix, written out: ten people, five scopes, twelve actions. Each cell says what the decision
on a job in reach is, and by which code. Taken from docs/permissions.md, "The decision", by hand.

Everybody below holds, at one scope, a grant of every action; how it stands with it is their name.
"""

#: A allowed · D explicit_deny · X grant_expired · N no_grant · K principal_kind · O principal_inactive
CODES = {
    "A": "allowed",
    "D": "explicit_deny",
    "X": "grant_expired",
    "N": "no_grant",
    "K": "principal_kind",
    "O": "principal_inactive",
}
ACTIONS = (
    *("view", "submit", "execute", "cancel", "block", "pause"),
    *("revoke", "reconcile", "approve", "seal", "export", "manage_grants"),
)
SCOPES = ("tenant", "queue", "owner", "self", "job")

# fmt: off
#: By person and scope, in the order of ACTIONS. seal and manage_grants are about the tenant: no narrower
#: grant reaches it, nor a narrower ban. A person never executes, a service account never approves or manages
#: grants.
MATRIX = {
    "allowed": {  # a live grant of their own
        "tenant": "AAKAAAAAAAAA",
        "queue": "AAKAAAAAANAN",
        "owner": "AAKAAAAAANAN",
        "self": "AAKAAAAAANAN",
        "job": "AAKAAAAAANAN",
    },
    "banned": {  # the same, and a live ban beside it
        "tenant": "DDKDDDDDDDDD",
        "queue": "DDKDDDDDDNDN",
        "owner": "DDKDDDDDDNDN",
        "self": "DDKDDDDDDNDN",
        "job": "DDKDDDDDDNDN",
    },
    "late": {  # it has expired
        "tenant": "XXKXXXXXXXXX",
        "queue": "XXKXXXXXXNXN",
        "owner": "XXKXXXXXXNXN",
        "self": "XXKXXXXXXNXN",
        "job": "XXKXXXXXXNXN",
    },
    "early": {  # it has not begun
        "tenant": "NNKNNNNNNNNN",
        "queue": "NNKNNNNNNNNN",
        "owner": "NNKNNNNNNNNN",
        "self": "NNKNNNNNNNNN",
        "job": "NNKNNNNNNNNN",
    },
    "revoked": {  # it was taken back
        "tenant": "NNKNNNNNNNNN",
        "queue": "NNKNNNNNNNNN",
        "owner": "NNKNNNNNNNNN",
        "self": "NNKNNNNNNNNN",
        "job": "NNKNNNNNNNNN",
    },
    "member": {  # held by a group they are in
        "tenant": "AAKAAAAAAAAA",
        "queue": "AAKAAAAAANAN",
        "owner": "AAKAAAAAANAN",
        "self": "AAKAAAAAANAN",
        "job": "AAKAAAAAANAN",
    },
    "outcast": {  # a grant of their own, and a ban of a group they are in
        "tenant": "DDKDDDDDDDDD",
        "queue": "DDKDDDDDDNDN",
        "owner": "DDKDDDDDDNDN",
        "self": "DDKDDDDDDNDN",
        "job": "DDKDDDDDDNDN",
    },
    "pardoned": {  # a grant, and a ban that is over
        "tenant": "AAKAAAAAAAAA",
        "queue": "AAKAAAAAANAN",
        "owner": "AAKAAAAAANAN",
        "self": "AAKAAAAAANAN",
        "job": "AAKAAAAAANAN",
    },
    "away": {  # a grant, and their account is switched off
        "tenant": "OOOOOOOOOOOO",
        "queue": "OOOOOOOOOOOO",
        "owner": "OOOOOOOOOOOO",
        "self": "OOOOOOOOOOOO",
        "job": "OOOOOOOOOOOO",
    },
    "service": {  # a live grant, and it is a service account
        "tenant": "AAAAAAAAKAAK",
        "queue": "AAAAAAAAKNAK",
        "owner": "AAAAAAAAKNAK",
        "self": "AAAAAAAAKNAK",
        "job": "AAAAAAAAKNAK",
    },
}
# fmt: on


def expected(person: str, scope: str, action: str) -> str:
    return CODES[MATRIX[person][scope][ACTIONS.index(action)]]


def out_of_reach(person: str, scope: str, action: str) -> str:
    """On a job that the scope does not reach: what no grant decides stays, the rest is no_grant."""
    code = expected(person, scope, action)
    return code if scope == "tenant" or code in ("principal_kind", "principal_inactive") else "no_grant"
