// Makes the packages for npm as archives.
//
//     node pack.mjs main --tsc TSC --types NODE_MODULES --out FOLDER   # the package that people install
//     node pack.mjs platform TARGET LIBRARY COMMAND --out FOLDER       # what it has for one system
//     node pack.mjs create --out FOLDER                                # `npm create skillfold-agent`
//
// The address of the repository is the variable REPOSITORY, or else the field `repository` in Cargo.toml; without one the packages
// name none, and npm takes them from no workflow.

import { execFileSync } from "node:child_process";
import { chmodSync, copyFileSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";

const here = import.meta.dirname;
const repository = join(here, "../..");
const { description, license } = JSON.parse(readFileSync(join(here, "package.json"), "utf8"));
// All packages have the version of the crates.
const cargo = readFileSync(join(repository, "Cargo.toml"), "utf8");
const [, version] = /^version = "(.+)"$/m.exec(cargo);
const address = process.env.REPOSITORY || /^repository = "(.+)"$/m.exec(cargo)?.[1];
const origin = address && { repository: { type: "git", url: `git+${address}.git` } };

const SYSTEMS = {
  "aarch64-apple-darwin": { os: "darwin", cpu: "arm64" },
  "x86_64-apple-darwin": { os: "darwin", cpu: "x64" },
  "aarch64-unknown-linux-gnu": { os: "linux", cpu: "arm64", libc: "glibc" },
  "aarch64-unknown-linux-musl": { os: "linux", cpu: "arm64", libc: "musl" },
  "x86_64-unknown-linux-gnu": { os: "linux", cpu: "x64", libc: "glibc" },
  "x86_64-unknown-linux-musl": { os: "linux", cpu: "x64", libc: "musl" },
  "x86_64-pc-windows-gnu": { os: "win32", cpu: "x64" },
  "x86_64-pc-windows-msvc": { os: "win32", cpu: "x64" },
};
const LICENSES = ["LICENSE-APACHE", "LICENSE-MIT"];
const LIBC_ENDS = { glibc: "-gnu", musl: "-musl" };

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    out: { type: "string", default: "dist/npm" },
    tsc: { type: "string" },
    types: { type: "string" },
  },
});
const out = resolve(values.out);
const folder = mkdtempSync(join(tmpdir(), "skillfold-npm-"));

const [kind, ...rest] = positionals;
if (kind === "main") {
  packMain();
} else if (kind === "platform") {
  packPlatform(...rest);
} else if (kind === "create") {
  cpSync(join(here, "create-agent"), folder, { recursive: true });
  addToManifest({ version, ...origin });
} else {
  throw new Error("say what to pack: `main`, `platform` or `create`");
}
for (const name of LICENSES) {
  copyFileSync(join(repository, name), join(folder, name));
}
mkdirSync(out, { recursive: true });
execFileSync("npm", ["pack", "--silent", "--pack-destination", out], { cwd: folder, stdio: ["ignore", "inherit", "inherit"] });
rmSync(folder, { recursive: true });

function packMain() {
  // The compiler looks for packages beside the source.
  const source = join(folder, "source");
  cpSync(join(here, "js"), join(source, "js"), { recursive: true });
  for (const name of ["package.json", "tsconfig.json"]) {
    copyFileSync(join(here, name), join(source, name));
  }
  symlinkSync(resolve(values.types), join(source, "node_modules"));
  const project = ["--project", source, "--outDir", join(folder, "dist")];
  execFileSync(process.execPath, [values.tsc, ...project], { stdio: "inherit" });
  rmSync(source, { recursive: true });
  // What the sandbox has as `@agent/tools`, with its types.
  const toolset = join(repository, "crates/skillfold-run/src/toolset");
  copyFileSync(join(toolset, "agent_tools.js"), join(folder, "dist/tools.js"));
  copyFileSync(join(toolset, "load_tools.mjs"), join(folder, "dist/load_tools.mjs"));
  copyFileSync(join(here, "tools.d.ts"), join(folder, "dist/tools.d.ts"));
  for (const name of ["package.json", "README.md", "bin"]) {
    cpSync(join(here, name), join(folder, name), { recursive: true });
  }
  const platforms = Object.values(SYSTEMS).map((system) => [packageFor(system), version]);
  addToManifest({ version, ...origin, optionalDependencies: Object.fromEntries(platforms) });
}

function addToManifest(fields) {
  const path = join(folder, "package.json");
  const manifest = { ...JSON.parse(readFileSync(path, "utf8")), ...fields };
  writeFileSync(path, `${JSON.stringify(manifest, undefined, 2)}\n`);
}

function packageFor({ os, cpu, libc }) {
  return `@skillfold/${os}-${cpu}${LIBC_ENDS[libc] ?? ""}`;
}

function packPlatform(target, library, command) {
  const system = SYSTEMS[target];
  const { os, cpu, libc } = system;
  const name = packageFor(system);
  const program = os === "win32" ? "skillfold.exe" : "skillfold";
  copyFileSync(library, join(folder, "skillfold.node"));
  copyFileSync(command, join(folder, program));
  chmodSync(join(folder, program), 0o755);
  const text = `# ${name}\n\nThe library and the command of [skillfold](https://www.npmjs.com/package/skillfold) for ${os} on ${cpu}.\n`;
  writeFileSync(join(folder, "README.md"), text);
  const fields = { name, version, description, license, ...origin, os: [os], cpu: [cpu], ...(libc && { libc: [libc] }) };
  const manifest = { ...fields, files: ["skillfold.node", program, ...LICENSES], engines: { node: ">=20.19" } };
  writeFileSync(join(folder, "package.json"), `${JSON.stringify(manifest, undefined, 2)}\n`);
}
