"""Shows that build_site.py finds a wrong figure and a dead link on the landing page, and says as long as it is true that there is no release.

    python3 .ci/test_build_site.py
"""

import pathlib
import tempfile
import unittest

import build_site

PAGE = (build_site.SITE / "index.html").read_text(encoding="utf-8")
UNRELEASED = "# Changelog\n\n## Unreleased\n\n- **added:** it.\n"


class Landing(unittest.TestCase):
    def dead_links(self, html):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "index.html").write_text(html, encoding="utf-8")
            return build_site.dead_links(pathlib.Path(folder))

    def test_figure_that_its_source_does_not_state_is_found(self):
        self.assertEqual(build_site.landing(PAGE, UNRELEASED)[1], [])
        page = PAGE.replace("<dd>1,389</dd>", "<dd>1,388</dd>")
        self.assertEqual(
            build_site.landing(page, UNRELEASED)[1],
            ["site/index.html says 1388, which README.md#what-it-costs-and-saves does not"],
        )

    def test_line_about_the_missing_release_goes_with_the_first_date(self):
        self.assertIn("There is no release yet", build_site.landing(PAGE, UNRELEASED)[0])
        released = UNRELEASED + "\n## 0.1.0 (2026-12-01)\n\nFor people.\n"
        page = build_site.landing(PAGE, released)[0]
        self.assertNotIn("no release", page)
        self.assertIn("All ways to install", page)

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
