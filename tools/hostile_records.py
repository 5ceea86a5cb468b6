"""Bytes that no record may be read from with what the refusal says, and spellings that are read. Writes nothing."""

from __future__ import annotations

from typing import NamedTuple

from ragassay.records.strict_json import MAX_DEPTH, MAX_DIGITS


class Hostile(NamedTuple):
    """Bytes, the record that they claim to be, what the refusal must say, and the field that it must name."""

    data: bytes
    record: str
    says: str
    field: str = ""


class Spelling(NamedTuple):
    """Bytes in another spelling than the stored one, and the stored form that they mean."""

    data: bytes
    record: str
    means: bytes


_CASE = b'{"query":"?","query_id":"q"%s}'
_DOCUMENT = b'{"document_id":"d","normaliser":"n","parser":"p","text":"","version":"1"%s}'
_SCORE = b'{"measure":"m","query_id":"q","repeat":0,"status":"value"%s}'


def _case(more: str | bytes, says: str, field: str = "", record: str = "case") -> Hostile:
    more = more.encode() if isinstance(more, str) else more
    return Hostile(_CASE % (b"," + more), record, says, field)


def _document(more: str, says: str, field: str = "") -> Hostile:
    return Hostile(_DOCUMENT % (b"," + more.encode()), "document", says, field)


def _score(more: str, says: str, field: str = "") -> Hostile:
    return Hostile(_SCORE % (b"," + more.encode()), "observation", says, field)


def text() -> dict[str, Hostile]:
    """What is not one JSON object."""
    deep = MAX_DEPTH + 1
    return {
        "empty": Hostile(b"", "case", "not JSON"),
        "blank": Hostile(b" \n", "case", "not JSON"),
        "array": Hostile(b"[]", "case", "expected `object`"),
        "null": Hostile(b"null", "case", "null is not a value"),
        "trailing-text": Hostile(_CASE % b"" + b"{}", "case", "Extra data"),
        "trailing-comma": Hostile(_CASE % b",", "case", "not JSON"),
        "single-quotes": Hostile(b"{'query': '?'}", "case", "not JSON"),
        "comment": Hostile(b'{"query":"?" /* why */}', "case", "not JSON"),
        "control-sign": Hostile(b'{"query":"\x00","query_id":"q"}', "case", "control character"),
        "cut-off": Hostile(b'{"query":"?', "case", "not JSON"),
        "utf-16": Hostile((_CASE % b"").decode().encode("utf-16"), "case", "not UTF-8"),
        "latin-1": Hostile(b'{"query":"caf\xe9","query_id":"q"}', "case", "not UTF-8"),
        "overlong-utf-8": Hostile(b'{"query":"\xc0\xaf","query_id":"q"}', "case", "not UTF-8"),
        "utf-8-surrogate": Hostile(b'{"query":"\xed\xa0\x80","query_id":"q"}', "case", "not UTF-8"),
        "two-byte-order-marks": Hostile(b"\xef\xbb\xbf\xef\xbb\xbf" + _CASE % b"", "case", "not JSON"),
        "deep-arrays": _case('"facts":' + "[" * deep + "]" * deep, "nested deeper"),
        "deep-objects": _case('"notes":' + '{"a":' * deep + "1" + "}" * deep, "nested deeper"),
        "deep-after-quotes": _case('"notes":"\\"]]\\\\","facts":' + "[" * deep, "nested deeper"),
        "unclosed-brackets": Hostile(b"[" * 2_000, "case", "nested deeper"),
        "quote-bomb": Hostile(b'{"query":"' + b'\\"' * 2_000, "case", "not JSON"),
    }


def keys() -> dict[str, Hostile]:
    """Keys twice, in two spellings, unknown."""
    return {
        "key-twice": _case('"query":"!"', "twice", "query"),
        "key-twice-escaped": _case('"qu\\u0065ry":"!"', "twice", "query"),
        "key-twice-deep": _document('"metadata":{"a":1,"a":2}', "twice", "a"),
        "key-twice-in-list": _case('"evidence":[{"id":"e","id":"e","document_id":"d","grade":1}]', "twice", "id"),
        "two-spellings": _case('"queryId":"q"', "two spellings", "query_id"),
        "two-spellings-deep": _case(
            '"evidence":[{"id":"e","document_id":"d","documentId":"d","grade":1}]', "two spellings",
            "evidence[0].document_id",
        ),
        "unknown-field": _case('"evidnce":[]', "did you mean 'evidence'"),
        "unknown-field-deep": _case('"principal":{"id":"u","tenant":"a"}', "did you mean 'tenants'", "principal"),
        "unknown-field-far": _case('"zzz":1', "known fields"),
        "proto-key": _case('"__proto__":{}', "unknown field"),
        "python-name-of-class": _case('"class_":"answerable"', "did you mean 'class'"),
        "escape-code-in-key": _case('"\\u001b[2Jnotes":""', "\\x1b[2J"),
        "surrogate-key": _document('"metadata":{"\\ud800":1}', "lone surrogate", "metadata.\\ud800"),
        "missing-field": Hostile(b'{"query":"?"}', "case", "query_id"),
    }  # fmt: skip


