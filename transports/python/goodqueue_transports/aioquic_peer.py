"""One end of a connection of aioquic. The extension calls it, with times of the run in seconds.

aioquic has no interface for its window, its counters and its backlog, so this module reads its private attributes.
"""

import json
import ssl
from collections.abc import Callable
from typing import Any

from aioquic.buffer import Buffer
from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.connection import QuicConnection
from aioquic.quic.events import ConnectionTerminated, HandshakeCompleted, StreamDataReceived
from aioquic.quic.logger import QLOG_VERSION, QuicLogger, QuicLoggerTrace
from aioquic.quic.packet import pull_quic_header
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from cryptography.x509 import load_pem_x509_certificate

ADDRESSES = (("10.0.0.1", 50_000), ("10.0.0.2", 443))
"""The client's and the server's."""

BACKLOG_BYTES = 4 << 20
"""The most bytes that wait in a stream: aioquic itself takes without bound."""


class _Trace(QuicLoggerTrace):
    """Writes each event as a record of JSON-SEQ, at the run's time: aioquic's own trace stamps the wall clock's."""

    def __init__(self, write: Callable[[str], None], *, is_client: bool, odcid: bytes) -> None:
        super().__init__(is_client=is_client, odcid=odcid)
        self.now = 0.0
        self._write_text = write
        head = self.to_dict()
        del head["events"]
        self._write(
            {"qlog_format": "JSON-SEQ", "qlog_version": QLOG_VERSION, "title": "goodqueue, aioquic", "trace": head}
        )

    def log_event(self, *, category: str, event: str, data: dict[str, Any]) -> None:
        """Write an event."""
        self._write({"time": self.encode_time(self.now), "name": f"{category}:{event}", "data": data})

    def _write(self, record: dict[str, Any]) -> None:
        self._write_text(f"\x1e{json.dumps(record)}\n")


class _Logger(QuicLogger):
    """Makes the trace of the one connection."""

    def __init__(self, write: Callable[[str], None]) -> None:
        super().__init__()
        self._write = write
        self.trace: _Trace | None = None

    def start_trace(self, is_client: bool, odcid: bytes) -> QuicLoggerTrace:
        """Begin the trace."""
        self.trace = _Trace(self._write, is_client=is_client, odcid=odcid)
        self._traces.append(self.trace)
        return self.trace

    def at(self, now: float) -> None:
        """Set the time of the events up to the next call."""
        if self.trace is not None:
            self.trace.now = now


