// Converts YAML to JSON.
import { readFileSync, writeFileSync } from "node:fs";
import { parseDocument } from "yaml";

const [source, target] = process.argv.slice(2);
const document = parseDocument(readFileSync(source, "utf8"));
for (const error of document.errors) {
  console.error(`${source}: ${error.message}`);
}
if (document.errors.length > 0) {
  process.exit(1);
}
const json = JSON.stringify(document.toJSON(), null, 2);
if (target) {
  writeFileSync(target, json + "\n");
  console.log(`${target}: written`);
} else {
  console.log(json);
}
