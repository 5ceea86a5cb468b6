"""Trusted time, from an authority that the test makes with openssl: what holds, what does not, and what it decides."""

from __future__ import annotations

import base64
import json
import shutil
from pathlib import Path

import pytest
from tests.unit.audit.conftest import made_once, project
from trials.authority import Authority, openssl

from ragassay.cli import exit_code_of
from ragassay.errors import FormError, RagassayError, SignatureError
from ragassay.records.canonical import canonical_bytes
from ragassay.seal.bundle import decode, encode
from ragassay.seal.timestamps import check_reply, read_roots, request_over, time_of

pytest.importorskip("rfc3161_client")
pytestmark = pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not installed")
__all__ = ["made_once", "project"]
TRUST = ("--trust", "trust.toml")


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("time") / "one")


@pytest.fixture(scope="module")
def stranger(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("time") / "other")


def test_openssl_reads_the_request_and_its_time_is_ours(authority: Authority, tmp_path: Path) -> None:
    signature = b"\x01" * 64
    token = authority.stamp(request_over(signature))
    check_reply(token, signature)
    (tmp_path / "sig").write_bytes(signature)
    (tmp_path / "reply").write_bytes(token)
    verified = ("ts", "-verify", "-data", "sig", "-in", "reply", "-CAfile", str(authority.root))
    assert openssl(tmp_path, *verified)  # openssl says so as well
    told = openssl(tmp_path, "ts", "-reply", "-in", "reply", "-text").decode()
    day = time_of(token, signature, read_roots([authority.root]))
    assert f" {int(day[8:10]):d} {day[11:19]} {day[:4]} GMT" in told.replace("  ", " ")


def test_what_does_not_hold(authority: Authority, stranger: Authority) -> None:
    signature = b"\x01" * 64
    token, roots = authority.stamp(request_over(signature)), read_roots([authority.root])
    time_of(token, signature, roots)
    with pytest.raises(SignatureError):
        time_of(token, b"\x02" * 64, roots)
    with pytest.raises(SignatureError):
        time_of(token, signature, read_roots([stranger.root]))
    with pytest.raises(FormError):
        check_reply(token, b"\x02" * 64)
    for data in (b"", b"x", token[:-1], token + b"\0"):
        with pytest.raises(FormError):
            time_of(data, signature, roots)


def test_no_bit_of_the_signed_time_can_be_changed(authority: Authority) -> None:
    signature = b"\x01" * 64
    token, roots = authority.stamp(request_over(signature)), read_roots([authority.root])
    time_of(token, signature, roots)
    at = token.index(b"Z", token.index(b"\x18\x0f")) - 6  # in the GeneralizedTime of the token
    for place in range(at, at + 6):
        changed = bytearray(token)
        changed[place] ^= 1
        with pytest.raises(RagassayError):
            time_of(bytes(changed), signature, roots)


def test_the_bundle_has_one_form_with_a_stamp_too(project: Path) -> None:
    assert exit_code_of(["sign", "protocol/good", "--key", "release.key", "--out", "b.json"]) == 0
    data = (project / "b.json").read_bytes()
    stamped = encode(decode(data)._replace(timestamp=b"abc"))
    assert decode(stamped).timestamp == b"abc"
    value = json.loads(stamped)
    where = value["verificationMaterial"]["timestampVerificationData"]
    assert base64.b64decode(where["rfc3161Timestamps"][0]["signedTimestamp"]) == b"abc"
    for found in ([], where["rfc3161Timestamps"] * 2, [{**where["rfc3161Timestamps"][0], "more": 1}], "x"):
        where["rfc3161Timestamps"], kept = found, where["rfc3161Timestamps"]
        with pytest.raises(FormError):
            decode(canonical_bytes(value))
        where["rfc3161Timestamps"] = kept


def stamp(authority: Authority, name: str) -> None:
    assert exit_code_of(["sign", name, "--key", "release.key", "--time-query", "q.tsq"]) == 0
    Path("r.tsr").write_bytes(authority.stamp(Path("q.tsq").read_bytes()))
    assert exit_code_of(["sign", name, "--key", "release.key", "--time-reply", "r.tsr", "--out", "b.json"]) == 0


def policy(text: str, require: str = "numbers = 1") -> None:
    path = Path("trust.toml")
    path.write_text(path.read_text().partition("[require]")[0] + f"[require]\n{require}\n{text}\n")


def said(capsys: pytest.CaptureFixture[str], code: int) -> str:
    capsys.readouterr()
    assert exit_code_of(["verify", "good", *TRUST]) == code
    return "".join(capsys.readouterr())


def test_by_command_from_request_to_verification(
    project: Path, authority: Authority, stranger: Authority, capsys: pytest.CaptureFixture[str]
) -> None:
    needed = f'[time]\nroots = ["{authority.root}"]\nneeded = ["numbers"]'
    policy(needed)
    assert "has no time stamp, and the trust policy asks for one" in said(capsys, 5)
    stamp(authority, "scores/good")
    assert "numbers  signed by release.key" in said(capsys, 0)
    policy(needed.replace(str(authority.root), str(stranger.root)))
    assert "the time stamp does not hold" in said(capsys, 5)
    policy("")
    assert "names no root for any" in said(capsys, 5)
    Path("r.tsr").write_bytes(authority.stamp(request_over(b"another signature")))
    assert exit_code_of(["sign", "scores/good", "--key", "release.key", "--time-reply", "r.tsr"]) == 5


def test_a_key_that_expired_before_its_stamp_does_not_count_whatever_the_ledger_says(
    project: Path, authority: Authority, capsys: pytest.CaptureFixture[str]
) -> None:
    stamp(authority, "scores/good")
    policy(f'[time]\nroots = ["{authority.root}"]')
    text = Path("trust.toml").read_text()
    Path("trust.toml").write_text(text.replace("# valid_until", "valid_until").replace("2027-01-01", "2020-01-01"))
    assert "expired" in said(capsys, 5)
    Path("trust.toml").write_text(text.replace("# valid_until", "valid_until").replace("2027-01-01", "2100-01-01"))
    assert "numbers  signed" in said(capsys, 0)
    # one bundle alone has no ledger: the stamp says when
    digest = json.loads((project / ".ragassay/refs/scores/good").read_text())["digest"][7:]
    subject = project / ".ragassay/blobs/sha256" / digest[:2] / digest
    alone = ["verify", "--bundle", "b.json", "--subject", str(subject), "--kind", "numbers", *TRUST]
    assert exit_code_of(alone) == 0


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[time]\nroots = []", "nobody's time is trusted"),
        ('[time]\nroots = ["gone.pem"]', "cannot be read"),
        ('[time]\nroots = ["ragassay.toml"]', "no certificate in PEM"),
        ('[time]\nroots = ["x"]\nneeded = ["lunch"]', "needed"),
    ],
)
def test_a_policy_that_cannot_be(project: Path, text: str, says: str, capsys: pytest.CaptureFixture[str]) -> None:
    policy(text)
    assert says in said(capsys, 2)
