/** Toolsets of skills in this process. */

import { existsSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import * as modules from "node:module";
import { tmpdir } from "node:os";
import { join, sep } from "node:path";
import { pathToFileURL } from "node:url";

import { RefusedError, type Skills, ToolsetError } from "./index.js";
import { callTool, toolsOf } from "./load_tools.mjs";

/** What a tool returned. */
export interface ToolOutput {
  /** The text for the model. */
  readonly output: string;
  readonly title?: string;
  readonly metadata?: unknown;
}

/** A tool of a skill in this process. */
export interface ImportedTool {
  readonly name: string;
  readonly description: string;
  /** The JSON schema of its arguments. */
  readonly inputSchema: unknown;
  /** Calls it. What it throws is thrown. */
  call(args: Readonly<Record<string, unknown>>): Promise<ToolOutput>;
}

// The extensions that a skill may leave out, in the order in which they are tried.
const EXTENSIONS = ["mjs", "js", "cjs", "mts", "ts", "cts"];
const TOOLS = new URL("./tools.js", import.meta.url).href;

const folders = new Set<string>();

/**
 * Imports the toolsets of a skill that are JavaScript or TypeScript: as code of your own, without the sandbox.
 *
 * So it is for skills that you wrote, or would merge into your program. A skill that models do not get is not found.
 * `@agent/tools` is `skillfold/tools`; packages that the skill does not have are found from the working folder. TypeScript
 * needs Bun, or Node 22.18 or newer.
 */
export async function importToolsets(skills: Skills, id: string): Promise<ImportedTool[]> {
  const { baseDir } = await skills.load(id);
  if (baseDir === null) {
    throw new ToolsetError({ error: "invalid_toolset", message: `\`${id}\` has no folder to import from`, hint: "" });
  }
  // Modules know their folder without links.
  const skill = realpathSync(baseDir);
  const context = { skill, get scratch() { return (folder ??= scratchFolder()); } };
  let folder: string | undefined;
  const imported: ImportedTool[] = [];
  for (const toolset of skills.show(id).toolsets ?? []) {
    const [path = "", name] = toolset.split(":");
    const file = fileOf(skill, path);
    if (file === undefined) {
      continue;
    }
    resolving(skill);
    const module = (await import(pathToFileURL(file).href)) as object;
    for (const tool of await toolsOf(module, name)) {
      const { name, description, inputSchema } = tool;
      imported.push({ name, description, inputSchema, call: (args) => callTool(tool, args, context) });
    }
  }
  return imported;
}

/** Returns the module of a toolset; nothing if it is Python. */
function fileOf(skill: string, toolset: string): string | undefined {
  const path = join(skill, toolset);
  const names = ["", "/index"].flatMap((rest) => EXTENSIONS.map((extension) => `${path}${rest}.${extension}`));
  const isModule = EXTENSIONS.some((extension) => path.endsWith(`.${extension}`));
  const file = [...(isModule ? [path] : []), ...names].find((name) => existsSync(name));
  if (file !== undefined && !realpathSync(file).startsWith(skill + sep)) {
    const message = `The toolset \`${toolset}\` leads out of the skill`;
    throw new RefusedError({ error: "refused", refusal: "traversal", message, hint: "Name a file of the skill" });
  }
  if (file === undefined && ![path, `${path}.py`, `${path}/__init__.py`].some((name) => existsSync(name))) {
    const message = `There is no module for the toolset \`${toolset}\``;
    throw new ToolsetError({ error: "invalid_toolset", message, hint: "Name its file by the path in the skill" });
  }
  return file;
}

/** Returns a new folder that lasts as long as the process. */
function scratchFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "skillfold-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Finds `@agent/tools`, and packages of the working folder, for the modules of a skill. */
function resolving(skill: string): void {
  // Bun and older releases of Node resolve as the skill's folder says.
  if (folders.size === 0 && modules.registerHooks !== undefined) {
    const project = pathToFileURL(join(process.cwd(), "package.json")).href;
    modules.registerHooks({
      resolve(specifier, context, next) {
        const isBare = !/^([./]|[a-z]+:)/.test(specifier);
        const parent = context.parentURL ?? "";
        if (!isBare || ![...folders].some((folder) => parent.startsWith(folder))) {
          return next(specifier, context);
        }
        try {
          return next(specifier, context);
        } catch (error) {
          if (specifier === "@agent/tools") {
            return { url: TOOLS, shortCircuit: true };
          }
          const { code } = error as { code?: string };
          if (code === "MODULE_NOT_FOUND") {
            // Of `require`, which takes no other parent.
            return { url: pathToFileURL(modules.createRequire(project).resolve(specifier)).href, shortCircuit: true };
          }
          if (code === "ERR_MODULE_NOT_FOUND") {
            return next(specifier, { ...context, parentURL: project });
          }
          throw error;
        }
      },
    });
  }
  folders.add(`${pathToFileURL(skill).href}/`);
}
