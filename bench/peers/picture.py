"""Draws the comparison: a panel of bars for each figure, readable on light and on dark pages."""

import statistics
from xml.sax.saxutils import escape

COLUMNS = 2
PANEL_WIDTH = 446
NAME_WIDTH = 118
VALUE_WIDTH = 118
ROW = 20
BAR = 13
TITLE = 34
MARGIN = 16
# A bar that is longer than so many times the median one is cut, and shown broken.
LONGEST = 10

STYLE = """
text { font: 12px system-ui, sans-serif; fill: #1f2328 }
.title { font-weight: 600 }
.page { fill: #ffffff }
.ours { fill: #0969da }
.other { fill: #8c959f }
.name-ours { font-weight: 600 }
.absent { font-style: italic; fill: #59636e }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3 }
  .page { fill: #0d1117 }
  .ours { fill: #4493f8 }
  .other { fill: #6e7681 }
  .absent { fill: #9198a1 }
}
"""


def full_length(values):
    """The value whose bar is as long as can be."""
    longer_than_nothing = [value for value in values if value > 0]
    if not longer_than_nothing:
        return 1.0
    limit = LONGEST * statistics.median(longer_than_nothing)
    return max(value for value in longer_than_nothing if value <= limit)


def bar(value, full, width, kind, x, y):
    length = max(1.0, width * min(value, full) / full) if value > 0 else 0.0
    drawn = f'<rect class="{kind}" x="{x}" y="{y}" width="{length:.1f}" height="{BAR}" rx="2"/>'
    if value > full:
        at = x + length - 14
        drawn += (
            f'<path class="page" d="M{at:.1f} {y + BAR + 1} l5 -{BAR + 2} h4 l-5 {BAR + 2} z"/>'
        )
    return drawn


def panel(results, figure, question, names, in_words, x, y):
    values = results["figures"].get(figure, {})
    here = [values[name]["median"] for name in names if name in values]
    full = full_length(here) if here else 1.0
    width = PANEL_WIDTH - NAME_WIDTH - VALUE_WIDTH
    drawn = [f'<text class="title" x="{x}" y="{y + 18}">{escape(question)}</text>']
    for row, name in enumerate(names):
        top = y + TITLE + row * ROW
        text = top + BAR - 2
        kind = "ours" if row == 0 else "other"
        drawn.append(
            f'<text class="name-{kind}" x="{x + NAME_WIDTH - 8}" y="{text}"'
            f' text-anchor="end">{escape(name)}</text>'
        )
        left = x + NAME_WIDTH
        if name in values:
            value = values[name]["median"]
            drawn.append(bar(value, full, width, kind, left, top))
            at = left + (width * min(value, full) / full if value > 0 else 0) + 6
            said = f'<text x="{at:.1f}" y="{text}">{escape(in_words(figure, value))}</text>'
        else:
            said = f'<text class="absent" x="{left + 6}" y="{text}">not measured</text>'
        drawn.append(said)
    return "\n".join(drawn)


def svg(results, figures, in_words, names):
    """`figures` is {short name: (question, unit)}; the first of `names` is emphasised."""
    height_of_panel = TITLE + len(names) * ROW + 10
    rows = -(-len(figures) // COLUMNS)
    width = COLUMNS * PANEL_WIDTH + (COLUMNS + 1) * MARGIN
    height = rows * height_of_panel + 2 * MARGIN
    panels = [
        panel(
            results,
            figure,
            question,
            names,
            in_words,
            MARGIN + at % COLUMNS * (PANEL_WIDTH + MARGIN),
            MARGIN + at // COLUMNS * height_of_panel,
        )
        for at, (figure, (question, _)) in enumerate(figures.items())
    ]
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}"'
            f' width="{width}" height="{height}" role="img">',
            f"<title>{escape(names[0])} beside {escape(', '.join(names[1:]))}</title>",
            f"<style>{STYLE}</style>",
            f'<rect class="page" width="{width}" height="{height}" rx="6"/>',
            *panels,
            "</svg>\n",
        ]
    )
