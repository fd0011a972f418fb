/** A conversation with a model. */

import { type Message, latestUserText } from "./messages.js";
import { type Instructions, type NativeSession, abortable, awaiting, calling } from "./native.js";
import { asJson } from "./options.js";
import type { Listing, Tool, ToolAnswer, ToolList, Turn, Why } from "./views.js";

/** What ends a call that runs a script. */
export interface Abortable {
  signal?: AbortSignal | undefined;
}

export interface CallOptions extends Abortable {
  /**
   * Whether the conversation remembers what the answer gives; it does, if this is left out. If the model may not get the
   * answer, pass `false`, and call `load` once it has it.
   */
  record?: boolean | undefined;
}

/** The arguments of a tool, as an object or as JSON. */
export type ToolArguments = Readonly<Record<string, unknown>> | string;

const CHECKS: Record<string, boolean> = { allowed: true, conditional: false, refused: false };

/** Returns whether a tool may be called, by the engine's word. */
export function toolCheck(word: string): boolean | undefined {
  return CHECKS[word];
}

/**
 * One conversation: what its model is told about skills, turn by turn.
 *
 * It remembers what the model has, so that nothing is given twice. `Skills.session` starts one.
 */
export class Session {
  readonly #native: NativeSession;

  /** Use `Skills.session`. */
  constructor(native: NativeSession) {
    this.#native = native;
  }

  #call<T>(call: unknown): T {
    return JSON.parse(calling(() => this.#native.callSync(asJson(call)))) as T;
  }

  async #ask<T>(call: unknown): Promise<T> {
    return JSON.parse(await awaiting(() => this.#native.call(asJson(call)))) as T;
  }

  /**
   * Returns the listing for the system prompt: one line per skill, within a budget.
   *
   * It is byte-identical while the skills are unchanged, so that a prompt cache keeps it. Later changes are announced
   * in turns. Its text is empty if there are no skills, or with the disclosure `triggered`.
   */
  listing(): Listing {
    return this.#call<Listing | null>("listing") ?? { text: "", tokens: 0, skills: 0 };
  }

  /**
   * Decides what to tell the model for a request: a text, or a list of messages of which the user's latest counts.
   *
   * Add the `text` of the result to the model's context. It is absent if the request needs no skill, or the model has
   * what it needs.
   */
  async turn(request: Message | readonly Message[]): Promise<Turn> {
    const message = latestUserText(request);
    return JSON.parse(await awaiting(() => this.#native.turn(message))) as Turn;
  }

  /** Does what `turn` does, on this thread. */
  turnSync(request: Message | readonly Message[]): Turn {
    const message = latestUserText(request);
    return JSON.parse(calling(() => this.#native.turnSync(message))) as Turn;
  }

  /**
   * Explains what a request would add, and why the skills `ids` would not be chosen.
   *
   * The conversation does not change. The result is for people: it may name skills that the model may not see.
   */
  why(message: string, ...ids: string[]): Promise<Why> {
    return this.#ask({ why: { message, ids } });
  }

  /** Does what `why` does, on this thread. */
  whySync(message: string, ...ids: string[]): Why {
    return this.#call({ why: { message, ids } });
  }

  /** Loads a skill that the model asked for, and remembers that it has it. */
  load(id: string, args = ""): Promise<Instructions> {
    return awaiting(() => this.#native.load(id, args));
  }

  /** Does what `load` does, on this thread. */
  loadSync(id: string, args = ""): Instructions {
    return calling(() => this.#native.loadSync(id, args));
  }

  /** Returns the tools for the model, to search, load, read and list skills; none if there are no skills. */
  tools(): Tool[] {
    return this.#call<ToolList>("tools").tools;
  }

  /**
   * Calls a tool as the model asked.
   *
   * What is wrong with the call is in the answer, for the model to act on; nothing is thrown. If `signal` is aborted,
   * a script that the call runs is ended, and the signal's reason is thrown.
   */
  async call(name: string, args: ToolArguments = {}, options: CallOptions = {}): Promise<ToolAnswer> {
    const { signal, record = true } = options;
    const given = typeof args === "string" ? args : asJson(args);
    const text = await abortable(signal, (cancel) => this.#native.callTool(name, given, record, cancel));
    const answer = JSON.parse(text) as ToolAnswer;
    if (answer.is_error) {
      signal?.throwIfAborted();
    }
    return answer;
  }

  /** Does what `call` does, on this thread. */
  callSync(name: string, args: ToolArguments = {}, options: Pick<CallOptions, "record"> = {}): ToolAnswer {
    const { record = true } = options;
    const given = typeof args === "string" ? args : asJson(args);
    return JSON.parse(calling(() => this.#native.callToolSync(name, given, record))) as ToolAnswer;
  }

  /**
   * Returns what to give again, within a budget of tokens, after the conversation was compacted.
   *
   * The instructions of the skills `kept`, by their ids, are still in the conversation.
   */
  afterCompaction(tokens = 4_000, kept: readonly string[] = []): Promise<Turn> {
    return this.#ask({ after_compaction: { tokens, kept } });
  }

  /** Does what `afterCompaction` does, on this thread. */
  afterCompactionSync(tokens = 4_000, kept: readonly string[] = []): Turn {
    return this.#call({ after_compaction: { tokens, kept } });
  }

  /** Records whether a skill was used, given but not used, or missed; `skillfold stats` reports on it. */
  recordFeedback(id: string, feedback: "used" | "unused" | "missed"): void {
    this.#call({ record_feedback: { id, feedback } });
  }

  /**
   * Returns whether the skills whose instructions the model has allow a use of a tool; `undefined` if none lists tools.
   *
   * `input` is what the tool is given: for a shell its command line. Ask before each call of a tool to enforce
   * `allowed-tools`.
   */
  checkTool(tool: string, input = ""): boolean | undefined {
    return toolCheck(this.#call({ check_tool: { tool, input } }));
  }

  /** Starts a conversation of a sub-agent that sees only these skills, at most those that this one sees. */
  child(...ids: string[]): Session {
    return new Session(calling(() => this.#native.child(ids)));
  }

  /**
   * Returns the state as JSON, for `Skills.session({ state })`.
   *
   * It contains ids, numbers and the arguments that skills were loaded with; no requests and no instructions.
   */
  save(): string {
    return calling(() => this.#native.callSync('"state"'));
  }

  /** Returns whether there is such a skill and the conversation's model may see it. */
  maySee(id: string): boolean {
    return this.#call({ may_see: { id } });
  }

  get #numbers(): [turns: number, tokensSpent: number, plainListTokens: number] {
    return this.#call("numbers");
  }

  /** The number of turns so far. */
  get turns(): number {
    return this.#numbers[0];
  }

  /** Tokens that were spent on skills so far. */
  get tokensSpent(): number {
    return this.#numbers[1];
  }

  /** Tokens of a plain list of all descriptions, which most clients put into every request. */
  get plainListTokens(): number {
    return this.#numbers[2];
  }
}
