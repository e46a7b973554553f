"""A fixture of pytest for projects that test a transport or an application behind links, in virtual time.

In the project's ``conftest.py``: ``from goodqueue.testing import virtual_link``. Then a test has it as an argument:

    def test_a_file_arrives(virtual_link):
        done = virtual_link(["python3", "server.py"], ["python3", "client.py"], rate="10mbit", rtt="50ms")
        assert done.status == 0 and "100 %" in done.stdout

A link takes about two seconds, needs neither root nor a network, and gives the same bytes each time.
"""

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from goodqueue.api.link import Linked, link


@pytest.fixture(scope="session")
def virtual_link() -> Callable[..., Linked]:
    """Return a function that runs a server and a client behind a link, with the keyword arguments of `goodqueue.link`.

    Where there is no Linux for virtual time the test is skipped, and the reason is the command that builds it.
    """

    def run(server: Sequence[str], client: Sequence[str], **path: Any) -> Linked:
        from goodqueue.engines.live.virtual import machine  # only Linux can import it

        if (why := machine.why_not(path.get("kernel"))) is not None:
            pytest.skip(f"goodqueue: {why}")
        return link(*server, "--", *client, virtual=True, progress=False, **path)

    return run
