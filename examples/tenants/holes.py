"""The holes that a twin of the service can have: one a twin, each as it is found in services. The service has none."""

from __future__ import annotations

HOLES: dict[str, str] = {
    "filter_after_ranking": "the dense arm ranks everybody's passages and filters what it found",
    "rerank_unfiltered": "the reranker widens its candidates with neighbours that nobody filtered",
    "lexical_unfiltered": "the lexical arm forgot the filter that the dense arm has",
    "summary_unfiltered": "the index of summaries has no filter",
    "cache_shared": "the semantic cache is keyed by the question alone",
    "memory_shared": "conversations are kept by their id, whoever asks",
    "header_over_token": "the header X-Tenant is believed before the token",
    "body_over_token": "a tenant in the body is believed before the token",
    "token_none": "a token with the algorithm none is accepted",
    "token_rs_to_hs": "a token signed by HMAC with the public key as its secret is accepted",
    "token_kid_path": "the key's id in the token is opened as a path",
    "token_expired": "nobody looks at the time in the token",
    "groups_absent_all": "a token without the claim groups may read all that its company has",
    "stale_role": "the groups of a session are those of its first request",
    "tenant_folded": "the names of companies are compared after folding their case",
    "filter_wildcard": "a filter of the caller may name a tenant, with wildcards",
    "deleted_indexed": "a deleted document stays in the index",
    "acl_not_propagated": "a change of permissions does not reach the index",
    "title_leak": "related titles are looked for among everybody's documents",
    "citation_leak": "citations are taken from the unfiltered ranking",
    "error_text_leak": "a refused document is named in the error",
    "count_leak": "the count of hits is taken before the filter",
    "latency_leak": "every candidate of others costs a call to the permission service",
    "batch_mixes": "the batch connection keeps the tenant of whoever came first",
    "owner_bypasses_rls": "the service connects as the owner of the tables, for whom row-level security does not count",
    "debug_trace": "a debug header brings the unfiltered candidates along",
}
"""Name -> what is wrong."""
