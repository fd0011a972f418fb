/** The package with the library and the command for this system. */

import { dirname, join } from "node:path";

/** Returns the names that the package may have, such as `@skillfold/linux-x64-gnu`. */
export function platformPackages(): string[] {
  const name = `@skillfold/${process.platform}-${process.arch}`;
  return process.platform === "linux" ? [`${name}-gnu`, `${name}-musl`] : [name];
}

/** Returns a file of the package: its path, which may not exist. */
export function platformFile(name: string): string {
  const installed = platformPackages().flatMap(folderOf);
  // Installers that do not know of the C library install both.
  const folder = installed.length > 1 && isMusl() ? installed[1] : installed[0];
  if (folder === undefined) {
    const names = platformPackages().map((name) => `\`${name}\``).join(" or ");
    const hint = "npm leaves it out with `--omit=optional`, and there may be none for this system";
    throw new Error(`Skillfold needs the package ${names}, which is not installed: ${hint}`);
  }
  return join(folder, name);
}

/** Returns the path of the command `skillfold`, such as for a server that you start. */
export function commandPath(): string {
  return platformFile(process.platform === "win32" ? "skillfold.exe" : "skillfold");
}

function folderOf(name: string): string[] {
  try {
    return [dirname(require.resolve(`${name}/package.json`))];
  } catch {
    return [];
  }
}

function isMusl(): boolean {
  const report = process.report.getReport() as { header: { glibcVersionRuntime?: string } };
  return report.header.glibcVersionRuntime === undefined;
}
