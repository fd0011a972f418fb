// Skills, and what the tests of all frameworks share.

import { Skills } from "skillfold";

import { world } from "../world.mjs";

export const PICTURE =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

const FILES = {
  "pdf/SKILL.md": "---\nname: pdf\ndescription: Fills in PDF forms\ntriggers: [tax form]\n---\nUse forms.md.\n",
  "pdf/forms.md": "Every field has a name.\n",
  "pdf/form.png": Buffer.from(PICTURE, "base64"),
  "mail/SKILL.md": "---\nname: mail\ndescription: Writes letters\ntriggers: [letter]\n---\nBe polite.\n",
};

export const PDF = "Use forms.md.";
export const MAIL = "Be polite.";

export function twoSkills(files = {}) {
  const folder = world();
  return Skills.discoverSync(folder, { bundled: { ...FILES, ...files }, home: folder });
}

/** Returns how often a text is in what a model got. Options of other providers do not reach it. */
export function count(request, text) {
  const sent = JSON.stringify(request, (key, value) => (key === "providerOptions" ? undefined : value));
  return sent.split(text).length - 1;
}

/** Answers of a model: a call is `[tool, arguments]`; after the script it says `ok`. */
export class Script {
  constructor(...steps) {
    this.steps = steps;
    this.calls = 0;
  }

  /** Returns the next calls of tools; none if it is the text. */
  next() {
    const step = this.steps.shift() ?? [];
    return step.map(([name, args]) => ({ id: `call-${(this.calls += 1)}`, name, args }));
  }
}
