"""Bundles as other people's verifiers see them: securesystemslib and the npm Sigstore verifier, right and tampered.

openssl and Node's own crypto are in tests/unit/seal/test_bundle.py; docs/evidence.md has the commands.
"""

from __future__ import annotations

import base64
import json
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from trials.authority import Authority

from ragassay.records.canonical import digest_of
from ragassay.seal.bundle import decode, encode, sign
from ragassay.seal.keys import new_keys, read_private
from ragassay.seal.statements import PREDICATES, STATEMENT
from ragassay.seal.timestamps import request_over

ROOT = Path(__file__).resolve().parents[2]
NPM = ROOT / "tools" / "sigstore"


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("keys")
    for name in ("release", "other"):
        new_keys(folder / name)
    return folder


@pytest.fixture(scope="module")
def bundle(keys: Path) -> bytes:
    digest = digest_of("protocol").removeprefix("sha256:")
    statement = {
        "_type": STATEMENT, "subject": [{"name": "protocol", "digest": {"sha256": digest}}],
        "predicateType": PREDICATES["verdict"], "predicate": {"result": "PASSED", "configuration": []},
    }  # fmt: skip
    return sign(statement, read_private(keys / "release"))


def changed_payload(value: dict[str, Any]) -> None:
    envelope = value["dsseEnvelope"]
    payload = base64.b64decode(envelope["payload"]).replace(b"PASSED", b"FAILED")
    envelope["payload"] = base64.b64encode(payload).decode()


def changed_signature(value: dict[str, Any]) -> None:
    one = value["dsseEnvelope"]["signatures"][0]
    one["sig"] = base64.b64encode(bytes(64)).decode()


def changed_type(value: dict[str, Any]) -> None:
    value["dsseEnvelope"]["payloadType"] = "text/plain"


TAMPERED: list[Callable[[dict[str, Any]], None]] = [changed_payload, changed_signature, changed_type]


def rewritten(bundle: bytes, change: Callable[[dict[str, Any]], None]) -> bytes:
    value = json.loads(bundle)
    change(value)
    return json.dumps(value).encode()


class TestSecuresystemslib:
    """`dsse.Envelope.verify`; it wants the key's id to be the one in the envelope."""

    @staticmethod
    def verify(data: bytes, public: Path) -> None:
        from cryptography.hazmat.primitives.serialization import load_pem_public_key
        from securesystemslib.dsse import Envelope
        from securesystemslib.signer import SSlibKey

        envelope = Envelope.from_dict(json.loads(data)["dsseEnvelope"])
        (key_id,) = envelope.signatures
        key = SSlibKey.from_crypto(load_pem_public_key(public.read_bytes()), keyid=key_id)
        assert list(envelope.verify([key], 1)) == [key_id]

    def test_accepts(self, bundle: bytes, keys: Path) -> None:
        self.verify(bundle, keys / "release.pub")

    @pytest.mark.parametrize("change", TAMPERED)
    def test_rejects(self, bundle: bytes, keys: Path, change: Callable[[dict[str, Any]], None]) -> None:
        from securesystemslib.exceptions import VerificationError

        with pytest.raises(VerificationError):
            self.verify(rewritten(bundle, change), keys / "release.pub")
        with pytest.raises(VerificationError):
            self.verify(bundle, keys / "other.pub")


def node_major() -> int:
    if shutil.which("node") is None:
        return 0
    said = subprocess.run(["node", "--version"], capture_output=True, text=True, check=True).stdout
    return int(re.findall(r"\d+", said)[0])


@pytest.mark.skipif(node_major() < 20, reason="the npm verifier needs node 20.17 or newer")
@pytest.mark.skipif(not (NPM / "node_modules").is_dir(), reason="`make sigstore` installs the npm verifier")
class TestNpmSigstore:
    """`@sigstore/verify` on the bundle as a whole, with our key and no log asked for."""

    @staticmethod
    def code(data: bytes, public: Path, folder: Path, *chain: Path) -> int:
        path = folder / "bundle.json"
        path.write_bytes(data)
        told = ["node", str(NPM / "verify.mjs"), str(path), str(public), *map(str, chain)]
        return subprocess.run(told, capture_output=True, check=False).returncode

    def test_accepts_and_rejects(self, bundle: bytes, keys: Path, tmp_path: Path) -> None:
        assert self.code(bundle, keys / "release.pub", tmp_path) == 0
        assert self.code(bundle, keys / "other.pub", tmp_path) == 1
        for change in TAMPERED:
            assert self.code(rewritten(bundle, change), keys / "release.pub", tmp_path) == 1

    def test_a_time_stamp_in_the_bundle(self, bundle: bytes, keys: Path, tmp_path: Path) -> None:
        pytest.importorskip("rfc3161_client")
        made, public = decode(bundle), keys / "release.pub"
        one, other = Authority(tmp_path / "one"), Authority(tmp_path / "other")
        stamped = encode(made._replace(timestamp=one.stamp(request_over(made.signature))))
        assert self.code(stamped, public, tmp_path, one.folder / "tsa.pem", one.root) == 0
        assert self.code(stamped, public, tmp_path, other.folder / "tsa.pem", other.root) == 1
        assert self.code(stamped, public, tmp_path) == 1, "it refuses a stamp that nobody vouches for, as we do"
        assert self.code(bundle, public, tmp_path, one.folder / "tsa.pem", one.root) == 1, "none where one is asked for"
        elsewhere = encode(made._replace(timestamp=one.stamp(request_over(b"another signature"))))
        assert self.code(elsewhere, public, tmp_path, one.folder / "tsa.pem", one.root) == 1
