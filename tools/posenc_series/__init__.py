"""What the web edition, the workshop, the tools and the tests share.

`listing` is the list of notebooks (notebooks/series.toml) and how long each
takes; `cells` reads tags, `chapters` reads notebooks and makes the students'
copies, `learners` writes them, `formulas` sets formulas, and `commands` is
what all commands have in common. Learners never import any of it.
"""
