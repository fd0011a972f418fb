// What a discovery, a turn and a cached load cost with the package: `node cost.mjs FOLDER REQUESTS`.
//
// One session gets all requests, the first of them before the clock starts, because the first search builds its index.

import { readFileSync } from "node:fs";

import { Skills } from "skillfold";

const LOADS = 200_000;

const [folder, file] = process.argv.slice(2);
const [first, ...requests] = readFileSync(file, "utf8").split("\n");

/** Returns the CPU time of all threads in microseconds. */
function cost(work) {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

const options = { home: "/nowhere", roots: [folder], settings: { default_roots: false }, cache: false };
let skills;
const discover = cost(() => (skills = Skills.discoverSync("/", options)));
const session = skills.session();
session.turnSync(first);
const turns = cost(() => requests.forEach((request) => session.turnSync(request)));
const ids = skills.ids().slice(0, 50);
ids.forEach((id) => skills.loadSync(id));
const loads = (use) =>
  cost(() => {
    for (let number = 0; number < LOADS; number += 1) {
      use(skills.loadSync(ids[number % ids.length]));
    }
  }) / LOADS;
const load = loads(() => {});
const text = loads((loaded) => loaded.text);
const figures = {
  skills: skills.size,
  discover_ms: discover / 1e3,
  turn_us: turns / requests.length,
  load_us: load,
  load_with_text_us: text,
};
console.log(JSON.stringify(figures));
