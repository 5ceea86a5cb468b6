"""A comparison in words: lines for a terminal, the comment on a change, rows for a spreadsheet. Compares nothing."""

from ragassay.report.compared.lines import lines
from ragassay.report.compared.markdown import MARKER, markdown
from ragassay.report.compared.rows import effect_rows
from ragassay.report.compared.view import Compared, read

__all__ = ["MARKER", "Compared", "effect_rows", "lines", "markdown", "read"]
