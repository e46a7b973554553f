"""Files of OpenWrt's UCI: sections of options, each with its line (openwrt.org/docs/guide-user/base-system/uci)."""

import shlex
from dataclasses import dataclass, field

from goodqueue.errors import UserError, quoted


@dataclass
class Section:
    """A section, and which of its options somebody has asked for."""

    file: str
    kind: str
    name: str
    line: int
    options: dict[str, tuple[str, int]] = field(default_factory=dict)
    """The value and the line of each option. Several values of a list have blanks between them."""
    asked: set[str] = field(default_factory=set)

    def text(self, name: str, default: str = "") -> str:
        """Return the value of an option, or ``default`` if it is not there or empty."""
        self.asked.add(name)
        return self.options.get(name, ("", 0))[0] or default

    def whole(self, name: str, default: int = 0) -> int:
        """Return an option that is a whole number. Raises UserError."""
        text = self.text(name)
        if text and not (text.isascii() and text.isdecimal() and len(text) < 10):
            line = self.options[name][1]
            raise UserError(self.file, f"line {line}: {name}: found {quoted(text)}; accepted: a whole number")
        return int(text or default)

    def at(self, name: str) -> str:
        """Return where an option stands, or the section if it is not there."""
        return f"line {self.options[name][1] if name in self.options else self.line}"

    def written(self, name: str) -> str:
        """Return an option as the file has it, behind its line."""
        return f"{self.at(name)}: {name} '{self.text(name)}'"

    def left(self) -> list[str]:
        """Return the options that nobody has asked for, as the file has them."""
        names = [name for name, (value, _) in self.options.items() if name not in self.asked and value]
        return [f"{self.written(name)}: not understood" for name in names]


def sections(file: str, text: str) -> list[Section]:
    """Read the sections of a ``file``. Raises UserError."""
    found: list[Section] = []
    for number, line in enumerate(text.splitlines(), 1):
        try:
            words = shlex.split(line, comments=True)
        except ValueError:
            raise _refused(file, number, line) from None
        match words:
            case [] | ["package", _]:
                pass
            case ["config", kind]:
                found.append(Section(file, kind, kind, number))
            case ["config", kind, name]:
                found.append(Section(file, kind, name, number))
            case ["option", name, *values] if found and len(values) < 2:
                found[-1].options[name] = ("".join(values), number)
            case ["list", name, value] if found:
                before = found[-1].options.get(name, ("", 0))[0]
                found[-1].options[name] = (f"{before} {value}".strip(), number)
            case _:
                raise _refused(file, number, line)
    return found


def _refused(file: str, number: int, line: str) -> UserError:
    accepted = "config KIND 'NAME', option NAME 'VALUE', list NAME 'VALUE'"
    return UserError(file, f"line {number}: found {quoted(line.strip())}; accepted: {accepted}")
