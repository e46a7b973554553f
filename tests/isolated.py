"""Downloads of two users behind `goodqueue link`: the server, or both users, who have an address each.

Prints the share of the first user's single connection beside the second user's three.
"""

import socket
import subprocess
import sys
import time
from threading import Thread

PORT, ALICE, BOB = 5000, "100.64.1.2", "100.64.1.77"
WARMUP_S, MEASURED_S = 1.0, 3.0


def serve() -> None:
    """Send to everybody who connects, as fast as possible."""
    listener = socket.create_server(("", PORT))

    def send(made: socket.socket) -> None:
        try:
            while True:
                made.sendall(bytes(1 << 16))
        except OSError:
            made.close()

    while True:
        Thread(target=send, args=(listener.accept()[0],), daemon=True).start()


def download(second: str) -> None:
    """Download once from one address, and three times from the address ``second``."""
    if second != ALICE:
        subprocess.run(["ip", "address", "add", f"{second}/32", "dev", "path"], check=True)
    counts = [0] * 4
    begin = time.monotonic() + WARMUP_S

    def take(number: int, own: str) -> None:
        made = socket.create_connection(("100.64.1.1", PORT), source_address=(own, 0))
        while (now := time.monotonic()) < begin + MEASURED_S:
            got = len(made.recv(1 << 16))
            counts[number] += got if now >= begin else 0

    threads = [Thread(target=take, args=one) for one in enumerate([ALICE, second, second, second])]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(f"share {counts[0] / sum(counts):.3f}", flush=True)


if sys.argv[1] == "server":
    serve()
else:
    download(sys.argv[2])
