"""`ragassay keys`: make a pair of keys, show whose id a key has, write a trust policy to start from."""

from __future__ import annotations

import os
from pathlib import Path

from ragassay.cli import talk
from ragassay.cli.files import replace_file, writing
from ragassay.errors import UsageError
from ragassay.seal.keys import key_id, new_keys, read_public

PASSPHRASE = "RAGASSAY_KEY_PASSPHRASE"  # noqa: S105  a name, no secret
"""Environment variable that locks and unlocks a private key."""


def new(path: Path, *, json: bool = False) -> None:
    """Make an Ed25519 pair: PATH is private, PATH.pub public. A file that is there is never overwritten.

    Parameters
    ----------
    path
        Where to write the private key. If RAGASSAY_KEY_PASSPHRASE is set, it is locked with that.
    json
        Data as JSON on standard output.
    """
    made = new_keys(path, os.environ.get(PASSPHRASE))
    if json:
        talk.data_json({"private": str(made.private), "public": str(made.public), "key_id": made.key_id})
    else:
        talk.data(talk.plain(f"key {made.key_id}\n  private  {made.private}\n  public   {made.public}"))
    if not os.environ.get(PASSPHRASE):
        talk.say(f"the private key is not locked; set {PASSPHRASE} before making one to lock it")
    talk.then(f"ragassay keys trust {made.public} --out trust.toml")


def show(public: Path, *, json: bool = False) -> None:
    """Print the id of a public key: SHA-256 of its SPKI in DER.

    Parameters
    ----------
    public
        A public key in PEM.
    json
        Data as JSON on standard output.
    """
    found = key_id(read_public(public))
    if json:
        talk.data_json({"key_id": found})
    else:
        talk.data(found)


def trust(public: tuple[Path, ...], /, *, out: Path = Path("trust.toml")) -> None:
    """Write a trust policy over these public keys to start from: each may sign everything, one signature is asked for.

    Parameters
    ----------
    public
        Public keys in PEM.
    out
        The file to write; the keys' files are named relative to it.
    """
    if out.exists():
        raise UsageError(f"{out} is there already", hint="name another file with --out")
    _check_different(public)
    text = _policy(public, out.parent)
    with writing(out):
        replace_file(out, [text.encode()])
    talk.data(talk.plain(str(out)))
    talk.then("ragassay seal --sign KEY")


def _check_different(public: tuple[Path, ...]) -> None:
    if not public:
        raise UsageError("no key is named", hint="name the public keys that may sign")
    known: dict[str, Path] = {}
    for one in public:
        other = known.setdefault(key_id(read_public(one)), one)
        if other is not one:
            raise UsageError(
                f"the same key as {other}", file=str(one), hint="one person counts once: name each key once"
            )


def _policy(public: tuple[Path, ...], folder: Path) -> str:
    lines = ["# Who may sign what, and how many must: docs/evidence.md.", ""]
    names = [one.stem for one in public]
    for one in public:
        named = os.path.relpath(one, folder)
        lines += [
            "[[key]]",
            f"file = {_quoted(named, one)}",
            f"name = {_quoted(one.stem if names.count(one.stem) == 1 else named.removesuffix('.pub'), one)}",
            'may = ["pre-registration", "verdict", "numbers", "erasure"]',
            '# valid_from = "2026-01-01"',
            '# valid_until = "2027-01-01"',
            '# revoked = "2026-08-01"    # with compromised = true nothing counts that it ever signed',
            "",
        ]
    lines += ["[require]    # distinct signers", "pre-registration = 1", "# verdict = 1", "# numbers = 1", ""]
    return "\n".join(lines)


def _quoted(text: str, path: Path) -> str:
    """A string of TOML. UsageError for what no settings file can hold."""
    import json
    import tomllib

    quoted = json.dumps(text, ensure_ascii=False)
    try:
        quoted.encode()
        if tomllib.loads(f"it = {quoted}") == {"it": text}:
            return quoted
    except ValueError:  # not UTF-8, or a character that TOML does not take
        pass
    raise UsageError("a trust policy cannot hold this name", file=str(path), hint="give the file another name")
