"""mach (the crate cf-mach): a responsiveness client, against ``server.mjs``, which serves HTTP over TLS."""

import subprocess
from pathlib import Path
from typing import Any

from goodqueue.calibrate.programs.program import SERVER, Claim, Port, Program, Told
from goodqueue.errors import UserError
from goodqueue.files import inputs

PORT = 4443

_SERVER = Path(__file__).with_name("server.mjs")

UNSENT_BYTES = 131_072
"""What a socket of either end keeps written and not sent (TCP_NOTSENT_LOWAT), as servers for such tests set it."""

TEST_MS = 20_000
"""The longest time of a test in each direction: the algorithm's default. The command's own default is 12 s."""

_BECOME = 'echo "$0" > /proc/sys/net/ipv4/tcp_notsent_lowat && RUST_BACKTRACE=0 exec "$@"'
"""Sets the sysctl of an end's network, and becomes the program. The last words of an error are then its reason."""


def _at_an_end(*words: str) -> list[str]:
    return ["sh", "-c", _BECOME, str(UNSENT_BYTES), *words]


_CERTIFICATE, _NONE = "certificate.pem", "none"


def _prepare(folder: Path) -> None:
    """Make the server's certificate, which nobody signed. Signing with it takes a tenth of the time that RSA takes."""
    (folder / _NONE).mkdir()
    kind = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"]
    words = ["openssl", "req", "-x509", *kind, "-nodes", "-days", "1", "-subj", f"/CN={SERVER}"]
    files = ["-keyout", str(folder / "key.pem"), "-out", str(folder / _CERTIFICATE)]
    subprocess.run([*words, *files], check=True, capture_output=True)


def _server(folder: Path) -> list[str]:
    return _at_an_end("node", str(_SERVER), str(PORT), str(folder))


def _client(_: float, folder: Path) -> list[str]:
    """Return the command of mach.

    It reads all certificates that it trusts for each connection: those of Debian take it 12 ms. Here there is one.
    """
    url = f"https://{SERVER}:{PORT}"
    places = ["--large", f"{url}/large", "--small", f"{url}/small", "--upload", f"{url}/upload"]
    trusted = ["env", f"SSL_CERT_FILE={folder / _CERTIFICATE}", f"SSL_CERT_DIR={folder / _NONE}"]
    options = ["--insecure", "--disable-aim-scores", "--test-duration", str(TEST_MS)]
    return _at_an_end(*trusted, "mach", "rpm", *options, *places)


def _read(folder: Path) -> Told:
    text = PROGRAM.said(folder)
    try:
        report: Any = inputs.from_json(text[text.index("{") :])
        down, up = report["download"], report["upload"]
        return {
            "idle_ms": float(report["unloaded_latency_ms"]),
            "loaded_ms": float(down["loaded_latency_ms"]),
            "rpm": float(down["rpm"]),
            "up_rpm": float(up["rpm"]),
        }
    except (ValueError, KeyError, TypeError):
        where = str(PROGRAM.output(folder))
        raise UserError(where, "found no report; accepted: the JSON that mach rpm prints") from None


PROGRAM = Program(
    name="mach",
    needs=["mach", "node", "openssl"],
    package="cargo install cf-mach, and apt-get install nodejs openssl",
    version=["mach", "--version"],
    client=_client,
    server=_server,
    prepare=_prepare,
    port=Port("tcp", PORT),
    read=_read,
    claims=[
        Claim(
            "idle_ms", "latency, idle, ms", "base_rtt_ms",
            "the base RTT",
            "It is measured in silence, before the load: it is the path's, and says nothing of the queue.",
        ),
        Claim(
            "loaded_ms", "latency, loaded, down, ms", "round_trip_p50_ms",
            "base RTT and the median delay of packets in the queue down",
            "A request waits behind what the server has written and TCP has not sent: the sender's buffer counts.",
        ),
        Claim(
            "rpm", "RPM down", "round_trips_per_minute",
            "a minute over the base RTT and the median delay of packets in the queue down",
            "Half of it is the time of requests on loaded connections, which is the server's as much as the queue's.",
        ),
    ],
)  # fmt: skip
