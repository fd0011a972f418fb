/** The errors of the engine. Each has a `code`, stable across releases, and a `hint` that says what to do. */

import type { Failure } from "./views.js";

/** The base of all errors of the engine. */
export class SkillfoldError extends Error {
  /** Everything that the engine says about the error. */
  readonly failure: Failure;

  constructor(failure: Failure) {
    const nearest = (failure.nearest ?? []).map((id) => `\`${id}\``).join(", ");
    const next = nearest === "" ? failure.hint : `Did you mean ${nearest}?`;
    super([failure.message, next].filter((part) => part !== "").join(". "));
    this.name = new.target.name;
    this.failure = failure;
  }

  /** What kind of error it is, such as `not_found`. */
  get code(): string {
    return this.failure.error;
  }

  /** What to do about it. */
  get hint(): string {
    return this.failure.hint;
  }

  /** Existing ids that are similar to an unknown one, the nearest first. */
  get nearest(): string[] {
    return this.failure.nearest ?? [];
  }
}

/** A skill, file or folder does not exist. */
export class NotFoundError extends SkillfoldError {}

/** A rule forbids it: an untrusted skill, a path that leads out of the skill, a file over a limit. */
export class RefusedError extends SkillfoldError {
  /** Which rule refused it, such as `traversal` or `untrusted`. */
  get refusal(): string | undefined {
    return this.failure.refusal;
  }
}

/** It exists, but could not be read. */
export class UnreadableError extends SkillfoldError {}

/** An argument, a setting or a file is malformed. */
export class InvalidError extends SkillfoldError {}

/** A file exists already and was left as it is. */
export class ExistsError extends SkillfoldError {}

/** It could not be written. */
export class UnwritableError extends SkillfoldError {}

/** A script or a tool of a skill did not run. What ended one that did run is in its result. */
export class RunError extends SkillfoldError {}

/** The system lacks a layer of the sandbox. */
export class SandboxUnavailableError extends RunError {}

/** The arguments or the input are over a limit, or do not fit the tool. */
export class RunArgumentsError extends RunError {}

/** The toolset has no such tool, cannot be loaded, or failed. */
export class ToolsetError extends RunError {}

/** The toolset did not answer in time. */
export class RunTimeoutError extends RunError {}

/** The call was cancelled. */
export class RunCancelledError extends RunError {}

const CLASSES: Record<string, typeof SkillfoldError> = {
  not_found: NotFoundError,
  refused: RefusedError,
  unreadable: UnreadableError,
  invalid: InvalidError,
  exists: ExistsError,
  unwritable: UnwritableError,
  failed_to_start: RunError,
  interpreter_missing: RunError,
  not_a_script: RunError,
  not_permitted: RunError,
  invalid_dependencies: RunError,
  packages_not_installed: RunError,
  sandbox_unavailable: SandboxUnavailableError,
  too_many_arguments: RunArgumentsError,
  arguments_too_long: RunArgumentsError,
  input_too_large: RunArgumentsError,
  invalid_arguments: RunArgumentsError,
  unknown_tool: ToolsetError,
  invalid_toolset: ToolsetError,
  toolset_failed: ToolsetError,
  timeout: RunTimeoutError,
  cancelled: RunCancelledError,
};

/** Returns the error for a view of one. */
export function fromView(failure: Failure): SkillfoldError {
  return new (CLASSES[failure.error] ?? SkillfoldError)(failure);
}

/** Returns the error for what the native half throws: its message is the view as JSON. */
export function fromNative(error: unknown): unknown {
  if (!(error instanceof Error) || !error.message.startsWith("{")) {
    return error;
  }
  const made = fromView(JSON.parse(error.message) as Failure);
  // The place of the call, not that of the conversion.
  Error.captureStackTrace?.(made, fromNative);
  return made;
}
