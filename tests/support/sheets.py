"""Small .xlsx files, written by hand: what tests need of the format is little."""

import zipfile
from pathlib import Path

_NAMES = (
    'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" '
    'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
)
_RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"
_TYPES = "application/vnd.openxmlformats-officedocument.spreadsheetml"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def workbook(path: Path, rows: list[list[object]], *, merged: str = "") -> Path:
    """Write one sheet; a text that begins with ``=`` is a formula without a stored value."""
    lines = "".join(
        f'<row r="{number}">{"".join(_cell(cell, number, at) for at, cell in enumerate(row))}</row>'
        for number, row in enumerate(rows, start=1)
    )
    merging = f'<mergeCells count="1"><mergeCell ref="{merged}"/></mergeCells>' if merged else ""
    parts = {
        "[Content_Types].xml": (
            '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
            '<Default Extension="rels" '
            'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
            f'<Override PartName="/xl/workbook.xml" ContentType="{_TYPES}.sheet.main+xml"/>'
            f'<Override PartName="/xl/worksheets/sheet1.xml" ContentType="{_TYPES}.worksheet+xml"/>'
            "</Types>"
        ),
        "_rels/.rels": _relation(f"{_OFFICE}/officeDocument", "xl/workbook.xml"),
        "xl/_rels/workbook.xml.rels": _relation(f"{_OFFICE}/worksheet", "worksheets/sheet1.xml"),
        "xl/workbook.xml": (
            f'<workbook {_NAMES}><sheets><sheet name="Sales" sheetId="1" r:id="r1"/></sheets>'
            "</workbook>"
        ),
        "xl/worksheets/sheet1.xml": (
            f"<worksheet {_NAMES}><sheetData>{lines}</sheetData>{merging}</worksheet>"
        ),
    }
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, text in parts.items():
            file.writestr(name, f'<?xml version="1.0" encoding="UTF-8"?>{text}')
    return path


def _relation(kind: str, target: str) -> str:
    one = f'<Relationship Id="r1" Type="{kind}" Target="{target}"/>'
    return f'<Relationships xmlns="{_RELATIONS}">{one}</Relationships>'


def _cell(value: object, row: int, column: int) -> str:
    place = f"{chr(ord('A') + column)}{row}"
    if value is None:
        return ""
    if isinstance(value, str) and value.startswith("="):
        return f'<c r="{place}"><f>{value[1:]}</f></c>'
    if isinstance(value, str):
        return f'<c r="{place}" t="inlineStr"><is><t>{value}</t></is></c>'
    return f'<c r="{place}"><v>{value}</v></c>'
