// A project and a person in a temporary folder, and skills in memory.

import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after } from "node:test";

import { Skills } from "skillfold";

/** Returns the text of a `SKILL.md`. */
export function skill(name, description, body = "", more = "") {
  return `---\nname: ${name}\ndescription: ${description}\n${more}---\n${body}`;
}

/** Skills that come with a program. */
export const BUNDLED = {
  "pdf/SKILL.md": skill("pdf", "Fills in PDF forms", "# Forms\n\nFields are lower case. See [fields](fields.md).\n", "triggers: [pdf]\n"),
  "pdf/fields.md": "name\n",
  "notes/SKILL.md": skill("notes", "Writes meeting notes", "Start with the date.\n"),
};

/** Writes files into a new folder with a project `app` and a home `person`, and returns the folder. */
export function world(files = {}) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "skillfold-")));
  after(() => rmSync(folder, { recursive: true, force: true }));
  for (const [path, content] of Object.entries({ "app/README.md": "", "person/.profile": "", ...files })) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
  return folder;
}

/** Discovers the skills of a world, and nothing of the machine. */
export function discover(folder, options = {}) {
  return Skills.discoverSync(join(folder, "app"), { home: join(folder, "person"), cache: false, ...options });
}

/** Returns skills in memory alone. */
export function bundled(files = BUNDLED, options = {}) {
  return discover(world(), { bundled: files, ...options });
}
