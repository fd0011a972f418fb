// Installs the packages that a package.json names, without the scripts that packages bring for that.
const { spawnSync } = require("node:child_process");
const fs = require("node:fs");
const path = require("node:path");

// Whoever runs a script with them reads them: root starts the installer as nobody.
process.umask(0o022);
const [file, npm, folder] = process.argv.slice(2);
const lock = "package-lock.json";
const own = path.join(path.dirname(file), lock);
const earlier = path.join(path.dirname(file), "earlier-lock");
// The mode is not copied: npm writes to these files.
fs.writeFileSync(path.join(folder, "package.json"), fs.readFileSync(file));
const followed = [earlier, own].find((lock) => fs.existsSync(lock));
if (followed) {
  fs.writeFileSync(path.join(folder, lock), fs.readFileSync(followed));
}
const cache = path.join(folder, "cache");
const options = [
  "--ignore-scripts",
  // A repository is installed by a program that settings in it can name.
  "--allow-git=none",
  "--git=/nonexistent",
  "--globalconfig=/nonexistent",
  "--omit=dev",
  "--no-audit",
  "--no-fund",
  "--no-update-notifier",
  "--loglevel=error",
];
function run(...words) {
  const done = spawnSync(process.execPath, [npm, ...words, ...options, `--cache=${cache}`], {
    cwd: folder,
    stdio: ["ignore", 2, 2],
  });
  if (done.status !== 0) {
    process.exit(done.status ?? 1);
  }
}
if (followed !== earlier) {
  run("install", "--package-lock-only");
}
// Always by a lock, so that the same lock gives the same files.
run("ci");
fs.mkdirSync(path.join(folder, "node_modules"), { recursive: true });
fs.rmSync(cache, { recursive: true, force: true });
const { packages } = JSON.parse(fs.readFileSync(path.join(folder, lock), "utf8"));
const names = Object.entries(packages)
  .filter(([place]) => place.startsWith("node_modules/") && fs.existsSync(path.join(folder, place)))
  .map(([place, { version }]) => `${place.slice(place.lastIndexOf("node_modules/") + 13)} ${version}`);
process.stdout.write(JSON.stringify([...new Set(names)]));
