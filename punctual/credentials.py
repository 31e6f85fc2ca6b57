"""The local credential: a token in the data folder, for whoever may read that folder."""

from pathlib import Path

from adapters.authenticator_tokens import token_hash
from control_api.operations.principals import new_token
from ports.changes import AddGrant, Change, CreateToken, RevokeToken
from ports.principals import GrantKind, GrantRecord
from ports.store import Store
from punctual.actor import local_actor
from punctual.local_files import TOKEN_FILE, read_local_token, write_private


def local_principal() -> str:
    """The principal of whoever uses the folder's token: the user that made it."""
    return local_actor()


def ensure_local_token(folder: Path, store: Store, *, now_us: int) -> str:
    """The folder's token, made with every grant on the platform where there is none yet.

    A file whose token the store does not know, or that was revoked, is replaced.
    """
    path = folder / TOKEN_FILE
    known = read_local_token(folder)
    if known is not None:
        found = store.principals.token(token_hash(known))
        if found is not None and found.revoked_us is None:
            return known
    token, token_id, hashed = new_token()
    principal_id = local_principal()
    changes: list[Change] = [
        RevokeToken(token_id=each.token_id)
        for each in store.principals.tokens()
        if each.principal_id == principal_id and each.revoked_us is None
    ]
    changes.append(CreateToken(principal_id=principal_id, token_id=token_id, token_hash=hashed))
    changes += [AddGrant(grant=GrantRecord(principal_id, kind)) for kind in GrantKind]
    store.registry.apply(changes, now_us=now_us, actor=principal_id)
    write_private(path, token + "\n")
    return token
