// Writes an HTML page from a Markdown file.
import { readFileSync, writeFileSync } from "node:fs";
import { marked } from "marked";

const [source, target] = process.argv.slice(2);
if (!target) {
  console.error("usage: page.mjs IN.md OUT.html");
  process.exit(2);
}
const text = readFileSync(source, "utf8");
const title = text.match(/^# (.+)$/m)?.[1] ?? source;
const escaped = title.replace(/[&<>]/g, (c) => `&#${c.charCodeAt(0)};`);
const page = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>${escaped}</title>
<style>body { max-width: 42em; margin: 2em auto; font: 16px/1.5 sans-serif }</style>
${marked.parse(text)}</html>
`;
writeFileSync(target, page);
console.log(`${target}: ${page.length} characters, titled "${title}"`);