def values() -> dict[str, Hostile]:
    """Numbers, truth values, text, null, digests, instants and words that are not what they stand for."""
    e = '"evidence":[{"id":"e","document_id":"d","grade":%s}]'
    return {
        "nan": _score('"value":NaN', "NaN is not a number"),
        "infinity": _score('"value":-Infinity', "-Infinity is not a number"),
        "overflow": _score('"value":1e999', "not a finite number"),
        "long-number": _score('"value":' + "1" * (MAX_DIGITS + 1), "digits"),
        "long-fraction": _score('"value":0.' + "1" * (MAX_DIGITS + 1), "digits"),
        "leading-zero": _score('"value":01', "not JSON"),
        "integer-2-53": _case(e % 2**53, "2^53", "evidence[0].grade"),
        "integer-minus-2-53": _case(e % -(2**53), "2^53", "evidence[0].grade"),
        "float-that-no-double-is": _score(f'"value":{2**53 + 1}', "2^53", "value"),
        "metadata-2-53": _document(f'"metadata":{{"n":[{2**53}]}}', "2^53", "metadata.n[0]"),
        "metadata-1e20": _document('"metadata":{"n":1e20}', "2^53", "metadata.n"),
        "metadata-object": _document('"metadata":{"n":{"a":1}}', "expected", "metadata[...]"),
        "bool-for-integer": _case(e % "true", "expected `int`", "evidence[0].grade"),
        "bool-for-float": _score('"value":true', "expected `float`", "value"),
        "text-for-integer": _case(e % '"3"', "expected `int`", "evidence[0].grade"),
        "half-for-integer": _case(e % "2.5", "expected `int`", "evidence[0].grade"),
        "integer-for-bool": _case('"must_hold":1', "expected `bool`", "must_hold"),
        "text-for-list": _case('"slice":"recovery"', "expected `array`", "slice"),
        "negative-count": _score('"turn":-1', ">= 0", "turn"),
        "null-field": _case('"notes":null', "null is not a value", "notes"),
        "null-in-list": _case('"slice":[null]', "null is not a value", "slice[0]"),
        "null-in-metadata": _document('"metadata":{"a":null}', "null is not a value", "metadata.a"),
        "lone-surrogate": _case('"notes":"\\ud83d"', "lone surrogate", "notes"),
        "swapped-surrogates": _case('"notes":"\\ude00\\ud83d"', "lone surrogate", "notes"),
        "word-misspelled": _case('"class":"multihop"', "did you mean 'multi_hop'", "class"),
        "word-unknown": _case('"risk":"x"', "allowed: high, moderate, low", "risk"),
        "digest-short": _document('"raw":"sha256:ab"', "is not a digest", "raw"),
        "digest-upper-case": _document(f'"raw":"sha256:{"A" * 64}"', "is not a digest", "raw"),
        "digest-path": _document('"raw":"sha256:../../../etc/passwd"', "is not a digest", "raw"),
        "instant-without-offset": _case('"valid_from":"2026-08-01T00:00:00"', "offset", "valid_from"),
        "instant-not-in-calendar": _case('"valid_from":"2026-02-30"', "calendar", "valid_from"),
        "instant-nanoseconds": _case('"valid_from":"2026-08-01T00:00:00.123456789Z"', "microseconds", "valid_from"),
        "empty-id": Hostile(b'{"query":"?","query_id":""}', "case", "length >= 1", "query_id"),
    }  # fmt: skip


