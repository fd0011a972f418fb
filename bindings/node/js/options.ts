/** What calls take, and how it is passed to the engine. */

import { delimiter } from "node:path";

export type Setting = string | number | boolean | readonly string[];

/** How a conversation differs from the settings. */
export interface SessionOptions {
  disclosure?: "catalog" | "triggered" | "hybrid" | undefined;
  style?: "lines" | "xml-rules" | "xml" | "markdown" | "tiers" | "bullets" | undefined;
  /** The budget of the listing, such as `2000 characters` or `2% of 200000`. */
  listing?: string | undefined;
  matching?: "keyword" | "hybrid" | "semantic" | undefined;
  /** How many skills one request brings at most. */
  maxPerRequest?: number | undefined;
  /** Whether a request that needs no skill adds how many there are. */
  breadcrumb?: boolean | undefined;
  fallback?: "none" | "show_all" | "ask_user" | undefined;
  /** Limits the instructions that one turn adds. */
  bodyTokens?: number | undefined;
  /** For hosts that drop added text after each call: it is given again in each turn that needs it. */
  transient?: boolean | undefined;
  /** What `Session.save` returned, to resume a conversation. */
  state?: string | undefined;
}

/** Which skills an agent uses. Without `skills`, the person's settings say what it uses and sees. */
export interface AgentOptions {
  skills?: readonly string[] | undefined;
  /** Whether it sees all skills, or only those that it uses. */
  sees?: "all" | "used" | undefined;
}

/** Returns a call or its options as the engine takes them. Half of a surrogate pair becomes a replacement character. */
export function asJson(value: unknown): string {
  return JSON.stringify(value, (name, part: unknown) => {
    if (typeof part === "number" && !Number.isFinite(part)) {
      throw new TypeError(`\`${name}\` is ${part}`);
    }
    return typeof part === "string" ? part.toWellFormed() : part;
  });
}

// Settings that are `on` or `off`; the others that are switches are `true` or `false`.
const WORD_SWITCHES = new Set(["breadcrumb", "index", "proposals", "scripts", "watch"]);
// Settings that are lists of paths.
const PATH_LISTS = new Set(["roots", "trusted"]);

/** Returns settings as the engine reads them from variables. */
export function asSettings(settings: Readonly<Record<string, Setting | undefined>>): [key: string, value: string][] {
  const given = Object.entries(settings).filter((entry): entry is [string, Setting] => entry[1] !== undefined);
  return given.map(([key, value]) => asSetting(snakeCase(key), value));
}

function asSetting(key: string, value: Setting): [key: string, value: string] {
  if (typeof value === "boolean") {
    const [on, off] = WORD_SWITCHES.has(key) ? ["on", "off"] : ["true", "false"];
    return [key, value ? on : off];
  }
  return [key, Array.isArray(value) ? value.join(PATH_LISTS.has(key) ? delimiter : ",") : String(value)];
}

/** Returns the options of a conversation as JSON. */
export function sessionOptions(options: SessionOptions): string {
  const { transient, state, bodyTokens, ...settings } = options;
  return asJson({
    settings: asSettings(settings),
    transient,
    state,
    body_tokens: bodyTokens,
  });
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** Returns what an agent uses as JSON. */
export function agentOptions(id: string, options: AgentOptions): string {
  const { sees = "all", ...given } = options;
  return asJson({ ...given, id, sees });
}
