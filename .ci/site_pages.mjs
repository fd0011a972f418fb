// Opens every page of the site in a browser, and fails if one is not what it should be: links, errors, width, contrast, search.
//
//   npm install --prefix FOLDER playwright-core
//   python3 .ci/build_site.py --skillfold PATH SITE
//   node .ci/site_pages.mjs --modules FOLDER [--chromium PATH] [--pictures FOLDER] [--self-test] SITE
//
// The site is served on the loopback, below a folder as some hosts do. Pages are found by following links without scripts. Each is opened
// dark at 360 px without scripts and light at 1280 px with them, some also in all other views. A site without the book is checked without the links to it.
// `--self-test` breaks copies of the site instead, and fails if one of the faults is not found.
import { cpSync, existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { extname, join, resolve, sep } from "node:path";
import { parseArgs } from "node:util";

import { BROWSER, faults, inEachView, launch, open, paleText } from "./browser.mjs";
import { BREAKAGES } from "./site_breakages.mjs";

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: { ...BROWSER, pictures: { type: "string" }, "self-test": { type: "boolean", default: false } },
});
const START = "index.html";
const BOOK = "book/";
const CONTRAST = 4.5;
/// Pages that are opened in every view; the others in two that differ in everything.
const SAMPLES = {
  "index.html": "landing",
  "report.html": "report",
  "book/docs/README.html": "documentation",
  "book/docs/first-steps.html": "session",
  "book/docs/performance.html": "performance",
  "book/docs/rust.html": "code",
  "book/docs/diagnostics.html": "table",
};
const TYPES = { ".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml", ".png": "image/png" };

function isFile(path) {
  return existsSync(path) && statSync(path).isFile();
}

/// Serves a folder on the loopback. Returns the server and the address of the folder.
async function serve(folder) {
  const server = createServer((request, response) => {
    const [, start, path] = decodeURIComponent(new URL(request.url, "http://localhost").pathname).match(/^(\/site\/)?(.*)$/);
    const file = resolve(folder, path);
    if (start && file.startsWith(folder + sep) && isFile(file)) {
      const type = TYPES[extname(file)] ?? "application/octet-stream";
      response.writeHead(200, { "Content-Type": type, "Cache-Control": "max-age=3600" }).end(readFileSync(file));
    } else {
      response.writeHead(404).end();
    }
  });
  await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
  return { server, address: `http://127.0.0.1:${server.address().port}/site/` };
}

/// Returns where a page leads, and which of its parts can be led to. Runs in the page.
function linksAndAnchors() {
  const links = [...document.querySelectorAll("a[href]")].map((link) => link.href);
  return { links, anchors: [...document.querySelectorAll("[id], a[name]")].map((target) => target.id || target.name) };
}

/// Returns what can be read on a page. Runs in the page.
function shownText() {
  const main = document.querySelector("main");
  return main?.checkVisibility() ? main.innerText : "";
}

/// A site that is looked at, and what was seen: each problem with where it is, the anchors of pages, and links with the page they are on.
class Look {
  problems = new Map();
  anchors = new Map();
  links = new Map();

  constructor(folder, address) {
    this.folder = folder;
    this.address = address;
    this.hasBook = existsSync(join(folder, BOOK));
    const files = readdirSync(folder, { recursive: true }).filter((file) => file.endsWith(".html"));
    // The start of the book only leads on.
    this.pages = files.filter((file) => !readFileSync(join(folder, file), "utf8").includes('http-equiv="refresh"'));
  }

  report(problem, where) {
    this.problems.set(problem, [...(this.problems.get(problem) ?? []), where]);
  }

  /// Returns the path and the anchor that an address leads to, if it is in the site.
  within(address) {
    return address.startsWith(this.address) ? address.slice(this.address.length).split("#") : null;
  }

  /// Reports what goes wrong while pages are loaded.
  listen(page, where) {
    page.on("request", (request) => {
      const url = request.url();
      if (!this.within(url) && !url.startsWith("data:")) this.report(`a request to another place: ${url}`, where());
    });
    page.on("console", (message) => ["error", "warning"].includes(message.type()) && this.report(`console: ${message.text()}`, where()));
    page.on("pageerror", (error) => this.report(`error: ${error.message}`, where()));
    page.on("response", (response) => {
      if (response.status() >= 400) this.report(`${response.status()} for ${this.within(response.url())?.[0]}`, where());
    });
  }

  /// Looks at an opened page, and at the contents in its frame.
  async at(page, where) {
    for (const frame of page.frames()) {
      const { links, anchors } = await frame.evaluate(linksAndAnchors);
      this.anchors.set(this.within(frame.url())[0], new Set(anchors));
      for (const link of links) if (!this.links.has(link)) this.links.set(link, where);
    }
    const found = [...(await page.evaluate(faults)), ...(await page.evaluate(paleText, CONTRAST))];
    for (const fault of found) this.report(fault, where);
    if ((await page.evaluate(shownText)).length < 80) this.report("the page has no text", where);
  }

  /// Returns the pages that were linked so far.
  linked() {
    const paths = new Set([...this.links.keys()].map((link) => this.within(link)?.[0]));
    return this.pages.filter((page) => paths.has(page));
  }