def meaning() -> dict[str, Hostile]:
    """Fields that contradict each other."""
    pair = '"evidence":[{"id":"e","document_id":"d","grade":3},{"id":"%s","document_id":"d","grade":3}]'
    one = pair % "f" + ',"facts":[{"id":"f","any_of":%s}]'
    step = '{"step_id":"s1","name":"n","kind":"fuse"%s}'
    trace = '{"query_id":"q","repeat":0,"as_of":"2026-08-01T00:00:00Z",%s}'
    item = '{"item_id":"i","rank":1,"transform":"slice",%s}'
    return {
        "relevant-and-evidence": _case('"relevant":[],"evidence":[]', "keep one", record="caseline"),
        "unknown-short-form-id": _case(
            '"relevant":[{"document_id":"d","grade":3}],"facts":[{"id":"f","any_of":[["r2"]]}]', "r2", record="caseline"
        ),
        "evidence-id-twice": _case(pair % "e", "one id"),
        "any-of-empty": _case(one % "[]", "any_of is empty", "facts[0]"),
        "any-of-empty-set": _case(one % "[[]]", "always be held", "facts[0]"),
        "any-of-unknown": _case(one % '[["x"]]', "unknown evidence id: x"),
        "any-of-twice": _case(one % '[["e","e"]]', "twice", "facts[0]"),
        "high-risk-without-note": _case('"risk":"high"', "needs a note"),
        "class-against-truth": _case('"class":"unanswerable","answerable":"yes"', "does not allow"),
        "window-backwards": _case('"valid_from":"2026-08-02","valid_until":"2026-08-01"', "before valid_from"),
        "half-a-span": _case(_SPAN, "together", "evidence[0]"),
        "value-without-status": _score('"reason":"why"', "value"),
        "parent-not-before": Hostile(
            (trace % f'"steps":[{step % _OWN_PARENT}]').encode(), "tracecontent", "not before it"
        ),
        "step-id-twice": Hostile(
            (trace % f'"steps":[{step % ""},{step % ""}]').encode(), "tracecontent", "one step_id"
        ),
        "resolved-without-sources": Hostile(
            (trace % f'"context":[{item % _RESOLVED}]').encode(), "tracecontent", "unresolved", "context[0]"
        ),
        "counts-do-not-add-up": Hostile(
            b'{"measure":"m","population":{"class":"answerable"},"aggregation":"macro","status":"undefined",'
            b'"reason":"r","attempted":3,"scored":0,"undefined":1,"missing":1,"error":0}', "estimate", "add up to 2",
        ),
        "value-of-nothing": Hostile(
            b'{"measure":"m","population":{"class":"answerable"},"aggregation":"macro","status":"value","value":1.0,'
            b'"attempted":0,"scored":0,"undefined":0,"missing":0,"error":0}', "estimate", "at least one scored",
        ),
        "two-questions-in-one-trace": Hostile(
            b'{"content":{"query_id":"q","repeat":0,"as_of":"2026-08-01T00:00:00Z"},'
            b'"measurements":{"query_id":"q","repeat":1}}', "trace", "different questions",
        ),
    }  # fmt: skip


_OWN_PARENT = ',"parents":["s1"]'
_SPAN = '"evidence":[{"id":"e","document_id":"d","grade":3,"start":1}]'
_RESOLVED = '"resolution":"exact"'


def hostile() -> dict[str, Hostile]:
    """All, by name."""
    return text() | keys() | values() | meaning()


def spellings() -> dict[str, Spelling]:
    """What readers take besides the stored form."""
    case, score = _CASE % b"", _SCORE % b',"value":1'
    dated = _CASE % b',"valid_from":"2026-08-01T00:00:00Z"'
    graded = b'{"evidence":[{"document_id":"d","grade":3,"id":"e"}],"query":"?","query_id":"q"}'
    filtered = (
        b'{"as_of":"2026-08-01T00:00:00Z","query_id":"q","repeat":0,"steps":[{"filter":{"docType":"faq"},'
        b'"kind":"lexical","name":"n","step_id":"s"}],"versions":{"modelName":"m"}}'
    )
    camel = filtered.replace(b"as_of", b"asOf").replace(b"query_id", b"queryId").replace(b"step_id", b"stepId")
    return {
        "camel-case": Spelling(b'{"queryId":"q","query":"?","validFrom":"2026-08-01T00:00:00Z"}', "case", dated),
        "camel-case-leaves-names": Spelling(camel, "tracecontent", filtered),
        "byte-order-mark": Spelling(b"\xef\xbb\xbf" + case, "case", case),
        "white-space": Spelling(b'\r\n{ "query" : "?",\t"query_id":"q" }\n', "case", case),
        "defaults-written-out": Spelling(b'{"query":"?","query_id":"q","slice":[],"must_hold":false}', "case", case),
        "date": Spelling(dated.replace(b"T00:00:00Z", b""), "case", dated),
        "offset": Spelling(dated.replace(b"T00:00:00Z", b"T02:00:00.000+02:00"), "case", dated),
        "lower-case-time": Spelling(dated.replace(b"T00:00:00Z", b"t00:00:00z"), "case", dated),
        "float-for-integer": Spelling(graded.replace(b":3,", b":3.0,"), "case", graded),
        "integer-for-float": Spelling(_SCORE % b',"value":1.0', "observation", score),
        "minus-zero": Spelling(_SCORE % b',"value":-0.0', "observation", _SCORE % b',"value":0'),
        "minus-zero-integer": Spelling(_SCORE % b',"value":-0', "observation", _SCORE % b',"value":0'),
        "exponent": Spelling(_SCORE % b',"value":1.0E+20', "observation", _SCORE % b',"value":100000000000000000000'),
        "escaped-text": Spelling(
            b'{"query":"\\u00e9\\ud83d\\ude00\\/","query_id":"q"}',
            "case",
            '{"query":"é\U0001f600/","query_id":"q"}'.encode(),
        ),
        "key-order": Spelling(b'{"query_id":"q","query":"?"}', "case", case),
    }
