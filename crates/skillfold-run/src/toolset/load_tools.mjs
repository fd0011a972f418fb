// Finds the tools of a JavaScript or TypeScript module, and calls them. The Node package has it too.

const DEFAULTS = ["default", "toolset", "tools"];
const EMPTY_SCHEMA = { type: "object", properties: {} };

/** Returns the tools that an export of a module has; without a name, those of its default. */
export async function toolsOf(module, name) {
  const names = name ? [name] : DEFAULTS;
  const found = names.find((name) => module[name] !== undefined);
  if (found === undefined) {
    const wanted = names.map((name) => `\`${name}\``).join(" or ");
    throw new Error(`the module has no export ${wanted}; it has: ${Object.keys(module).join(", ")}`);
  }
  const value = module[found];
  let listed = typeof value === "function" ? new value() : value;
  if (typeof listed?.execute === "function") listed = [listed];
  else if (listed?.tools !== undefined) listed = typeof listed.tools === "function" ? await listed.tools() : listed.tools;
  if (typeof listed !== "object" || listed === null) throw new TypeError("the export is no list of tools, and has no `tools`");
  const entries = Array.isArray(listed) ? listed.map((tool) => [undefined, tool]) : Object.entries(listed);
  return entries.map(([key, tool]) => toTool(tool, key));
}

function toTool(source, key) {
  const name = source?.name ?? key;
  if (typeof name !== "string" || typeof source.execute !== "function") {
    throw new TypeError("a tool needs a `name` and a function `execute`");
  }
  const parameters = source.parameters;
  return { name, description: source.description ?? "", inputSchema: toSchema(parameters, name), parameters, source };
}

function toSchema(parameters, name) {
  if (parameters === undefined || parameters === null) return EMPTY_SCHEMA;
  if (typeof parameters.toJSONSchema === "function") return parameters.toJSONSchema();
  if (typeof parameters !== "object" || parameters._def !== undefined) {
    throw new TypeError(`\`parameters\` of \`${name}\` is neither a JSON schema nor has \`toJSONSchema\``);
  }
  return parameters;
}

/** Calls a tool. What it returns is a text, or an object with `output` and perhaps `title` and `metadata`. */
export async function callTool(tool, given, context) {
  const args = typeof tool.parameters?.parse === "function" ? tool.parameters.parse(given) : given;
  const value = await tool.source.execute(args, { ...context, tool: tool.name });
  const { output, title, metadata } = value !== null && typeof value === "object" && "output" in value ? value : { output: value };
  const text = typeof output === "string" ? output : (JSON.stringify(output ?? "") ?? "");
  const result = { output: output == null ? "" : text };
  if (title) result.title = String(title);
  if (metadata) result.metadata = metadata;
  // What is not JSON fails here, as the tool's fault, and not when it is sent.
  JSON.stringify(result);
  return result;
}
