"""What the web edition, the workshop, the tools and the tests share.

`listing` is the list of notebooks (notebooks/series.toml) and how long each
takes; `chapters` reads a notebook's cells, tags and formulas, and makes the
students' copies. It stays in the repository: learners never import it.
"""
