"""Sphinx's settings for the pages. The notebooks are not run again."""

import html
import re
import sys

from docutils import nodes
from pages import OTHER_PAGES, exercises_on_page, whole_numbers
from posenc_series.formulas import mathml
from posenc_series.listing import NOTEBOOKS, ROOT, TITLE

sys.path.append(str(ROOT))
from posenc.play import figures_in, script_of

project = TITLE
html_title = TITLE.partition(",")[0]
extensions = ["myst_nb"]
nb_execution_mode = "off"
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3
html_math_renderer = "mathml"
html_theme = "sphinx_book_theme"
html_static_path = ["static", "../workshop/templates/STIXTwoMath.woff"]
html_css_files = ["site.css"]
html_js_files = [
    ("work.js", {"defer": "defer"}),
    ("site.js", {"defer": "defer"}),
]
html_context = {"default_mode": "auto"}
html_favicon = "static/icon.svg"
templates_path = ["templates"]
html_copy_source = False
html_use_index = False
# Without the theme's logo, which stands outside all landmarks.
html_sidebars = {"**": ["search-button-field.html", "sbt-sidebar-nav.html"]}
html_theme_options = {
    "home_page_in_toc": True,
    "use_download_button": False,
    "use_fullscreen_button": False,
    "back_to_top_button": False,  # on a telephone it covers sliders
    "show_toc_level": 2,
    "navbar_persistent": [],  # the search button stands in the sidebar
    "footer_content_items": [],
    "article_footer_items": ["about-page.html"],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}


def formula(display):
    """A visitor that sets a formula as MathML, inline or as a block."""

    def visit(translator, node):
        markup = mathml(node.astext(), display)
        if display == "block":
            # WebKit neither measures nor scrolls what is wide within <math>.
            markup = f'<div class="formula">{markup}</div>'
        translator.body.append(markup)
        raise nodes.SkipNode

    return visit, None


EXERCISES = " ".join(
    f"{each.path.stem}:{exercises_on_page(each)}" for each in NOTEBOOKS
)
RUN = {each.path.stem for each in NOTEBOOKS if not each.tensorflow}
SOURCES = OTHER_PAGES | {"index": "web/home.md"}
VERBATIM = (nodes.literal, nodes.FixedTextElement, nodes.math, nodes.raw)
# A formula and the signs right after it: "<math>...</math>),".
SIGN_AFTER = re.compile(r"(<math(?:(?!</math>).)*</math>)([.,;:?!)]+)", re.S)


def hold_together(app, doctree, pagename):
    """Prevent line breaks within numbers such as 10 000."""
    for text in list(doctree.findall(nodes.Text)):
        if not isinstance(text.parent, VERBATIM):
            text.parent.replace(text, nodes.Text(whole_numbers(text)))


def describe(app, pagename, templatename, context, doctree):
    """Tell the templates about a page; keep signs beside their formulas."""
    context["exercises"] = EXERCISES
    if doctree is None:
        return  # the page to search
    context["runs"] = pagename in RUN
    notebook = f"notebooks/{pagename}.ipynb"
    context["source_file"] = SOURCES.get(pagename, notebook)
    paragraph = next(iter(doctree.findall(nodes.paragraph)))
    context["description"] = html.escape(" ".join(paragraph.astext().split()))
    together = r'<span class="with-sign">\1\2</span>'
    body = SIGN_AFTER.sub(together, context["body"])
    # A fold is announced by its own words, which name what it holds.
    body = body.replace(
        '<summary aria-label="Toggle hidden content">', "<summary>"
    )
    figures = figures_in(body)
    if figures:
        body += f"<script>{script_of(figures)}</script>"
    context["body"] = body


def setup(app):
    """Connect the functions above."""
    app.add_html_math_renderer("mathml", formula("inline"), formula("block"))
    app.connect("doctree-resolved", hold_together)
    app.connect("html-page-context", describe)
