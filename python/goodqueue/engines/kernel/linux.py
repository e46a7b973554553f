"""The kernel of an image, and its modules: unpacked, and with the two tables of modprobe."""

import lzma
import re
import shutil
import sys
import zlib
from pathlib import Path

from goodqueue.errors import UserError

MODULE = re.compile(
    r"usr/lib/modules/[^/]+/kernel/(net|lib|crypto|drivers/(firmware|net/(veth|macvlan)|virtio)|fs/(9p|fscache|netfs))\b.*\.ko(\.xz)?$"
)
KERNEL = re.compile(r"boot/vmlinuz-(?P<old>[^/]+)$|usr/lib/modules/(?P<new>[^/]+)/vmlinuz$")
"""The kernel. Since Debian's 7.x it lies among its modules."""
_LOADED = re.compile(
    r"(sch_\w+|cls_\w+|em_\w+|tcp_\w+|inet_diag|veth|macvlan|9p|9pnet_virtio|qemu_fw_cfg|virtio_mmio)$"
)
"""Modules of the image, besides those that they depend on. The kernel loads most of them itself on demand."""


def kernel(root: Path, target: Path) -> str:
    """Write the uncompressed kernel, which boots without unpacking itself, and return its release."""
    kernels = {path: match for path in root.rglob("vmlinuz*") if (match := KERNEL.match(str(path.relative_to(root))))}
    if len(kernels) != 1:
        raise UserError("kernel image", f"found {len(kernels)} kernels in the packages; accepted: one")
    ((path, match),) = kernels.items()
    target.write_bytes(unpacked(path.read_bytes()))
    path.unlink()
    return match["old"] or match["new"]


def unpacked(kernel: bytes) -> bytes:
    """Return the ELF program in a bzImage (Linux's x86 boot protocol, 2.08: ``payload_offset`` and ``payload_length``).

    Raises UserError for a compression that Debian's kernels do not have.
    """
    if kernel[0x202:0x206] != b"HdrS":
        raise UserError("kernel image", "found a kernel that is no bzImage; accepted: Debian's for amd64")
    sectors = kernel[0x1F1] or 4
    start = (sectors + 1) * 512 + int.from_bytes(kernel[0x248:0x24C], "little")
    payload = kernel[start : start + int.from_bytes(kernel[0x24C:0x250], "little")]
    if payload.startswith(b"\xfd7zXZ\0"):
        return lzma.LZMADecompressor(lzma.FORMAT_XZ).decompress(payload)
    if payload.startswith(b"\x1f\x8b"):
        return zlib.decompressobj(wbits=31).decompress(payload)
    if payload.startswith(b"\x28\xb5\x2f\xfd"):
        return _zstd(payload)
    problem = f"found a kernel whose payload begins with {payload[:4].hex()}"
    raise UserError("kernel image", f"{problem}; accepted: one that xz, gzip or zstd made")


def _zstd(payload: bytes) -> bytes:
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd
    return zstd.ZstdDecompressor().decompress(payload)  # which leaves what follows the frame


def modules(root: Path, release: str) -> None:
    """Keep only the modules that may be loaded, uncompressed, and write modprobe's two tables."""
    folder = root / "usr/lib/modules" / release
    by_name = {path.name.split(".")[0].replace("-", "_"): path for path in folder.rglob("*.ko*")}
    contents: dict[str, bytes] = {}
    new = {name for name in by_name if _LOADED.match(name)}
    if missing := {"veth", "macvlan", "9p", "qemu_fw_cfg", "virtio_mmio", "sch_htb", "sch_netem"} - new:
        raise UserError("kernel image", f"Linux {release} has no modules {', '.join(sorted(missing))}")
    while new:
        for name in new:
            if name not in by_name:
                raise UserError("kernel image", f"found no module {name}, which others depend on")
            contents[name] = _module(by_name[name])
        new = {name for content in contents.values() for name in _depends(content)} - contents.keys()
    shutil.rmtree(folder)
    folder.mkdir()
    lines: list[str] = []
    aliases: list[str] = []
    for name, content in sorted(contents.items()):
        (folder / f"{name}.ko").write_bytes(content)
        lines.append(" ".join([f"{name}.ko:", *(f"{each}.ko" for each in _closure(name, contents))]))
        aliases += [f"alias {alias.decode()} {name}" for alias in re.findall(rb"\0alias=([^\0]+)(?=\0)", content)]
    (folder / "modules.dep").write_text("\n".join(lines) + "\n", encoding="ascii")
    (folder / "modules.alias").write_text("\n".join(aliases) + "\n", encoding="ascii")


def _module(path: Path) -> bytes:
    return lzma.decompress(path.read_bytes()) if path.suffix == ".xz" else path.read_bytes()


def _depends(module: bytes) -> list[str]:
    """Return the modules that ``module`` depends on, from the text of its section .modinfo."""
    match = re.search(rb"\0depends=([\w,-]*)\0", module)
    return [name.replace("-", "_") for name in match[1].decode().split(",") if name] if match else []


def _closure(name: str, contents: dict[str, bytes]) -> list[str]:
    """Return all modules that ``name`` depends on, in modprobe's order: the module to load first is last."""
    order: list[str] = []

    def visit(module: str) -> None:
        for needed in _depends(contents[module]):
            if needed not in order:
                visit(needed)
                order.append(needed)

    visit(name)
    return order[::-1]
