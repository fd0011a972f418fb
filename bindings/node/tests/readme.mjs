// Writes the TypeScript examples of pages into a folder: `node readme.mjs PAGE... FOLDER`.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const pages = process.argv.slice(2, -1);
const folder = process.argv.at(-1);
for (const [place, page] of pages.entries()) {
  const examples = [...readFileSync(page, "utf8").matchAll(/^```ts\n(.*?)^```$/gms)].map(([, text]) => text);
  if (examples.length === 0) {
    throw new Error(`${page} has no example`);
  }
  // The examples of a page follow each other.
  writeFileSync(join(folder, `page-${place}.mts`), examples.join("\n"));
}
