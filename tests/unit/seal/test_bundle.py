"""Bundles have one byte form, are what public tools verify, and no changed bit of one is taken for valid."""

from __future__ import annotations

import base64
import json
import random
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragassay.errors import (
    FormError,
    IntegrityError,
    PredicateError,
    SignatureError,
    SubjectError,
    UntrustedKeyError,
    UsageError,
)
from ragassay.records.base import Instant
from ragassay.records.canonical import canonical_bytes, digest_of
from ragassay.seal.bundle import PAYLOAD_TYPE, Bundle, check_signature, decode, encode, pae, sign
from ragassay.seal.keys import Signer, key_id, new_keys, read_private, read_public
from ragassay.seal.signatures import check_bundle
from ragassay.seal.statements import PREDICATES, STATEMENT, read_statement
from ragassay.seal.trust import read_trust

ABOUT = digest_of("protocol")
AT = Instant("2026-08-01T00:00:00Z")


def statement(**changes: Any) -> dict[str, Any]:
    return {
        "_type": STATEMENT,
        "subject": [{"name": "protocol", "digest": {"sha256": ABOUT.removeprefix("sha256:")}}],
        "predicateType": PREDICATES["pre-registration"],
        "predicate": {"components": []},
        **changes,
    }


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("keys")
    for name in ("release", "other"):
        new_keys(folder / f"{name}.key")
    return folder


@pytest.fixture(scope="module")
def signer(keys: Path) -> Signer:
    return read_private(keys / "release.key")


def trust_file(folder: Path, extra: str = "", require: str = "pre-registration = 1") -> Path:
    path = folder / "trust.toml"
    path.write_text(
        f'[[key]]\nfile = "release.key.pub"\nname = "Release"\nmay = ["pre-registration"]\n{extra}\n'
        f"[require]\n{require}\n"
    )
    return path


def test_the_encoding_that_is_signed_is_that_of_the_specification() -> None:
    # The example of the DSSE protocol text.
    assert pae("http://example.com/HelloWorld", b"hello world") == (
        b"DSSEv1 29 http://example.com/HelloWorld 11 hello world"
    )


def test_the_same_statement_and_key_give_the_same_bytes(signer: Signer) -> None:
    data = sign(statement(), signer)
    assert data == sign(statement(), signer) == encode(decode(data))
    check_signature(decode(data), signer.private.public_key())


def test_openssl_verifies_the_signature_and_knows_the_key_id(signer: Signer, keys: Path, tmp_path: Path) -> None:
    bundle = decode(sign(statement(), signer))
    (tmp_path / "pae").write_bytes(pae(PAYLOAD_TYPE, bundle.payload))
    (tmp_path / "sig").write_bytes(bundle.signature)
    public = keys / "release.key.pub"
    told = ["openssl", "pkeyutl", "-verify", "-pubin", "-inkey", str(public), "-rawin"]
    good = subprocess.run([*told, "-in", "pae", "-sigfile", "sig"], cwd=tmp_path, capture_output=True, check=False)
    assert good.returncode == 0, good.stderr
    (tmp_path / "pae").write_bytes(pae(PAYLOAD_TYPE, bundle.payload + b" "))
    assert subprocess.run([*told, "-in", "pae", "-sigfile", "sig"], cwd=tmp_path, capture_output=True).returncode != 0
    der = subprocess.run(
        ["openssl", "pkey", "-pubin", "-in", str(public), "-outform", "DER"], capture_output=True, check=True
    ).stdout
    hashed = subprocess.run(["sha256sum"], input=der, capture_output=True, check=True).stdout
    assert hashed.decode().split()[0] == bundle.key_id


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_node_verifies_the_signature(signer: Signer, keys: Path, tmp_path: Path) -> None:
    (tmp_path / "bundle").write_bytes(sign(statement(), signer))
    code = (
        "const c=require('crypto'),f=require('fs');const b=JSON.parse(f.readFileSync('bundle')).dsseEnvelope;"
        "const p=Buffer.from(b.payload,'base64');const t=b.payloadType;"
        "const pae=Buffer.concat([Buffer.from(`DSSEv1 ${t.length} ${t} ${p.length} `),p]);"
        "process.exit(c.verify(null,pae,f.readFileSync(process.argv[1]),Buffer.from(b.signatures[0].sig,'base64'))?0:1)"
    )
    told = ["node", "-e", code, str(keys / "release.key.pub")]
    assert subprocess.run(told, cwd=tmp_path, check=False).returncode == 0
    told[-1] = str(keys / "other.key.pub")
    assert subprocess.run(told, cwd=tmp_path, check=False).returncode == 1


