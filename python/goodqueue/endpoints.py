"""Kinds of traffic whose endpoints another package has, as real QUIC stacks. goodqueue does not depend on that package.

Its module has ``VERSION``, and a ``Simulation`` that runs a whole scenario as the core's own does.
"""

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goodqueue.errors import Option, Place, UserError
from goodqueue.record import Scenario
from goodqueue.scenario import discipline, paths, to_json
from goodqueue.traffic import kinds

if TYPE_CHECKING:
    from types import ModuleType

INSTALL = "`make transports` (docs/guides/transports.md)"
"""What installs such a package: no index has one."""


def package(scenario: Scenario) -> str:
    """Return the package that has the endpoints of ``scenario``. Empty: goodqueue has all of them."""
    by_kind, tables = kinds(), scenario.get("traffic")
    names = [table.get("kind") for table in tables if isinstance(table, dict)] if isinstance(tables, list) else []
    packages = (by_kind[kind].package for kind in names if isinstance(kind, str) and kind in by_kind)
    return next((name for name in packages if name), "")


def module(scenario: Scenario, where: Place | None = None) -> "ModuleType":
    """Return the module of the package that ``scenario`` needs, which was asked for at ``where``.

    Raises UserError if it is missing or does not fit.
    """
    from goodqueue._goodqueue import VERSION

    name, where = package(scenario), where or _place(scenario)
    try:
        imported = import_module(name.replace("-", "_"))
    except ModuleNotFoundError:
        raise UserError(where, f"needs {name}; accepted: {INSTALL}") from None
    if imported.VERSION != VERSION:
        raise UserError(where, f"found {name} {imported.VERSION}; accepted: {VERSION}, as goodqueue is: {INSTALL}")
    return imported


def check(engine: str, scenario: Scenario) -> None:
    """Refuse a resolved ``scenario`` whose endpoints ``engine`` does not have. Raises UserError that names the key."""
    if not package(scenario):
        return
    if engine != "sim":
        raise UserError(_place(scenario), f"found with --engine {engine}; accepted: with --engine sim")
    module(scenario)


def simulation(scenario: Scenario, **options: Any) -> Any:
    """Return a run of ``scenario`` with the endpoints of the package that it needs. Raises UserError."""
    simulation_class = module(scenario).Simulation
    lines = [
        table.get("qdisc") for table in [*(link for _, link in paths.links(scenario)), *scenario.get("change", ())]
    ]
    if discipline.controlled(scenario) or any(map(discipline.is_python, lines)):
        problem = "found beside a class in Python; accepted: beside those of goodqueue's own"
        raise UserError(_place(scenario), problem)
    try:
        return simulation_class(to_json(scenario), **options)
    except ValueError as error:
        raise UserError(str(error)) from None


def prepare_qlog(engine: str, scenario: Scenario, folder: str, force: bool) -> None:
    """Make ``folder`` for the qlogs of the endpoints of ``scenario``.

    Raises UserError if there are none, or if the folder has files and ``force`` is not set.
    """
    where = Option("qlog", folder)
    if engine != "sim" or not package(scenario):
        raise UserError(where, "found without QUIC stacks; accepted: with them, on the simulator")
    path = Path(folder)
    try:
        path.mkdir(parents=True, exist_ok=True)
        if not force and any(path.iterdir()):
            raise UserError(where, "found a folder with files; accepted: a new or an empty one, or --force")
    except OSError as error:
        raise UserError(where, f"{error.strerror}; accepted: a folder to write") from None


def _place(scenario: Scenario) -> str:
    by_kind = kinds()
    index = next(i for i, table in enumerate(scenario["traffic"]) if by_kind[table["kind"]].package)
    return f"traffic[{index}].kind"
