"""`[probe]`: who asks, whom, where, with which credentials, how often and how fast. Reads no file and asks nothing."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta

from ragassay.errors import UsageError
from ragassay.probe.wording import LANGUAGES
from ragassay.records.base import Record, require
from ragassay.records.case import Principal
from ragassay.records.probe import Endpoint

SectionName = Annotated[str, Meta(min_length=1, max_length=200)]


class CredentialSource(Record, frozen=True, kw_only=True):
    """Where a credential comes from: one of three. It is sent, and stored nowhere."""

    env: SectionName | None = None
    """The name of an environment variable."""
    command: tuple[str, ...] = ()
    """A program that reads {"principal", "variant", "session"} as JSON and prints the credential."""
    url: str | None = None
    """An address that answers the same JSON with {"credential": "..."}."""

    def __post_init__(self) -> None:
        given = (self.env is not None) + bool(self.command) + (self.url is not None)
        require(given == 1, "give exactly one of env, command and url")


class PrincipalSettings(Record, frozen=True, kw_only=True):
    """[probe.principals.NAME]"""

    tenants: tuple[str, ...]
    roles: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    credential: CredentialSource | None = None
    """Left out: from [probe.issuer]."""

    def __post_init__(self) -> None:
        require(len(self.tenants) == 1, "a principal of a probe has one tenant")


class StandingSettings(Record, frozen=True, kw_only=True):
    """[probe.standing]: what the assessment holds for besides the corpus; a word, or "file:NAME" for its digest."""

    embedding: SectionName
    index: SectionName
    policy: SectionName


class ProbeSettings(Record, frozen=True, kw_only=True):
    """[probe]"""

    principals: dict[str, PrincipalSettings]
    endpoints: dict[str, str]
    """The only addresses that are asked: `ask`, `plant`, `remove`, and `batch`, `document` (with {id}), `permit`,
    `revoke` if there are."""
    standing: StandingSettings
    operator: CredentialSource | None = None
    """Of who may plant and remove."""
    issuer: CredentialSource | None = None
    """Makes credentials for every principal, and wrong ones by name."""
    name: SectionName = "tenants"
    key: SectionName = "RAGASSAY_PROBE_KEY"
    """The environment variable that holds the key of the canaries, 16 bytes or more."""
    documents: Annotated[int, Meta(ge=1, le=200)] = 4
    """Canaries a tenant."""
    oracle_documents: Annotated[int, Meta(ge=0, le=1000)] = 40
    """Further ones of all tenants together, each held against a decoy: status, words, counts, scores and time need 30
    documents at least to be evaluated."""
    repeats: Annotated[int, Meta(ge=1, le=100)] = 1
    languages: tuple[str, ...] = LANGUAGES
    top_k: Annotated[int, Meta(ge=1)] = 10
    most_requests: Annotated[int, Meta(ge=1)] = 20_000
    """A suite that would need more is refused, and no more are sent."""
    per_second: Annotated[float, Meta(gt=0, le=1000)] = 20.0
    timeout_s: Annotated[float, Meta(gt=0, le=600)] = 30.0
    wanted_bound: Annotated[float, Meta(gt=0, lt=1)] = 0.001
    headers: dict[str, str] = {}
    """Sent with every request; no secret."""
    debug_headers: dict[str, str] = {}
    """Sent to see whether they bring more than they should; left out: X-Debug and X-Trace, both 1."""
    operator_header: SectionName = "Authorization"
    """Carries the operator's credential; in Authorization behind the word Bearer."""
    tenant_header: SectionName = "X-Tenant"
    """Sent with a foreign tenant, to see whether it is believed before the token."""
    tenant_field: SectionName = "tenant"
    """The same in the body, and in filters."""
    judge: dict[str, Any] = {}
    """[probe.judge]: a model for `ragassay probe advise`, with the keys of a judge of kind *llm*."""

    def people(self) -> tuple[Principal, ...]:
        """Who asks."""
        return tuple(
            Principal(id=name, tenants=one.tenants, roles=one.roles, groups=one.groups)
            for name, one in self.principals.items()
        )


NEEDED: tuple[Endpoint | str, ...] = ("ask", "plant", "remove")
KNOWN = ("ask", "batch", "document", "plant", "remove", "permit", "revoke")


def check(settings: ProbeSettings) -> None:
    """UsageError, with its field, for what no type says."""
    tenants = {one.tenants[0] for one in settings.principals.values()}
    if len(tenants) < 2:
        raise UsageError(
            "principals of one tenant only", field="probe.principals", hint="name principals of at least two tenants"
        )
    for name in NEEDED:
        if name not in settings.endpoints:
            raise UsageError(f"no endpoint {name}", field="probe.endpoints", hint=f"{name} = an address")
    for name in settings.endpoints:
        if name not in KNOWN:
            raise UsageError(
                f"an unknown endpoint {name!r}", field=f"probe.endpoints.{name}", hint=f"one of {', '.join(KNOWN)}"
            )
    for language in settings.languages:
        if language not in LANGUAGES:
            hint = f"of {', '.join(LANGUAGES)}"
            raise UsageError(f"no questions in {language!r}", field="probe.languages", hint=hint)
    for name, one in settings.principals.items():
        if one.credential is None and settings.issuer is None:
            field = f"probe.principals.{name}.credential"
            raise UsageError("no credential and no issuer", field=field, hint='credential = { env = "TOKEN" }')
