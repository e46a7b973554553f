"""Settings of routers as scenarios: SQM's and qosmate's files of OpenWrt, and those of cake-autorate.

What such a file makes the router type becomes the scenario's queues. The line, the path and the traffic are not in the
file: they are examples to edit. Everything that the scenario leaves out is named with its line.
"""

from pathlib import Path

from goodqueue.errors import UserError, quoted
from goodqueue.files import inputs
from goodqueue.settings import cake_autorate, qosmate, sqm, uci
from goodqueue.settings.draft import Draft

MOST_BYTES = inputs.MIB
"""The largest size of a file of settings."""

ACCEPTED = "OpenWrt's /etc/config/sqm or /etc/config/qosmate, or config.primary.sh of cake-autorate"


def read(file: str) -> Draft:
    """Return the scenario that the settings in ``file`` make. Raises UserError."""
    text = inputs.read_text(Path(file), MOST_BYTES, ACCEPTED)
    if cake_autorate.is_one(text):
        return cake_autorate.draft(file, text)
    sections = uci.sections(file, text)
    kinds = {section.kind for section in sections}
    if "queue" in kinds:
        return sqm.draft(file, sections)
    if {"settings", "hfsc", "cake"} & kinds:
        return qosmate.draft(file, sections)
    found = f"sections of {quoted(', '.join(sorted(kinds)))}" if kinds else "no section"
    raise UserError(file, f"found {found}; accepted: {ACCEPTED}")