  /// Reports links that lead nowhere.
  checkLinks() {
    for (const [link, where] of this.links) {
      const [path, anchor] = this.within(link) ?? [];
      if (path === undefined) {
        if (!/^(https|mailto):/.test(link)) this.report(`a link to another place: ${link}`, where);
      } else if (!isFile(join(this.folder, path)) && (this.hasBook || !path.startsWith(BOOK))) {
        this.report(`a link leads nowhere: ${path}`, where);
      } else if (anchor && this.anchors.has(path) && !this.anchors.get(path).has(decodeURIComponent(anchor))) {
        this.report(`a link leads nowhere: ${path}#${anchor}`, where);
      }
    }
  }
}

/// Opens pages in their views: all that links lead to, or only those that are named.
async function check(browser, folder, named) {
  const { server, address } = await serve(folder);
  const look = new Look(folder, address);
  const queue = new Set(named ?? [START]);
  try {
    // The first view has no scripts, so pages are found without.
    await inEachView(browser, async (page, view, { javaScriptEnabled, colorScheme, viewport }) => {
      const isForEachPage = javaScriptEnabled !== (colorScheme === "dark") && (colorScheme === "dark") === (viewport.width === 360);
      let path;
      look.listen(page, () => `${path} (${view})`);
      for (path of queue) {
        if (isForEachPage || SAMPLES[path]) {
          await page.goto(address + path);
          await look.at(page, `${path} (${view})`);
          if (!named) for (const found of look.linked()) queue.add(found);
        }
        if (options.pictures && SAMPLES[path] && javaScriptEnabled) {
          await page.screenshot({ path: join(options.pictures, `${SAMPLES[path]}-${colorScheme}-${viewport.width}.png`) });
        }
      }
    });
    look.checkLinks();
    if (!named) {
      for (const page of look.pages) if (!look.anchors.has(page)) look.report("no link leads to this page", page);
    }
    if (look.hasBook) {
      await contents(browser, look);
      await search(browser, look);
    }
  } finally {
    server.close();
  }
  return look;
}

/// Goes to another page by the contents of the book, without scripts, by keyboard, on a small screen.
async function contents(browser, look) {
  const page = await open(browser, { javaScriptEnabled: false, viewport: { width: 360, height: 740 } });
  await page.goto(`${look.address}book/docs/first-steps.html`);
  const link = page.frameLocator(".sidebar-iframe-outer").getByText("Concepts", { exact: true });
  try {
    await page.keyboard.press("Tab");
    await page.keyboard.press("Space");
    await link.click({ timeout: 30_000 });
    await page.waitForURL("**/concepts.html", { timeout: 30_000 });
  } catch (error) {
    look.report(`the contents cannot be used without scripts: ${error.message.split("\n")[0]}`, page.url());
  }
  await page.close();
}

/// Finds a page of the book by what it says.
async function search(browser, look) {
  const page = await open(browser);
  await page.goto(`${look.address}book/docs/README.html`);
  try {
    await page.keyboard.press("s");
    await page.locator("#mdbook-searchbar-outer:not(.searching)").waitFor({ timeout: 30_000 });
    await page.keyboard.type("microsoft agent framework");
    await page.locator("#mdbook-searchresults a").first().click({ timeout: 30_000 });
    await page.waitForURL("**/python/agent-framework.html*", { timeout: 30_000 });
  } catch (error) {
    look.report(`the search does not find a page: ${error.message.split("\n")[0]}`, page.url());
  }
  await page.close();
}

/// Breaks a copy of the site in one way after the other. Returns which of the faults were not found.
async function selfTest(browser, site) {
  const missed = [];
  for (const { what, file, edit, finds, pages } of BREAKAGES) {
    if (pages && !existsSync(join(site, BOOK))) continue;
    const folder = mkdtempSync(join(tmpdir(), "skillfold-site-"));
    try {
      // Without pages of its own, a fault is in the small site that has no book.
      cpSync(site, folder, { recursive: true, filter: (path) => pages || path !== join(site, "book") });
      const path = join(folder, file instanceof RegExp ? readdirSync(folder, { recursive: true }).find((name) => file.test(name)) : file);
      const text = isFile(path) ? readFileSync(path, "utf8") : "";
      if (edit(text) === text) throw new Error(`${what}: the change of ${file} changes nothing`);
      writeFileSync(path, edit(text));
      const { problems } = await check(browser, folder, pages);
      if (![...problems.keys()].some((problem) => finds.test(problem))) missed.push(`not found: ${what}`);
    } finally {
      rmSync(folder, { recursive: true });
    }
  }
  return missed;
}

const site = resolve(positionals[0] ?? "dist/site");
const browser = await launch(options);
let problems;
try {
  if (options["self-test"]) {
    problems = await selfTest(browser, site);
    console.log(`${BREAKAGES.length} faults made`);
  } else {
    const look = await check(browser, site);
    const more = (places) => (places.length > 1 ? `, and ${places.length - 1} more` : "");
    problems = [...look.problems].map(([problem, places]) => `${problem}\n    ${places[0]}${more(places)}`);
    console.log(`${look.anchors.size} pages, ${look.links.size} links`);
  }
} finally {
  await browser.close();
}
for (const problem of problems) console.error(problem);
console.log(`${problems.length} problems`);
process.exitCode = problems.length ? 1 : 0;
