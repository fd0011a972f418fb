// Ways to break the site: a file, how it is changed, and the problem that `site_pages.mjs --self-test` must find. Where `pages` are named,
// only these are opened.

const LANDING = "index.html";
const STYLE = "style.css";
const BOOK_PAGE = "book/docs/first-steps.html";
const BOOK_STYLE = /^book\/book-[0-9a-f]+\.css$/;
const TOO_WIDE = /^the page is \d+ px too wide at 360 px/;
const PALE = /^text has a contrast of [1-4]\./;

/// Returns the change that adds to a page.
const add = (html) => (text) => text.replace("</main>", `${html}</main>`);
/// Returns the change that writes something in place of all that it was.
const swap = (before, after) => (text) => text.replaceAll(before, after);

/// Hides the text of a page until a script shows it.
function needScript(text) {
  const show = "<script>document.querySelector('main').hidden = false</script>";
  return text.replace("<main>", "<main hidden>").replace("</body>", `${show}</body>`);
}

const IN_LANDING = [
  { what: "a dead link", edit: add('<a href="x.html">x</a>'), finds: /^a link leads nowhere: x.html$/ },
  { what: "a dead anchor", edit: add('<a href="#x">x</a>'), finds: /^a link leads nowhere: #x$/ },
  { what: "a dead anchor elsewhere", edit: add('<a href="report.html#x">x</a>'), finds: /^a link leads nowhere: report.html#x$/ },
  { what: "a link from the host's root", edit: add('<a href="/report.html">x</a>'), finds: /^a link to another place: .*:\d+\/report.html$/ },
  { what: "an error of a script", edit: add("<script>missing()</script>"), finds: /^error: missing is not defined$/ },
  { what: "a message of an error", edit: add('<script>console.error("x")</script>'), finds: /^console: x$/ },
  { what: "text that needs a script", edit: needScript, finds: /^the page has no text$/ },
  { what: "another host", edit: add('<img src="https://example.com/x" alt="">'), finds: /^a request to another place: https:/ },
  { what: "a missing style", edit: swap('href="style.css"', 'href="x.css"'), finds: /^404 for x.css$/ },
  { what: "a missing picture", edit: add('<img src="x.svg" alt="">'), finds: /^an image is not shown: .*x.svg$/ },
  { what: "a part that is too wide", edit: add('<p style="width: 500px">x</p>'), finds: TOO_WIDE },
  { what: "a wide part that is cut off", edit: add('<div style="overflow: hidden"><p style="width: 500px">x</p></div>'), finds: TOO_WIDE },
  { what: "a long word", edit: add(`<p>${"x".repeat(80)}</p>`), finds: TOO_WIDE },
  { what: "text that is half transparent", edit: add('<div style="opacity: 0.4"><p>x</p></div>'), finds: PALE },
  { what: "a second main heading", edit: add("<h1>x</h1>"), finds: /^the page has not one main heading$/ },
  { what: "a level of headings left out", edit: add("<h5>x</h5>"), finds: /^heading \d+ has level 5 after \d$/ },
];

const IN_BOOK = [
  { what: "code of the book that does not scroll", file: BOOK_STYLE, edit: swap("overflow-x: auto", "overflow-x: visible"), finds: TOO_WIDE },
  { what: "a book for the light alone", file: BOOK_STYLE, edit: swap("#e7eaf0", "#1b1f27"), finds: PALE },
  {
    what: "contents that need a mouse",
    file: BOOK_STYLE,
    edit: swap("display: block !important", "display: none"),
    finds: /^the contents cannot be used without scripts/,
  },
  {
    what: "a search that does not load",
    file: "book/docs/README.html",
    edit: swap("searchindex-", "x-"),
    finds: /^the search does not find a page/,
  },
  {
    what: "a title of the book that leads nowhere",
    file: BOOK_PAGE,
    edit: swap('<a href="../../index.html">', '<a href="../../x.html">'),
    finds: /^a link leads nowhere: x.html$/,
  },
];

export const BREAKAGES = [
  ...IN_LANDING.map((breakage) => ({ ...breakage, file: LANDING })),
  { what: "a page that no link leads to", file: "x.html", edit: () => "<main>x</main>", finds: /^no link leads to this page$/ },
  { what: "pale text in the light", file: STYLE, edit: swap("#59616e", "#8a919c"), finds: PALE },
  { what: "pale text in the dark", file: STYLE, edit: swap("#a3acba", "#666d78"), finds: PALE },
  ...IN_BOOK.map((breakage) => ({ ...breakage, pages: [BOOK_PAGE] })),
];