@given(st.data())
def test_no_flipped_bit_of_a_bundle_is_valid(signer: Signer, keys: Path, data: st.DataObject) -> None:
    trust = read_trust(trust_file(keys))
    whole = sign(statement(), signer)
    at = data.draw(st.integers(0, len(whole) * 8 - 1))
    changed = bytearray(whole)
    changed[at // 8] ^= 1 << at % 8
    with pytest.raises(IntegrityError) as found:
        check_bundle(bytes(changed), trust, "pre-registration", ABOUT, at=AT)
    assert found.value.hint
    assert found.value.exit_code == 5


def rewritten(whole: bytes, change: Any) -> bytes:
    value = json.loads(whole)
    change(value)
    return canonical_bytes(value)


FORMS: dict[str, Any] = {
    "no signature": lambda one: one["dsseEnvelope"].update(signatures=[]),
    "two signatures": lambda one: one["dsseEnvelope"].update(signatures=one["dsseEnvelope"]["signatures"] * 2),
    "another media type": lambda one: one.update(mediaType="application/json"),
    "another payload type": lambda one: one["dsseEnvelope"].update(payloadType="text/plain"),
    "a log entry": lambda one: one["verificationMaterial"].update(tlogEntries=[]),
    "a timestamp": lambda one: one["verificationMaterial"].update(timestampVerificationData={}),
    "another key id": lambda one: one["dsseEnvelope"]["signatures"][0].update(keyid="0" * 64),
    "no key id": lambda one: one["dsseEnvelope"]["signatures"][0].pop("keyid"),
    "a number for a hint": lambda one: one["verificationMaterial"]["publicKey"].update(hint=7),
    "no envelope": lambda one: one.pop("dsseEnvelope"),
    "payload not base64": lambda one: one["dsseEnvelope"].update(payload="*"),
    "payload in url base64": lambda one: one["dsseEnvelope"].update(payload="_-8="),
    "a field more": lambda one: one.update(note="x"),
}


@pytest.mark.parametrize("name", FORMS)
def test_what_is_not_the_one_form_is_refused(signer: Signer, name: str) -> None:
    with pytest.raises(FormError):
        decode(rewritten(sign(statement(), signer), FORMS[name]))


@pytest.mark.parametrize("add", [b"\n", b" "])
def test_white_space_is_no_place_to_hide(signer: Signer, add: bytes) -> None:
    whole = sign(statement(), signer)
    for data in (whole + add, add + whole, whole.replace(b",", b"," + add, 1)):
        with pytest.raises(FormError):
            decode(data)
    with pytest.raises(FormError, match="twice"):
        decode(b'{"mediaType":"x",' + whole[1:])


def test_each_way_to_be_wrong_has_its_own_error(signer: Signer, keys: Path) -> None:
    trust = read_trust(trust_file(keys))
    other = read_private(keys / "other.key")
    key, name = check_bundle(sign(statement(), signer), trust, "pre-registration", ABOUT, at=AT)
    assert (key, name) == (signer.key_id, "Release")
    with pytest.raises(UntrustedKeyError):
        check_bundle(sign(statement(), other), trust, "pre-registration", ABOUT, at=AT)
    forged = decode(sign(statement(), other))._replace(key_id=signer.key_id)
    with pytest.raises(SignatureError):
        check_bundle(encode(forged), trust, "pre-registration", ABOUT, at=AT)
    with pytest.raises(SubjectError):
        check_bundle(sign(statement(), signer), trust, "pre-registration", digest_of("another"), at=AT)
    numbers = statement(predicateType=PREDICATES["numbers"])
    with pytest.raises(PredicateError):
        check_bundle(sign(numbers, signer), trust, "pre-registration", ABOUT, at=AT)
    with pytest.raises(UntrustedKeyError, match="may not sign"):
        check_bundle(sign(numbers, signer), trust, "numbers", ABOUT, at=AT)
    with pytest.raises(SubjectError, match="something else than the records"):
        check_bundle(sign(statement(), signer), trust, "pre-registration", ABOUT, at=AT, wanted=statement(predicate={}))


STATEMENTS: dict[str, Any] = {
    "no subject": statement(subject=[]),
    "a subject twice": statement(subject=statement()["subject"] * 2),
    "a subject without digest": statement(subject=[{"name": "protocol", "digest": {}}]),
    "a subject with another hash": statement(subject=[{"name": "protocol", "digest": {"sha512": "0" * 128}}]),
    "a digest in capitals": statement(subject=[{"name": "protocol", "digest": {"sha256": "A" * 64}}]),
    "another type": statement(_type="https://in-toto.io/Statement/v0.1"),
    "a field more": statement(note=1),
    "a predicate that is none": statement(predicate=[]),
}


@pytest.mark.parametrize("name", STATEMENTS)
def test_statements_about_nothing_or_in_another_form(name: str) -> None:
    with pytest.raises(FormError):
        read_statement(canonical_bytes(STATEMENTS[name]))


def test_a_statement_of_an_unknown_kind(signer: Signer) -> None:
    for uri in ("https://slsa.dev/provenance/v1", 7):
        with pytest.raises(PredicateError):
            read_statement(canonical_bytes(statement(predicateType=uri)))
    with pytest.raises(FormError, match="canonical"):
        read_statement(json.dumps(statement(), indent=1).encode())
    with pytest.raises(FormError, match="not a statement"):
        read_statement(b"\xff")
    assert base64.b64decode(json.loads(sign(statement(), signer))["dsseEnvelope"]["payload"])


@given(st.binary(max_size=400))
def test_any_bytes_are_a_bundle_or_a_form_error(data: bytes) -> None:
    with pytest.raises(FormError):
        decode(data)


def test_random_json_is_a_form_error() -> None:
    dice = random.Random(3)
    whole = json.loads(encode(Bundle(canonical_bytes(statement()), b"0" * 64, "0" * 64)))
    for _ in range(300):
        value = json.loads(json.dumps(whole))
        node: Any = value
        while isinstance(node, dict) and node:
            key = dice.choice(sorted(node))
            if dice.random() < 0.4 or not isinstance(node[key], dict):
                node[key] = dice.choice([None, 0, True, "", [], {}, [1], "a" * 9, {"a": {}}])
                break
            node = node[key]
        with pytest.raises(FormError):
            decode(json.dumps(value).encode())


class TestTime:
    """Rotation and revocation, by when the ledger says that something was signed."""

    def check(self, keys: Path, signer: Signer, extra: str, at: str | None) -> None:
        trust = read_trust(trust_file(keys, extra))
        moment = None if at is None else Instant(at)
        check_bundle(sign(statement(), signer), trust, "pre-registration", ABOUT, at=moment)

    @pytest.mark.parametrize(
        ("extra", "at"),
        [
            ('valid_until = "2026-08-01"', "2026-08-01T00:00:00Z"),
            ('valid_from = "2026-08-02"', "2026-08-01T00:00:00Z"),
            ("revoked = 2026-07-31", "2026-08-01T00:00:00Z"),
            ('revoked = "2027-01-01"\ncompromised = true', "2026-08-01T00:00:00Z"),
            ('valid_until = "2027-01-01"', None),
        ],
    )
    def test_not_at_that_time(self, keys: Path, signer: Signer, extra: str, at: str | None) -> None:
        with pytest.raises(UntrustedKeyError):
            self.check(keys, signer, extra, at)

    @pytest.mark.parametrize(
        ("extra", "at"),
        [
            ('valid_from = "2026-08-01"\nvalid_until = "2026-08-02"', "2026-08-01T23:59:59.999999Z"),
            ('revoked = "2026-08-01T00:00:01Z"', "2026-08-01T00:00:00.500000Z"),
            ("", None),
        ],
    )
    def test_at_that_time(self, keys: Path, signer: Signer, extra: str, at: str | None) -> None:
        self.check(keys, signer, extra, at)


class TestTrustFile:
    """A trust policy that trusts nobody, asks for nothing or counts one person twice is refused."""

    @pytest.mark.parametrize(
        "text",
        [
            "",
            "[require]\nverdict = 1",
            '[[key]]\nfile = "release.key.pub"\nname = "R"\nmay = ["verdict"]',
            '[[key]]\nfile = "release.key.pub"\nname = "R"\nmay = []\n[require]\nverdict = 1',
            '[[key]]\nfile = "release.key.pub"\nname = "R"\nmay = ["verdict"]\n[require]\nverdict = 2',
            '[[key]]\nfile = "release.key.pub"\nname = "R"\nmay = ["verdict"]\n[require]\nverdict = 0',
            '[[key]]\nfile = "release.key.pub"\nname = "R"\nmay = ["verdict"]\n[require]\nrelease = 1',
            '[[key]]\nfile = "release.key.pub"\nname = "R"\nmay = ["everything"]\n[require]\nverdict = 1',
            '[[key]]\nfile = "release.key"\nname = "R"\nmay = ["verdict"]\n[require]\nverdict = 1',
            '[[key]]\nfile = "absent.pub"\nname = "R"\nmay = ["verdict"]\n[require]\nverdict = 1',
            '[[key]]\nfile = "release.key.pub"\nname = "R"\nmay = ["verdict"]\ncompromised = true\n'
            "[require]\nverdict = 1",
            "key = [1]\n[require]\nverdict = 1",
            '[[key]]\nfile = "release.key.pub"\nname = "R"\nmay = ["verdict"]\n[[key]]\nfile = "release.key.pub"\n'
            'name = "S"\nmay = ["verdict"]\n[require]\nverdict = 2',
        ],
    )
    def test_refused(self, keys: Path, text: str) -> None:
        path = keys / "bad.toml"
        path.write_text(text)
        with pytest.raises(UsageError) as found:
            read_trust(path)
        assert found.value.hint
        assert found.value.file


class TestKeys:
    """Files of keys."""

    def test_a_key_is_never_overwritten(self, keys: Path) -> None:
        before = (keys / "release.key").read_bytes()
        with pytest.raises(UsageError, match="never overwritten"):
            new_keys(keys / "release.key")
        assert (keys / "release.key").read_bytes() == before
        assert (keys / "release.key").stat().st_mode & 0o777 == 0o600

    def test_a_passphrase(self, tmp_path: Path) -> None:
        made = new_keys(tmp_path / "k", "secret")
        assert read_private(made.private, "secret").key_id == made.key_id == key_id(read_public(made.public))
        for wrong in (None, "other"):
            with pytest.raises(UsageError):
                read_private(made.private, wrong)

    @pytest.mark.parametrize("text", ["", "x" * 20_000, "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n"])
    def test_what_is_no_key(self, tmp_path: Path, text: str) -> None:
        path = tmp_path / "k"
        path.write_text(text)
        for read in (read_private, read_public):
            with pytest.raises(UsageError):
                read(path)

    @pytest.mark.parametrize("kind", ["EC", "RSA"])
    def test_another_kind_of_key(self, tmp_path: Path, kind: str) -> None:
        option = {"EC": "ec_paramgen_curve:P-256", "RSA": "rsa_keygen_bits:2048"}[kind]
        told = ["openssl", "genpkey", "-algorithm", kind, "-pkeyopt", option, "-out", str(tmp_path / "k")]
        subprocess.run(told, check=True, capture_output=True)
        with pytest.raises(UsageError, match="Ed25519"):
            read_private(tmp_path / "k")
