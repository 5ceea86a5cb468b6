"""`ragassay verify`: the bytes, the ledger and the signatures behind a run, or one bundle alone."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from ragassay.cli import talk
from ragassay.cli.settings import FILE_NAME
from ragassay.cli.workspace import open_store
from ragassay.errors import InputError, UsageError
from ragassay.records.canonical import digest_bytes
from ragassay.records.text import many

if TYPE_CHECKING:
    from ragassay.seal.evidence import Verified


def verify(
    run: str = "latest",
    *,
    trust: Path | None = None,
    bundle: Path | None = None,
    subject: Path | None = None,
    kind: Literal["pre-registration", "verdict", "numbers"] = "pre-registration",
    public: bool = False,
    witness: Path | None = None,
    config: Path = Path(FILE_NAME),
    store: Path | None = None,
    json: bool = False,
) -> None:
    """Re-hash all that a run reaches, check the ledger, and every signature that a trust policy asks for.

    Exit 5, with a reason of its own, for changed bytes, a broken or rolled back ledger, a bundle in another form, a key
    that is not trusted, a signature that does not hold, a statement of another kind or about something else, and a
    protocol that was signed after its first question was asked. What was erased, as the ledger says, is listed and is
    no error.

    Parameters
    ----------
    run
        Which run: a name, a digest, its beginning, or `latest`.
    trust
        The trust policy: whose signatures count, and how many. Without it no signature is looked at, and that is said.
    bundle
        Check this one file alone, without a store; needs --trust and --subject.
    subject
        With --bundle: the file that it must be about.
    kind
        With --bundle: what it must be.
    public
        The store was made of a public file: what was left out of that is listed and no error either.
    witness
        A git repository in which `ragassay store witness` wrote what it had seen of the ledger.
    config
        The settings file.
    store
        The store's folder, instead of the one in the settings.
    json
        Data as JSON on standard output.
    """
    if bundle is not None or subject is not None:
        _verify_file(bundle, subject, trust, kind, json=json)
        return
    from ragassay.seal.evidence import made_of, verify_evidence
    from ragassay.seal.trust import read_trust

    trusted = None if trust is None else read_trust(trust)
    opened = open_store(config, store)
    about = made_of(opened, opened.resolve(run, kind_prefix="run"))
    found = verify_evidence(opened, about, trusted, public=public)
    seen = None
    if witness is not None:
        from ragassay.seal.git_witness import check_git

        seen = check_git(witness, opened.ledger.lines()).number
    if json:
        talk.data_json({**_plain(found, trust), "git_witness": seen})
    else:
        for line in _told(found, trust):
            talk.data(talk.plain(line))
        if seen is not None:
            talk.data(talk.plain(f"witness in {witness}  has seen the ledger up to line {seen}, and it is here"))
    talk.then("ragassay audit" if trust is not None else "ragassay verify --trust trust.toml", config, store)


def _told(found: Verified, trust: Path | None) -> list[str]:
    whole = "every byte" if not found.gone else "every byte that is here"
    lines = [f"run {found.about.run}  {whole} is as it was sealed"]
    seen = "its witness agrees" if found.witnessed else "no witness outside of the store"
    lines.append(f"ledger {found.founded}  {many(found.acts, 'line')}, unbroken; {seen}")
    if trust is None:
        lines.append("signatures  not looked at: no trust policy was given")
    lines += [f"{one.kind}  signed by {one.name} (key {one.key_id[:16]})" for one in found.signed]
    for one in found.gone:
        told = one.absence
        said = f"at {told.at} by {told.by}: {told.reason}" if told.why == "erased" else "of the public file"
        lines.append(f"{told.why.replace('_', ' ')}  {one.object}  {said}")
    return lines


def _plain(found: Verified, trust: Path | None) -> dict[str, object]:
    return {
        "run": found.about.run,
        "scores": found.about.scores,
        "decision": found.about.decision,
        "protocol": found.protocol,
        "ledger": {"founded": found.founded, "lines": found.acts, "witnessed": found.witnessed},
        "signatures_checked": trust is not None,
        "signed": [one._asdict() for one in found.signed],
        "gone": [
            {
                "object": one.object,
                "why": one.absence.why,
                "at": one.absence.at,
                "by": one.absence.by,
                "reason": one.absence.reason,
            }
            for one in found.gone
        ],
    }


def _verify_file(bundle: Path | None, subject: Path | None, trust: Path | None, kind: str, *, json: bool) -> None:
    from ragassay.seal.bundle import MOST_BYTES
    from ragassay.seal.signatures import check_bundle
    from ragassay.seal.statements import PREDICATES
    from ragassay.seal.trust import read_trust

    if bundle is None or subject is None or trust is None:
        raise UsageError(
            "--bundle, --subject and --trust go together", hint="which bundle, about what, trusted by whom"
        )
    wanted = next(one for one in PREDICATES if one == kind)
    about = digest_bytes(_read(subject, None))
    key, name = check_bundle(_read(bundle, MOST_BYTES), read_trust(trust), wanted, about, at=None)
    if json:
        talk.data_json({"kind": kind, "about": about, "key_id": key, "name": name})
    else:
        talk.data(talk.plain(f"{kind} of {about}  signed by {name} (key {key[:16]})"))


def _read(path: Path, most: int | None) -> bytes:
    try:
        with path.open("rb") as file:
            data = file.read() if most is None else file.read(most + 1)
    except OSError as cause:
        raise InputError(f"cannot be read: {cause.strerror}", file=str(path), hint="name a file") from None
    return data
