"""A checksum of a run's whole file, inside the file. It detects a flipped bit before anything is read.

Parquet checks its pages, but not its footer, which says where they are, what they hold and what is null. The footer
takes pairs of key and value. One of them is the SHA-256 of all bytes of the file, with its own digits taken as zeros.
Readers that do not know it skip it. Older files have no checksum, and are read with fewer checks.
"""

import hashlib
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

NAMES = ("goodqueue.sealed", "goodqueue.sha256")
"""The keys. There are two, so that no flipped bit makes a file look like an older one. The second has the digits."""

_DIGITS = re.compile(NAMES[1].encode().replace(b".", rb"\.") + b"..([0-9a-f]{64})", re.DOTALL)
"""The key, the bytes with which Thrift's compact protocol begins a text of 64 bytes, and the text."""


def write(table: "pa.Table") -> bytes:
    """Return the Parquet file of ``table``, sealed. The same table gives the same bytes."""
    import pyarrow as pa
    from pyarrow import parquet

    buffer = pa.BufferOutputStream()
    # For a table of one row, dictionaries and statistics would be the larger part of the file.
    # All types are Parquet's own, so no copy of the schema is needed. It would add half of the file's size.
    plain = {"use_dictionary": False, "write_statistics": False, "store_schema": False}
    with parquet.ParquetWriter(buffer, table.schema, compression="zstd", write_page_checksum=True, **plain) as writer:
        writer.write_table(table)
        writer.add_key_value_metadata(dict(zip(NAMES, ("1", "0" * 64), strict=True)))
    data: bytes = buffer.getvalue().to_pybytes()
    begin, end = _place(data)
    return data[:begin] + hashlib.sha256(data).hexdigest().encode() + data[end:]


def is_sealed(data: bytes) -> bool:
    """Return whether a file has a checksum, right or wrong."""
    return any(name.encode() in data for name in NAMES)


def holds(data: bytes) -> bool:
    """Return whether the checksum of a sealed file matches its bytes."""
    begin, end = _place(data)
    digest = hashlib.sha256(data[:begin] + b"0" * (end - begin) + data[end:]).hexdigest()
    return data[begin:end] == digest.encode()


def _place(data: bytes) -> tuple[int, int]:
    """Return where the digits begin and end, or (0, 0) if there are none."""
    spans = [match.span(1) for match in _DIGITS.finditer(data)]
    return spans[-1] if spans else (0, 0)  # the footer comes last
