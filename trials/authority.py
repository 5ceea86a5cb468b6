"""An authority for time stamps, made with openssl. Asks no network."""

from __future__ import annotations

import subprocess
from pathlib import Path

CONFIG = """
[tsa]
default_tsa = own
[own]
serial = serial
signer_digest = sha256
default_policy = 1.2.3.4
digests = sha256
accuracy = secs:1
ess_cert_id_chain = no
ess_cert_id_alg = sha256
crypto_device = builtin
"""


def openssl(folder: Path, *words: str) -> bytes:
    """What a command of openssl prints; CalledProcessError where it fails."""
    return subprocess.run(["openssl", *words], cwd=folder, capture_output=True, check=True).stdout


class Authority:
    """A root of its own and a key that stamps under it."""

    def __init__(self, folder: Path) -> None:
        """Make both in a folder that is not there yet."""
        folder.mkdir()
        self.folder = folder
        (folder / "tsa.cnf").write_text(CONFIG)
        (folder / "serial").write_text("01\n")
        (folder / "use").write_text("extendedKeyUsage = critical,timeStamping\nkeyUsage = critical,digitalSignature\n")
        new = ("req", "-newkey", "rsa:2048", "-nodes")
        openssl(folder, *new, "-x509", "-subj", "/CN=root", "-days", "30", "-keyout", "root.key", "-out", "root.pem")
        openssl(folder, *new, "-subj", "/CN=stamps", "-keyout", "tsa.key", "-out", "tsa.csr")
        openssl(folder, "x509", "-req", "-in", "tsa.csr", "-CA", "root.pem", "-CAkey", "root.key", "-CAcreateserial",
                "-days", "30", "-extfile", "use", "-out", "tsa.pem")  # fmt: skip

    def stamp(self, query: bytes) -> bytes:
        """The reply to a request."""
        (self.folder / "query").write_bytes(query)
        openssl(self.folder, "ts", "-reply", "-config", "tsa.cnf", "-queryfile", "query", "-signer", "tsa.pem",
                "-inkey", "tsa.key", "-out", "reply")  # fmt: skip
        return (self.folder / "reply").read_bytes()

    @property
    def root(self) -> Path:
        """The root's certificate."""
        return self.folder / "root.pem"
