"""Tests a transport over ten links in seconds, without root: aioquic sends a megabyte through each.

`pytest test_quic.py` runs it, where `pip install goodqueue aioquic pytest` and `goodqueue kernel image --machine
process` have run. The server and the client are this same file. The times are those of the links, not of this machine.
"""

import asyncio
import datetime as dt
import os
import ssl
import sys
import time
from pathlib import Path

import pytest

from goodqueue.testing import virtual_link

__all__ = ["virtual_link"]

BYTES = 1_000_000
LINKS = [
    ("1mbit", "20ms", "fq_codel"),
    ("1mbit", "200ms", "pfifo limit 20"),
    ("5mbit", "50ms", "codel"),
    ("5mbit", "50ms", "pie"),
    ("10mbit", "10ms", "pfifo limit 100"),
    ("10mbit", "100ms", "fq_codel"),
    ("20mbit", "20ms", "cake bandwidth 19mbit"),
    ("20mbit", "300ms", "pfifo limit 200"),
    ("50mbit", "30ms", "fq_pie"),
    ("100mbit", "40ms", "dualpi2"),
]


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a certificate. It has to be valid in 2020, when all links in virtual time begin."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "server")])
    made = x509.CertificateBuilder(name, name, key.public_key(), 1)
    begin, end = (dt.datetime(year, 1, 1, tzinfo=dt.UTC) for year in (2019, 2039))
    made = made.not_valid_before(begin).not_valid_after(end)
    folder = tmp_path_factory.mktemp("certificate")
    pem = serialization.Encoding.PEM
    private = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    (folder / "key.pem").write_bytes(private)
    (folder / "certificate.pem").write_bytes(made.sign(key, hashes.SHA256()).public_bytes(pem))
    return folder


@pytest.mark.parametrize(("rate", "rtt", "qdisc"), LINKS)
def test_a_megabyte_arrives_in_time(virtual_link, certificate: Path, rate: str, rtt: str, qdisc: str) -> None:
    this = [sys.executable, __file__]
    done = virtual_link([*this, "server", str(certificate)], [*this, "client"], rate=rate, rtt=rtt, qdisc=qdisc)
    assert done.status == 0, done.stderr
    received, seconds = done.stdout.split()
    assert int(received) == BYTES
    at_best, round_trip = BYTES * 8 / (float(rate.removesuffix("mbit")) * 1e6), float(rtt.removesuffix("ms")) / 1e3
    assert at_best + 2 * round_trip < float(seconds) < 1.5 * at_best + 10 * round_trip


# --- the programs ----------------------------------------------------------------------------------------------------


async def serve(folder: str) -> None:
    """Answer each stream with `BYTES` bytes."""
    from aioquic.asyncio import serve as listen
    from aioquic.quic.configuration import QuicConfiguration

    configuration = QuicConfiguration(is_client=False, alpn_protocols=["example"])
    configuration.load_cert_chain(f"{folder}/certificate.pem", f"{folder}/key.pem")

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.write(bytes(BYTES))
        writer.write_eof()

    def started(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        tasks.add(asyncio.get_running_loop().create_task(answer(reader, writer)))

    tasks: set[asyncio.Task[None]] = set()
    await listen(os.environ["GOODQUEUE_SERVER"], 4433, configuration=configuration, stream_handler=started)
    await asyncio.Event().wait()


async def ask() -> None:
    """Fetch the bytes, and print their number and the seconds that it took."""
    from aioquic.asyncio import connect
    from aioquic.quic.configuration import QuicConfiguration

    configuration = QuicConfiguration(alpn_protocols=["example"], verify_mode=ssl.CERT_NONE, server_name="server")
    began = time.monotonic()
    async with connect("server", 4433, configuration=configuration) as client:
        reader, writer = await client.create_stream()
        writer.write_eof()
        received = await reader.read()
        seconds = time.monotonic() - began  # to close a connection takes three times as long as a probe's timeout
    print(len(received), round(seconds, 6))


if __name__ == "__main__":
    asyncio.run(serve(sys.argv[2]) if sys.argv[1] == "server" else ask())
