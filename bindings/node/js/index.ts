/**
 * The skills engine for AI agents.
 *
 * `Skills` are all skills of a project and of the person, live. A `Session` decides turn by turn what a model is told
 * about them, and has the tools for a model to search, load and read skills itself. Results are the JSON of
 * `skillfold --json`, typed.
 */

import { calling, native } from "./native.js";
import type { Decision, StatsReport } from "./views.js";

export {
  ExistsError,
  InvalidError,
  NotFoundError,
  RefusedError,
  RunArgumentsError,
  RunCancelledError,
  RunError,
  RunTimeoutError,
  SandboxUnavailableError,
  SkillfoldError,
  ToolsetError,
  UnreadableError,
  UnwritableError,
} from "./errors.js";
export { type Message, latestUserText } from "./messages.js";
export type { Instructions } from "./native.js";
export type { AgentOptions, SessionOptions, Setting } from "./options.js";
export { commandPath } from "./platform.js";
export { type AddOptions, type InstallOptions, Registry } from "./registry.js";
export { type AllowOptions, Reviewer } from "./reviewer.js";
export { type Abortable, Session, type ToolArguments } from "./session.js";
export {
  AgentSkills,
  type DiscoverOptions,
  type Envelope,
  type FilesOptions,
  type ListOptions,
  type ProposalOptions,
  type ReadOptions,
  type RenderOptions,
  type RunOptions,
  type ScriptLimits,
  type SearchOptions,
  Skills,
} from "./skills.js";
export type * from "./views.js";

/** Returns why each skill was chosen or not, such as `pdf: phrase "fill in a form", given (420 tokens)`. */
export function reasons(decided: { decisions: Decision[] }): string[] {
  return decided.decisions.map(({ id, signal, evidence, outcome, tokens }) => {
    const matched = evidence === "" ? signal : `${signal} "${evidence}"`;
    return `${id}: ${matched}, ${outcome}${tokens === undefined ? "" : ` (${tokens} tokens)`}`;
  });
}

/** Returns how well skills were chosen over time, from a log of trace lines: by day, or for every `outcomes`. */
export function stats(log: Uint8Array, outcomes?: number): StatsReport {
  return JSON.parse(calling(() => native.stats(log, outcomes))) as StatsReport;
}
