"""A number in the prose of a notebook stands beside it, in code or outputs.

Beside it means in its own section, from one `##` to the next. Introduction,
recap and exercises speak of the whole page, and may use all of it. What
describes a figure is prose, too, for those who do not see the figure.
"""

import re
from decimal import Decimal

import nbformat
import pytest
from conftest import PATHS
from nbformat import NotebookNode
from posenc_series.cells import tags

# What looks like a number and is none of ours: links, code, years, names.
NOT_OURS = (
    r"\]\([^)]*\)",  # where a link leads
    r"`[^`]*`",
    r"(?:\b[A-Z]\w+,?|al\.|\bin|\bof|\(|since) ?(19|20)\d\d\b(?! [a-z]+s\b)",
    r"[Ss]ections? [A-Z\d.]+( (and|to) [\d.]+)?|[Aa]ppendix [A-Z.\d]+",
    r"[Tt]ables? \d+(\.\d+)?|[Pp]ull \d+|\w+#\d+|arXiv[: ]\d+\.\d+",
    r"\b(float|bfloat|int|complex)\d+|Python 3\.\d+|NumPy \d(\.\d+)*",
    r"\b([Nn]otebooks?|[Ss]entences?|answers?) \d+((,| and| to) \d+)*",
    r"\b[Aa]bout \d+ minutes|\b\d+[ -]bits?\b",
    r"(?m)^- \*\*[A-Z]\*\* .*|\byou (said|chose|drew) [\d ]+",  # guesses
)
SEPARATOR = r"(?:(?<=\d)(?:\\,|[,\u00a0\u202f ])(?=\d{3}(?!\d)))"
NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")
PER_CENT = re.compile(r"(\d)(?:\s|\\,)*(?:\\?%|per cent|percent)")


def numbers(text: str) -> set[str]:
    joined = re.sub(SEPARATOR, "", text).replace("_", "")
    shares = re.compile(rf"{NUMBER.pattern}%")
    joined = PER_CENT.sub(r"\1%", joined)
    found = set(shares.findall(joined))
    return found | set(NUMBER.findall(shares.sub(" ", joined)))


def claims(text: str) -> set[str]:
    """Numbers that could be wrong: with a point, or not small.

    A number with a per cent sign keeps it: "97.5%".
    """
    for pattern in NOT_OURS:
        text = re.sub(pattern, " ", text)
    found = numbers(text.replace("{,}", ","))
    return {n for n in found if "." in n or Decimal(n.strip("%")) >= 10}


# In code, what describes a figure: one string, or several side by side.
ALT_TEXT = re.compile(r"""\balt=\s*((?:f?(?:"[^"]*"|'[^']*')\s*)+)""")


def evidence(cells) -> list[Decimal]:
    texts = []
    for cell in cells:
        if cell.cell_type == "code":
            texts.append(ALT_TEXT.sub("", cell.source))
            for output in cell.outputs:
                texts.append(output.get("text", ""))
                texts.append(output.get("data", {}).get("text/plain", ""))
    found = numbers("\n".join(map(str, texts)))
    return [Decimal(n.strip("%")) for n in found]


def claimed_by(cell) -> set[str]:
    """The numbers that a cell tells a reader; of a figure, all of them."""
    if cell.cell_type == "markdown":
        return claims(cell.source)
    return numbers("\n".join(ALT_TEXT.findall(cell.source)))


def is_rounded(claim: str, values: list[Decimal]) -> bool:
    """Whether a value rounds to the claim; if that has a %, times 100."""
    wanted = Decimal(claim.strip("%"))
    last = Decimal(1).scaleb(wanted.as_tuple().exponent)
    return any(
        abs(abs(value) * factor - wanted) * 2 <= last
        for value in values
        for factor in ((1, 100) if claim.endswith("%") else (1,))
    )


def sections(cells) -> list[list[NotebookNode]]:
    """The introduction, and each section; sources count by themselves."""
    found = []
    for cell in cells:
        if not found or cell.source.startswith("## "):
            found.append([])
        found[-1].append(cell)
    return [s for s in found if not s[0].source.startswith("## Further")]


def unfounded(notebook) -> dict[str, set[str]]:
    """The numbers without evidence, by the id of the cell that tells them."""
    found, page = {}, evidence(notebook.cells)
    for section in sections(notebook.cells):
        of_page = section[0].source.startswith(("# ", "## Recap"))
        own = page if of_page else evidence(section)
        for cell in section:
            claimed = claimed_by(cell)
            values = page if "exercise" in tags(cell) else own
            missing = {n for n in claimed if not is_rounded(n, values)}
            if missing:
                found[cell.id] = missing
    return found


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_a_number_in_prose_stands_in_its_section(path):
    found = unfounded(nbformat.read(path, as_version=4))
    assert found == {}, (
        "not in this section's code or outputs: correct it, print or assert it"
        " in a cell, or say it in words"
    )


@pytest.mark.parametrize(
    ("prose", "output", "missing"),
    [
        ("The last is 60 612 positions.", "60611.48", {"60612"}),
        ("It is 0.142, not 0.143 apart.", "0.1419", {"0.143"}),
        ("About 97.5 % are right.", "0.975", set()),
        ("Eight animals make 36 pairs, not 7.", "28", {"36"}),
        ("It holds $10\\,000$ rows.", "n = 9999", {"10000"}),
        ("Vaswani et al. 2017, section 3.5, `f(512)`.", "", set()),
        ("Like notebooks 06 and 07:\n\n- **A** 40 turns", "", set()),
    ],
)
def test_the_test_itself(prose, output, missing):
    """Where a number counts: in its own section, or in the recap."""
    shown = nbformat.v4.new_output("stream", text=output)
    # What describes a figure is no evidence, but needs some.
    drawing = 'show(fig, alt="A point near 60 611, 0.143 "\n    "or 7.")'
    cells = [
        nbformat.v4.new_markdown_cell(f"## One\n\n{prose}", id="one"),
        nbformat.v4.new_code_cell("1", outputs=[shown]),
        nbformat.v4.new_code_cell(drawing, id="figure"),
        nbformat.v4.new_markdown_cell(f"## Two\n\n{prose}", id="two"),
        nbformat.v4.new_markdown_cell(f"## Recap\n\n{prose}", id="recap"),
    ]
    found = unfounded(nbformat.v4.new_notebook(cells=cells))
    assert found.get("one", set()) == found.get("recap", set()) == missing
    assert found.get("two", set()) == claims(prose)
    assert "7" in found["figure"]
