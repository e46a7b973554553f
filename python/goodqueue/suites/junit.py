"""Writes a pass sheet as JUnit XML, which CI systems show: a test case per row and tested line."""

from xml.etree import ElementTree as ET

from goodqueue.suites import show
from goodqueue.suites.sheet import FAILS, NOT_RUN, OPEN, RowResult, Sheet


def document(sheet: Sheet) -> bytes:
    """Return the sheet as XML: a row that fails is a failure; one that is open or was not run is skipped."""
    top = ET.Element("testsuites", name=f"goodqueue suite {sheet.suite.key}")
    for subject in sheet.subjects:
        counts = sheet.count(subject)
        suite = ET.SubElement(
            top,
            "testsuite",
            name=f"{sheet.suite.key} {subject}",
            tests=str(len(sheet.rows)),
            failures=str(counts[FAILS]),
            errors="0",
            skipped=str(counts[OPEN] + counts[NOT_RUN]),
        )
        for row in sheet.rows:
            _case(suite, sheet, row, subject)
    ET.indent(top)
    return bytes(ET.tostring(top, encoding="utf-8", xml_declaration=True)) + b"\n"


def _case(suite: ET.Element, sheet: Sheet, row: RowResult, subject: str) -> None:
    name = f"{row.row.section} {row.row.title}"
    case = ET.SubElement(suite, "testcase", classname=f"{sheet.suite.key}.{subject}", name=name)
    verdict = row.verdict(subject)
    lines = "\n".join(show.of_subject(sheet, row, subject))
    if verdict == FAILS:
        ET.SubElement(case, "failure", message="a check does not hold").text = lines
    elif verdict in (OPEN, NOT_RUN):
        ET.SubElement(case, "skipped", message=row.row.not_run or verdict)
    if lines and verdict != FAILS:
        ET.SubElement(case, "system-out").text = lines
