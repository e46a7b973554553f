"""A QUIC transfer for tests: ``server BYTES`` sends this many to each client, ``client`` prints how many arrived."""

import asyncio
import datetime as dt
import ssl
import sys
import tempfile
from pathlib import Path

from aioquic.asyncio import QuicConnectionProtocol, connect, serve
from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.events import QuicEvent, StreamDataReceived
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

PORT = 4433


def certified() -> QuicConfiguration:
    """Return a server's configuration with a self-signed certificate."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "server")])
    now = dt.datetime.now(dt.UTC)
    day = dt.timedelta(days=1)
    made = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
    made = made.serial_number(1).not_valid_before(now - day).not_valid_after(now + day)
    certificate = made.sign(key, hashes.SHA256())
    configuration = QuicConfiguration(is_client=False)
    with tempfile.TemporaryDirectory() as folder:
        chain, private = Path(folder, "chain.pem"), Path(folder, "key.pem")
        chain.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
        form = serialization.PrivateFormat.PKCS8
        private.write_bytes(key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption()))
        configuration.load_cert_chain(chain, private)
    return configuration


class Sender(QuicConnectionProtocol):
    """Answers the end of each stream."""

    size = 0

    def quic_event_received(self, event: QuicEvent) -> None:
        """Send all data once the client has ended its request."""
        if isinstance(event, StreamDataReceived) and event.end_stream:
            self._quic.send_stream_data(event.stream_id, bytes(self.size), end_stream=True)
            self.transmit()


async def server(size: int) -> None:
    """Serve until killed."""
    Sender.size = size
    await serve("::", PORT, configuration=certified(), create_protocol=Sender)
    await asyncio.Event().wait()


async def client() -> None:
    """Fetch, and print the number of bytes."""
    configuration = QuicConfiguration(verify_mode=ssl.CERT_NONE)
    async with connect("server", PORT, configuration=configuration) as connection:
        reader, writer = await connection.create_stream()
        writer.write_eof()
        print(len(await reader.read()))


if __name__ == "__main__":
    asyncio.run(server(int(sys.argv[2])) if sys.argv[1] == "server" else client())
