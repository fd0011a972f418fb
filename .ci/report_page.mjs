// Opens the page of `skillfold report` in a browser, and fails if it is not what it promises.
//
//   npm install --prefix FOLDER playwright-core
//   node .ci/report_page.mjs --skillfold PATH --modules FOLDER [--chromium PATH] [--pictures FOLDER]
//
// `--pictures` also writes the pictures of the documentation.
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs } from "node:util";

import { BROWSER, faults, inEachView, launch, paleText } from "./browser.mjs";

const { values: options } = parseArgs({
  options: {
    skillfold: { type: "string" },
    pictures: { type: "string" },
    ...BROWSER,
  },
});
const repository = dirname(dirname(fileURLToPath(import.meta.url)));

/// Writes a file and its folders.
function write(path, text) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

/// Fills a home and a project with the examples, and with skills that have every kind of problem.
function layOut(home) {
  const mine = join(home, ".agents/skills");
  cpSync(join(repository, "examples/skills"), mine, { recursive: true });
  const skill = (name, description, more = "", body = "Do it.\n") =>
    write(join(mine, name, "SKILL.md"), `---\nname: ${name}\ndescription: ${description}\n${more}---\n${body}`);
  const steps = (number) => "Take the next step, and say what it found.\n".repeat(number);
  skill("pdf-forms", "Fills in PDF forms and checks each field.", "triggers: [tax form]\n", steps(40));
  skill("form-filler", "Fills in PDF forms.", "triggers: [tax form]\n", steps(25));
  skill("spreadsheets", "Makes charts and tables from .xlsx files, such as sales by month.", "", steps(60));
  skill("release-notes", "Writes the release notes of a version. Use when a release is made.", "", steps(12));
  skill("test-fixer", "Finds out why a test fails and fixes it. Use when tests are red.", "", steps(30));
  for (const topic of ["invoices", "contracts", "maps", "recipes", "music", "fonts", "trains", "plants", "chess", "clocks"]) {
    for (const verb of ["finds", "sorts", "prints", "compares"]) {
      const what = `${verb[0].toUpperCase()}${verb.slice(1)} ${topic} in the archive of the office`;
      skill(`${topic}-${verb}`, `${what}. Use when somebody asks for ${topic}, wants them ${verb.slice(0, -1)}ed again, or speaks of an old list of ${topic}.`, "", steps(topic.length * verb.length / 4));
    }
  }
  skill("mail", "Writes and sorts mail.", "", steps(8));
  skill("mail-copy", "Writes and sorts mail.", "", steps(8));
  skill("deploy", "Deploys the site.", "disable-model-invocation: true\n");
  skill("meeting-notes", "Use when: notes of a meeting are taken", "", steps(6));
  skill("old-tool", "Calls a tool that is gone.");
  skill("a-skill-with-a-name-that-is-as-long-as-the-specification-allows", "Has a long name.");
  write(join(mine, "draft/SKILL.md"), "# Draft\n");
  write(join(mine, "hostile/SKILL.md"), "---\nname: hostile\ndescription: \"<script>alert(1)</script><img src=https://example.com>\\u202e\"\n---\n");
  write(join(mine, "spreadsheets/references/functions.md"), steps(90));
  write(join(home, ".config/skillfold/config.toml"), 'disable = ["old-tool"]\n');
  const project = join(home, "app");
  write(join(project, ".git/HEAD"), "");
  write(join(project, ".agents/skills/mail/SKILL.md"), "---\nname: mail\ndescription: The mail of the project.\n---\n");
  const events = [["pdf-forms", "given"], ["pdf-forms", "given"], ["spreadsheets", "suggested"], ["spreadsheets", "loaded"], ["test-fixer", "suggested"]];
  const lines = events.map(([id, outcome]) =>
    JSON.stringify({ time_ms: 1763110800000, event: "skill of a prompt", skill: id, outcome }));
  write(join(project, "log.jsonl"), lines.join("\n") + "\n");
  return project;
}

/// Returns what is wrong with an opened report.
function reportFaults() {
  const found = [];
  if (document.querySelector("script, img, link, iframe, object")) found.push("the page has an element that loads or runs");
  for (const table of document.querySelectorAll("table")) {
    if (!table.caption?.textContent) found.push("a table has no caption");
    if ([...table.querySelectorAll("th")].some((head) => !head.scope)) found.push("a table head has no scope");
  }
  if (getComputedStyle(document.querySelector("section")).borderTopWidth === "0px") found.push("the style is not used");
  return found;
}

const home = mkdtempSync(join(tmpdir(), "skillfold-page-"));
const browser = await launch(options);
const problems = [];
try {
  const project = layOut(home);
  for (const command of [["setup", "codex", "--list", "ours", "--yes"], ["report", "--log", "log.jsonl"]]) {
    execFileSync(resolve(options.skillfold), command, { cwd: project, env: { HOME: home }, stdio: "ignore" });
  }
  const address = pathToFileURL(join(project, "skillfold-report.html")).href;
  await inEachView(browser, async (page, name, { javaScriptEnabled, colorScheme, viewport }) => {
    page.on("console", (message) => problems.push(`${name}: console: ${message.text()}`));
    page.on("pageerror", (error) => problems.push(`${name}: error: ${error.message}`));
    page.on("request", (request) => request.url() === address || problems.push(`${name}: request: ${request.url()}`));
    await page.goto(address);
    const found = [...(await page.evaluate(faults)), ...(await page.evaluate(reportFaults)), ...(await page.evaluate(paleText, 4.5))];
    problems.push(...found.map((fault) => `${name}: ${fault}`));
    const height = { "light-1280": 1000, "dark-360": 1700 }[`${colorScheme}-${viewport.width}`];
    if (options.pictures && javaScriptEnabled && height) {
      const path = join(options.pictures, `report-${colorScheme}.png`);
      await page.screenshot({ path, fullPage: true, clip: { x: 0, y: 0, width: viewport.width, height } });
    }
  });
} finally {
  await browser.close();
  rmSync(home, { recursive: true });
}
for (const problem of problems) console.error(problem);
console.log(problems.length ? `${problems.length} problems` : "the page is what it promises");
process.exitCode = problems.length ? 1 : 0;
