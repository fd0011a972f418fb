"""Shows that build_site.py finds a wrong figure, a wrong command and a dead link on the landing page.

    python3 .ci/test_build_site.py
"""

import pathlib
import tempfile
import unittest

import build_site

PAGE = (build_site.SITE / "index.html").read_text(encoding="utf-8")


class Landing(unittest.TestCase):
    def dead_links(self, html):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "index.html").write_text(html, encoding="utf-8")
            return build_site.dead_links(pathlib.Path(folder))

    def test_figure_that_its_source_does_not_state_is_found(self):
        self.assertEqual(build_site.landing(PAGE)[1], [])
        page = PAGE.replace("<dd>1,389</dd>", "<dd>1,388</dd>")
        self.assertEqual(
            build_site.landing(page)[1],
            ["site/index.html says 1388, which README.md#what-it-costs-and-saves does not"],
        )

    def test_command_that_the_readme_does_not_print_is_found(self):
        page = PAGE.replace("uv tool install skillfold", "uv tool install skilfold")
        self.assertEqual(build_site.landing(page)[1], ["site/index.html says `uv tool install skilfold`, which README.md does not"])

    def test_dead_link_into_the_book_is_found_without_the_book(self):
        self.assertEqual(self.dead_links('<a href="book/docs/performance.html#goals">'), [])
        self.assertEqual(
            self.dead_links('<a href="book/docs/x.html"><a href="book/docs/performance.html#x"><a href="x.html">'),
            [
                "index.html links to book/docs/performance.html#x, which has no such anchor",
                "index.html links to book/docs/x.html, which is not in the book",
                "index.html links to x.html, which does not exist",
            ],
        )


if __name__ == "__main__":
    unittest.main()
