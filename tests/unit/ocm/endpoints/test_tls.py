"""Encrypted endpoints: strangers' certificates are refused, a private authority and mtls work (issue 8 item 6)."""

import datetime
import ipaddress
import ssl
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from compozy.ocm import bind_endpoint
from compozy.ocm.endpoints.calls import Options
from compozy.ocm.endpoints.errors import EndpointFailed, EndpointRefused
from tests.kit.endpoint_server import EndpointServer, endpoint_server

DAY = datetime.timedelta(days=1)


class Pair(NamedTuple):
    certificate: x509.Certificate
    key: ec.EllipticCurvePrivateKey

    def write(self, folder: Path, name: str) -> tuple[Path, Path]:
        cert, key = folder / f"{name}.pem", folder / f"{name}.key"
        cert.write_bytes(self.certificate.public_bytes(serialization.Encoding.PEM))
        encoding, form = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
        key.write_bytes(self.key.private_bytes(encoding, form, serialization.NoEncryption()))
        return cert, key


def issue(name: str, authority: Pair | None = None) -> Pair:
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.datetime.now(datetime.UTC)
    signer = authority.key if authority else key
    is_ca = authority is None
    # From Python 3.13 on certificates are held to RFC 5280: key identifiers, and usages of an authority.
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(authority.certificate.subject if authority else subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - DAY)
        .not_valid_after(now + DAY)
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), False)
        .add_extension(x509.BasicConstraints(ca=is_ca, path_length=None), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key()), critical=False)
        .add_extension(
            x509.KeyUsage(
                digital_signature=True,
                key_cert_sign=is_ca,
                crl_sign=is_ca,
                content_commitment=False,
                key_encipherment=False,
                data_encipherment=False,
                key_agreement=False,
                encipher_only=False,
                decipher_only=False,
            ),
            critical=True,
        )
    )
    return Pair(builder.sign(signer, hashes.SHA256()), key)


class Place(NamedTuple):
    server: EndpointServer
    folder: Path
    ca: Path

    def call(self, auth: str = "", **options: object) -> str:
        url = self.server.url.replace("http:", "https:") + "/echo"
        row = {"protocol": "http", "url": url, **({"auth": auth} if auth else {})}
        document = {"ocm": "1", "id": "a", "kind": "tool", "description": "d", "endpoints": [row]}
        return bind_endpoint(document, options=Options(timeout=20, **options))("hello").text  # type: ignore[arg-type]


@pytest.fixture(params=[False, True], ids=["tls", "mtls"])
def place(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Place]:
    authority = issue("our authority")
    ca, _ = authority.write(tmp_path, "ca")
    cert, key = issue("server", authority).write(tmp_path, "server")
    issue("client", authority).write(tmp_path, "client")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(cert, key)
    if request.param:
        context.load_verify_locations(ca)
        context.verify_mode = ssl.CERT_REQUIRED
    with endpoint_server() as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        yield Place(server, tmp_path, ca)


@pytest.mark.parametrize("place", [False], indirect=True)
def test_a_private_authority_is_trusted_when_named_only(place: Place) -> None:
    assert place.call(ca_file=place.ca) == "you said hello"
    with pytest.raises(EndpointFailed) as caught:
        place.call()
    assert caught.value.code == "endpoint_unreachable" and "certificate" in caught.value.message.lower()


@pytest.mark.parametrize("place", [True], indirect=True)
def test_mtls_shows_the_named_certificate(place: Place) -> None:
    own = {"certificate": place.folder / "client.pem", "certificate_key": place.folder / "client.key"}
    assert place.call("mtls", ca_file=place.ca, **own) == "you said hello"
    with pytest.raises(EndpointFailed):
        place.call(ca_file=place.ca)


@pytest.mark.parametrize("place", [False], indirect=True)
def test_a_certificate_that_cannot_be_used_is_refused_by_name(place: Place) -> None:
    for own in ({"certificate": place.folder / "none.pem"}, {"certificate": place.ca}):
        with pytest.raises(EndpointRefused, match="the certificate cannot be used"):
            place.call("mtls", ca_file=place.ca, **own)
