"""What the web edition, the workshop, the tools and the tests share.

`listing` is the list of notebooks (notebooks/series.toml) and how long each
takes; `cells` reads tags, `chapters` reads notebooks and makes the students'
copies, and `formulas` sets formulas. Learners never import any of it.
"""
