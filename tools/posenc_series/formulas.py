"""Formulas as MathML, which pages show without a script."""

import re

from latex2mathml.converter import convert as latex_to_mathml

from posenc_series.commands import CommandError

# What latex2mathml sets otherwise than TeX.
THIN_SPACE = '<mspace width="0.167em"/>'
FUNCTION = "<mi>(?:sin|cos|tan|exp|ln|log|max|min)</mi>"
TIDY = [
    # \! is taken for a wide space to the left.
    (r'<mspace width="negative\w+" */>', ""),
    # No space around a slash.
    ("<mo>&#x0002F;</mo>", '<mo lspace="0" rspace="0">/</mo>'),
    # Bars around a quantity are not operators between two.
    (
        '<mo stretchy="false">&#x0007C;',
        '<mo stretchy="false" lspace="0" rspace="0">&#x0007C;',
    ),
    # A thin space before a function and after one.
    (
        rf"(</m[in]>|</msup>|&#x00029;</mo>)({FUNCTION})",
        rf"\1{THIN_SPACE}\2",
    ),
    (
        rf"(?<!<msup>)(?<!<msub>)({FUNCTION})(?=<m(?!o|space))",
        rf"\1{THIN_SPACE}",
    ),
    # The minus of a number is not one between two.
    (r"(&#x000(?:28|2C|3D);</mo>)<mo>(?=&#x02212;)", r'\1<mo form="prefix">'),
    # \mathrm of a single letter stands upright.
    (r"<mi>(&#x000[4-7][0-9A-F];)</mi>", r'<mi mathvariant="normal">\1</mi>'),
]


def mathml(latex: str, display: str) -> str:
    """Convert a formula, and space it as TeX would.

    Args:
        latex: The formula, without dollar signs.
        display: "inline" or "block".

    Raises:
        CommandError: If the formula cannot be set.
    """
    try:
        markup = latex_to_mathml(latex.strip(), display=display)
    except Exception as error:  # of many kinds, and not all documented
        raise CommandError(f"cannot set ${latex}$: {error!r}") from error
    unknown = re.search(r"\\[a-zA-Z]+", markup)
    if unknown:
        raise CommandError(f"cannot set {unknown[0]} in ${latex}$")
    for pattern, replacement in TIDY:
        markup = re.sub(pattern, replacement, markup)
    return markup