class AioquicPeer:
    """One end of a connection."""

    def __init__(
        self,
        is_client: bool,
        cc: str,
        windows: int,
        tls: tuple[bytes, bytes, str, str],
        qlog: Callable[[str], None] | None,
    ) -> None:
        """Make an end.

        ``windows`` is the flow control's bytes, ``tls`` has certificate, key, name and protocol, and ``qlog``
        writes text to its qlog.
        """
        certificate, key, name, alpn = tls
        self._configuration = QuicConfiguration(
            is_client=is_client,
            alpn_protocols=[alpn],
            congestion_control_algorithm=cc,
            max_data=windows,
            max_stream_data=windows,
        )
        self._logger = None if qlog is None else _Logger(qlog)
        self._configuration.quic_logger = self._logger
        if is_client:
            self._configuration.server_name = name
            self._configuration.load_verify_locations(cadata=certificate)
            self._configuration.verify_mode = ssl.CERT_REQUIRED
        else:
            self._configuration.certificate = load_pem_x509_certificate(certificate)
            self._configuration.private_key = load_pem_private_key(key, password=None)
        self._is_client = is_client
        self._peer = ADDRESSES[1 if is_client else 0]
        self._quic: QuicConnection | None = None
        self._stream: int | None = None
        self._read = 0
        self._sent = self._lost = 0
        self.established = False
        self.failure: str | None = None
        if is_client:
            self._quic = self._watched(QuicConnection(configuration=self._configuration))

    def _at(self, now: float) -> None:
        if self._logger is not None:
            self._logger.at(now)

    def _watched(self, quic: QuicConnection) -> QuicConnection:
        """Count the packets that ``quic`` sends, and those that it takes for lost."""
        recovery = quic._loss
        on_sent: Callable[..., None] = recovery.on_packet_sent
        on_lost: Callable[..., None] = recovery._on_packets_lost

        def sent(**arguments: Any) -> None:
            self._sent += 1
            on_sent(**arguments)

        def lost(**arguments: Any) -> None:
            packets = tuple(arguments["packets"])
            self._lost += len(packets) if arguments.get("congestion_event", True) else 0
            on_lost(**(arguments | {"packets": packets}))

        recovery.on_packet_sent = sent  # type: ignore[method-assign]
        recovery._on_packets_lost = lost  # type: ignore[method-assign]
        return quic

    def connect(self, now: float) -> None:
        """Begin the handshake of a client."""
        self._at(now)
        assert self._quic is not None
        self._quic.connect(self._peer, now=now)

    def receive(self, now: float, data: bytes) -> None:
        """Take a datagram that has arrived."""
        self._at(now)
        if self._quic is None:
            header = pull_quic_header(Buffer(data=data), host_cid_length=self._configuration.connection_id_length)
            made = QuicConnection(
                configuration=self._configuration, original_destination_connection_id=header.destination_cid
            )
            self._quic = self._watched(made)
        self._quic.receive_datagram(data, self._peer, now=now)
        self._take_events()

    def transmit(self, now: float) -> list[bytes]:
        """Return the datagrams that may be sent now."""
        self._at(now)
        if self._quic is None:
            return []
        return [data for data, _ in self._quic.datagrams_to_send(now=now)]

    def timeout(self) -> float | None:
        """Return when `expire` is due."""
        return None if self._quic is None else self._quic.get_timer()

    def expire(self, now: float) -> None:
        """Handle the timer."""
        self._at(now)
        if self._quic is not None:
            self._quic.handle_timer(now=now)
            self._take_events()

    def _take_events(self) -> None:
        assert self._quic is not None
        while (event := self._quic.next_event()) is not None:
            match event:
                case HandshakeCompleted():
                    self.established = True
                case StreamDataReceived():
                    self._read += len(event.data)
                case ConnectionTerminated():
                    self.failure = event.reason_phrase or f"error {event.error_code:#x}"

    def write(self, wanted: int) -> int:
        """Write up to ``wanted`` bytes, and return how many were taken."""
        if self._quic is None or not self.established or self.failure is not None:
            return 0
        if self._stream is None:
            self._stream = self._quic.get_next_available_stream_id(is_unidirectional=True)
            waiting = 0
        else:
            waiting = len(self._quic._streams[self._stream].sender._buffer)
        taken = max(0, min(wanted, BACKLOG_BYTES - waiting))
        if taken > 0:
            self._quic.send_stream_data(self._stream, bytes(taken))
        return taken

    def finish(self) -> None:
        """End the stream behind what was written."""
        if self._quic is not None and self._stream is not None:
            self._quic.send_stream_data(self._stream, b"", end_stream=True)

    def abort(self) -> None:
        """End the stream at once."""
        if self._quic is not None and self._stream is not None:
            self._quic.reset_stream(self._stream, 0)

    def read(self) -> int:
        """Return the number of bytes that arrived in order since the last call."""
        read, self._read = self._read, 0
        return read

    def sample(self) -> tuple[float, int]:
        """Return the smoothed RTT in seconds, and the congestion window in bytes."""
        if self._quic is None:
            return 0.0, 0
        return self._quic._loss._rtt_smoothed, self._quic._loss.congestion_window

    def mtu(self) -> int:
        """Return the bytes of the largest datagram."""
        return 0 if self._quic is None else self._quic._max_datagram_size

    def totals(self) -> tuple[int, int]:
        """Return how many packets were sent, and how many were taken for lost."""
        return self._sent, self._lost
