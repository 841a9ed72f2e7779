"""One problem of a manifest, and the closed list of problem codes with a sentence each (OCM §1; decisions O1, O3)."""

from compozy.documents.problems import Span
from compozy.model.diagnostic import Position, Severity
from compozy.model.record import Record

# Every code this package reports. Stable: scripts and suppressions refer to them.
CODES: dict[str, str] = {
    "not-a-mapping": "a manifest is a mapping of fields",
    "missing-field": "a required field is absent",
    "unknown-field": "the field is not part of OCM v1",
    "null-field": "a field is present but null; leave it out instead",
    "wrong-type": "the value has another type than the field takes",
    "not-finite": "NaN, infinities and numbers too large for a double carry no meaning here",
    "out-of-range": "the number lies outside the field's range",
    "not-allowed": "the value is not one of the allowed words",
    "empty": "the text must not be empty",
    "id-grammar": "ids use a-z, 0-9 and - _ . / : and start with a letter or digit",
    "id-path": "an id has an empty, '.' or '..' path segment or ends in '/'",
    "version": 'ocm must be the text "1"',
    "newer-version": "the manifest is written for a newer major version of OCM",
    "url": "an endpoint url starts with http:// or https://",
    "url-required": "this protocol needs a url",
    "unknown-endpoint-key": "the endpoint has a key that OCM v1 does not name",
    "url-credentials": "the url carries a user name or password",
    "url-plain-http": "plain http to a host that is not this machine",
    "duplicate-key": "a key is written twice",
    "duplicate-id": "two manifests of one load have the same id",
    "merge-key": "YAML 1.2 has no merge keys",
    "tag": "only the core schema's own tags have a meaning here",
    "no-manifest": "nothing here is a capability manifest",
    "catalogue-in-folder": "a folder's capability files hold manifests, not lists of them",
    "unreadable": "the file cannot be read",
    "syntax": "the text cannot be read",
    "too-large": "the document exceeds a limit",
    "yaml-1.1": "YAML 1.1 tools read this unquoted value differently",
    "lint-complexity": "the lowest complexity lies above the highest",
    "lint-percentiles": "a lower percentile of the latency lies above a higher one",
    "lint-examples": "routers learn what a capability is for from examples",
    "lint-vague": "the description does not tell this capability from others",
    "lint-near-duplicate": "two capabilities that say the same cannot be told apart",
    "lint-unpriced": "a model without a price counts as free",
    "lint-priced-by-token": "what is paid per call is priced by token",
    "lint-persona-primary": "a persona accompanies another capability",
    "lint-region": "a region that is promised has no endpoint",
    "refused": "the command cannot use what it was given",
    "form": "the file has another form than `ocm fmt` writes",
    "change-breaking": "a request that was served before may now be refused, cost more, wait longer or go elsewhere",
    "change-additive": "a difference that no caller has to care about",
    "native-entry": "an entry without `ocm`, which a command for manifests passes over",
    "not-carried-over": "something has no place on the other side of a conversion",
    "published": "a published folder is not what its index says, or nobody vouches for it",
    "none-fits": "no capability of the catalogue fits the task",
    "confused": "an example of one capability is held for another's",
    "accuracy": "too few examples of the catalogue find their own capability",
    "call": "an endpoint gave no answer",
}


class Problem(Record, frozen=True, kw_only=True):
    """What is wrong, where (`field` is a path such as ``endpoints[2].url``, "" for the root), and what is near."""

    code: str
    field: str
    message: str
    severity: Severity = Severity.ERROR
    suggestion: str = ""
    path: str = ""
    position: Position | None = None


class TextProblem(Record, frozen=True, kw_only=True):
    """A problem of the text itself: in which document of the stream (-1: the whole text), and its span there."""

    problem: Problem
    document: int
    span: Span
