/** The native half of the package: `src/` in Rust. Texts that are returned are views as JSON. */

import { fromNative } from "./errors.js";
import { platformFile } from "./platform.js";

export interface Instructions {
  /** The skill's id, unique in the catalog. */
  readonly id: string;
  /** The skill's name. */
  readonly name: string;
  /** The skill's description. */
  readonly description: string;
  /** The instructions with the arguments filled in, after a line that names the skill's folder. */
  readonly text: string;
  /** The instructions with the arguments filled in. */
  readonly body: string;
  /** The instructions as the file has them. */
  readonly raw: string;
  /** Tokens of the instructions, estimated. */
  readonly tokens: number;
  /** The path of the skill's folder; `null` if it is not in the file system. */
  readonly baseDir: string | null;
  /** Ids of the skills to load first. */
  readonly requires: string[];
  /** What there is to say about this load, such as that the file changed since discovery. */
  readonly notes: string[];
}

export interface NativeCancel {
  cancel(): void;
}

export interface NativeWatcher {
  close(): void;
}

export interface NativeSession {
  turn(message: string): Promise<string>;
  turnSync(message: string): string;
  load(id: string, args: string): Promise<Instructions>;
  loadSync(id: string, args: string): Instructions;
  call(call: string): Promise<string>;
  callSync(call: string): string;
  callTool(name: string, args: string, record: boolean, cancel: NativeCancel): Promise<string>;
  callToolSync(name: string, args: string, record: boolean): string;
  child(ids: string[]): NativeSession;
}

/** What the skills and an agent's skills have in common. */
export interface NativeReadable {
  load(id: string, args: string): Promise<Instructions>;
  loadSync(id: string, args: string): Instructions;
  call(call: string): Promise<string>;
  callSync(call: string): string;
  ids(): string[];
  session(options: string): NativeSession;
}

export interface NativeAgentSkills extends NativeReadable {
  readonly id: string;
  narrow(uses: string): NativeAgentSkills;
}

export interface BundledFile {
  path: string;
  content: Uint8Array;
}

export interface NativeSkills extends NativeReadable {
  readonly warnings: string[];
  readonly count: number;
  forUser(): NativeSkills;
  has(id: string): boolean;
  longCall(call: string): Promise<string>;
  run(call: string, input: Uint8Array, cancel: NativeCancel): Promise<string>;
  runSync(call: string, input: Uint8Array): string;
  watch(interval: number, onChange: (view: string) => void): NativeWatcher;
  bind(uses: string): NativeAgentSkills;
}

interface Native {
  Skills: {
    discover(options: string, files: BundledFile[]): Promise<NativeSkills>;
    discoverSync(options: string, files: BundledFile[]): NativeSkills;
  };
  Cancel: new () => NativeCancel;
  stats(log: Uint8Array, outcomes?: number): string;
}

export const native = require(platformFile("skillfold.node")) as Native;

/** Makes a call, and throws its error as people see it. */
export function calling<T>(call: () => T): T {
  try {
    return call();
  } catch (error) {
    throw fromNative(error);
  }
}

/** Waits for a call, and throws its error as people see it. */
export async function awaiting<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw fromNative(error);
  }
}

/** Waits for what `signal` can end. After an abort it waits until that has ended, and throws the signal's reason. */
export async function abortable<T>(
  signal: AbortSignal | undefined,
  start: (cancel: NativeCancel) => Promise<T>,
): Promise<T> {
  signal?.throwIfAborted();
  const cancel = new native.Cancel();
  const abort = () => cancel.cancel();
  signal?.addEventListener("abort", abort);
  try {
    return await awaiting(() => start(cancel));
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  } finally {
    signal?.removeEventListener("abort", abort);
  }
}
