// Answers the requests of the conformance cases, a line each: `crates/skillfold-testkit/src/bin/conformance.rs` asks.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";

import { SkillfoldError, Skills, stats } from "skillfold";

async function answer({ call, arguments: given, settings, folder }) {
  const skills = await Skills.discover(folder, { home: join(folder, "person"), settings, cache: false, lenient: true });
  const { id, limit, cursor: after, ...args } = given ?? {};
  const person = skills.forUser();
  switch (call) {
    case "list":
      return given === undefined ? skills.list() : skills.list({ limit: limit ?? 1_000, after, ...args });
    case "show":
      return skills.show(id);
    case "load":
      return person.render(id, { args: args.arguments, envelope: args.envelope });
    case "files":
      return person.files(id, { limit: limit ?? 1_000, after });
    case "read": {
      const [start, end] = (args.range ?? "..").split("..");
      return person.read(id, args.path, { start: Number(start), end: end === "" ? undefined : Number(end) });
    }
    case "prompt":
      return skills.prompt(args.request);
    case "why":
      return skills.why(args.request, ...(args.skill === undefined ? [] : [args.skill]));
    case "search":
      return skills.search(args.request);
    case "check":
      return skills.check();
    case "test":
      return skills.evaluate(...(id === undefined ? [] : [id]));
    case "stats":
      return stats(readFileSync(join(folder, args.file)), args.every);
    case "doctor":
      return skills.doctor();
    case "settings":
      return skills.settings();
    default:
      throw new Error(`no such call: ${call}`);
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  let given;
  try {
    given = await answer(JSON.parse(line));
  } catch (error) {
    given = error instanceof SkillfoldError ? error.failure : { error: String(error) };
  }
  console.log(JSON.stringify(given));
}
