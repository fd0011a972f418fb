/** The live handle to all skills, and what one agent sees of them. */

import { realpathSync } from "node:fs";
import { resolve } from "node:path";

import { fromView } from "./errors.js";
import {
  type BundledFile,
  type Instructions,
  type NativeAgentSkills,
  type NativeReadable,
  type NativeSkills,
  type NativeWatcher,
  abortable,
  awaiting,
  calling,
  native,
} from "./native.js";
import {
  type AgentOptions,
  type SessionOptions,
  type Setting,
  agentOptions,
  asJson,
  asSettings,
  sessionOptions,
} from "./options.js";
import { Registry } from "./registry.js";
import { Reviewer } from "./reviewer.js";
import { type Abortable, Session, toolCheck } from "./session.js";
import type {
  Changes,
  Check,
  Composed,
  Counters,
  Doctor,
  Evaluation,
  Failure,
  FileContent,
  FileListing,
  History,
  LoadedSkill,
  Prompt,
  Proposal,
  ProposalList,
  Run,
  ScriptList,
  SearchResults,
  SettingsReport,
  Skill,
  SkillList,
  SkillRecord,
  Why,
} from "./views.js";

export type Envelope = "plain" | "read_skill" | "skill_context" | "skill_content";

export interface RenderOptions {
  /** What `$ARGUMENTS` and the like become. */
  args?: string | undefined;
  envelope?: Envelope | undefined;
}

export interface FilesOptions {
  /** Continues after this path, which is `next` of the page before. */
  after?: string | undefined;
  limit?: number | undefined;
}

export interface ReadOptions {
  /** The first byte. */
  start?: number | undefined;
  /** The byte after the last. */
  end?: number | undefined;
}

export interface DiscoverOptions {
  /** More folders of skills. */
  roots?: readonly string[] | undefined;
  /** Skills that come with the program: a folder, or files by path, such as `{ "pdf/SKILL.md": "..." }`. */
  bundled?: string | Readonly<Record<string, string | Uint8Array>> | undefined;
  /** Settings that override the person's files and variables. */
  settings?: Readonly<Record<string, Setting>> | undefined;
  /** Whether models get the project's skills, whichever it is. */
  trustProject?: boolean | undefined;
  /** Whether metadata of many skills is cached on disk for the next start; it is, if this is left out. */
  cache?: boolean | undefined;
  /** Whether invalid settings are only reported, by `doctor`; otherwise they are an error. */
  lenient?: boolean | undefined;
  /** Replaces the person's home. With it or `environment`, no variable of the process is read. */
  home?: string | undefined;
  /** Replaces the variables of the process. */
  environment?: Readonly<Record<string, string>> | undefined;
}

export interface ListOptions {
  /** A part of the id or of a tag. */
  query?: string | undefined;
  scope?: string | undefined;
  /** A regular expression for the name. */
  name?: string | undefined;
  /** Words of the description. */
  words?: string | undefined;
  tag?: string | undefined;
  limit?: number | undefined;
  /** Continues after this id, which is `next` of the page before. */
  after?: string | undefined;
}

export interface SearchOptions {
  limit?: number | undefined;
  /** Whether skills that models do not get are found too. */
  all?: boolean | undefined;
}

export interface ProposalOptions {
  evidence?: string | undefined;
  /** The agent that proposes it. */
  author?: string | undefined;
  /** The conversation of the agent. */
  session?: string | undefined;
}

/** Limits of a run. What is left out is as the settings say. */
export interface ScriptLimits {
  seconds?: number | undefined;
  memory_mb?: number | undefined;
  output_kb?: number | undefined;
  processes?: number | undefined;
}

export interface RunOptions extends Abortable {
  args?: readonly string[] | undefined;
  /** What the script reads. */
  input?: string | Uint8Array | undefined;
  limits?: ScriptLimits | undefined;
}

/** What the skills and an agent's skills have in common. */
abstract class Readable<N extends NativeReadable> {
  protected readonly native: N;

  protected constructor(nativeHandle: N) {
    this.native = nativeHandle;
  }

  protected callSync<T>(call: unknown): T {
    return JSON.parse(calling(() => this.native.callSync(asJson(call)))) as T;
  }

  protected async ask<T>(call: unknown): Promise<T> {
    return JSON.parse(await awaiting(() => this.native.call(asJson(call)))) as T;
  }

  /** Returns the ids of the skills that a model may see. */
  ids(): string[] {
    return this.native.ids();
  }

  /** Returns the instructions of a skill with the arguments filled in. They are read on first use, then cached. */
  load(id: string, args = ""): Promise<Instructions> {
    return awaiting(() => this.native.load(id, args));
  }

  /** Does what `load` does, on this thread. */
  loadSync(id: string, args = ""): Instructions {
    return calling(() => this.native.loadSync(id, args));
  }

  /** Returns the instructions of a skill in an envelope for a model. */
  render(id: string, options: RenderOptions = {}): Promise<LoadedSkill> {
    return this.ask(renderCall(id, options));
  }

  /** Does what `render` does, on this thread. */
  renderSync(id: string, options: RenderOptions = {}): LoadedSkill {
    return this.callSync(renderCall(id, options));
  }

  /** Returns a page of the files of a skill. Those that the instructions mention come first. */
  files(id: string, options: FilesOptions = {}): Promise<FileListing> {
    return this.ask(filesCall(id, options));
  }

  /** Does what `files` does, on this thread. */
  filesSync(id: string, options: FilesOptions = {}): FileListing {
    return this.callSync(filesCall(id, options));
  }

  /** Returns a file of a skill, or a part of it. A path that leads out of the skill is refused. */
  read(id: string, path: string, options: ReadOptions = {}): Promise<FileContent> {
    return this.ask(readCall(id, path, options));
  }

  /** Does what `read` does, on this thread. */
  readSync(id: string, path: string, options: ReadOptions = {}): FileContent {
    return this.callSync(readCall(id, path, options));
  }

  /** Starts a conversation, or resumes one from its saved `state`. What is left out is as the settings say. */
  session(options: SessionOptions = {}): Session {
    return new Session(calling(() => this.native.session(sessionOptions(options))));
  }

  /** Returns the skills. */
  abstract list(): SkillList;

  /** Returns the records of the skills. */
  *[Symbol.iterator](): Iterator<SkillRecord> {
    yield* this.list().skills;
  }
}

function renderCall(id: string, options: RenderOptions): unknown {
  const { args = "", envelope = "plain", ...rest } = options;
  return { render: { ...rest, id, arguments: args, envelope } };
}

// The engine names options that it does not know.
function filesCall(id: string, { limit = 1_000, ...options }: FilesOptions): unknown {
  return { files: { ...options, id, limit } };
}

function readCall(id: string, path: string, { start = 0, ...options }: ReadOptions): unknown {
  return { read: { ...options, id, path, start } };
}

function searchCall(request: string, { limit = 10, all = false, ...options }: SearchOptions): unknown {
  return { search: { ...options, request, limit, all } };
}

/**
 * All skills of a project and of the person, live.
 *
 * It is for models: it hides skills that only people may start. `forUser` returns the same skills for a person.
 */
export class Skills extends Readable<NativeSkills> {
  #watcher: NativeWatcher | undefined;

  /** Use `Skills.discover`. */
  private constructor(nativeHandle: NativeSkills) {
    super(nativeHandle);
  }

  /**
   * Discovers the skills for a working folder: those of its project, of the person, and of `roots`.
   *
   * Models get the project's skills only if the user trusts the project, or with `trustProject`. What you should know,
   * such as that a project is not trusted, is emitted as a warning of the process.
   */
  static async discover(directory = ".", options: DiscoverOptions = {}): Promise<Skills> {
    const [text, files] = discoverOptions(directory, options);
    return Skills.#warned(await awaiting(() => native.Skills.discover(text, files)));
  }

  /** Does what `discover` does, on this thread. */
  static discoverSync(directory = ".", options: DiscoverOptions = {}): Skills {
    const [text, files] = discoverOptions(directory, options);
    return Skills.#warned(calling(() => native.Skills.discoverSync(text, files)));
  }

  static #warned(handle: NativeSkills): Skills {
    for (const warning of handle.warnings) {
      process.emitWarning(warning, { type: "SkillsWarning" });
    }
    return new Skills(handle);
  }

  /** Returns the same skills for a person: with those that only people may start, and reasons in errors. */
  forUser(): Skills {
    return new Skills(this.native.forUser());
  }

  /** How many skills there are. */
  get size(): number {
    return this.native.count;
  }

  /** Returns whether there is such a skill. */
  has(id: string): boolean {
    return this.native.has(id);
  }

  /**
   * Returns the skills, also those that models do not get; `ids` are those that `load` accepts.
   *
   * Without options, folders that hold no valid skill are in `refused`.
   */
  list(options: ListOptions = {}): SkillList {
    const isWhole = Object.values(options).every((value) => value === undefined);
    return this.callSync({ list: { ...options, with_refused: isWhole } });
  }

  /** Returns everything that is known about a skill without loading it. */
  show(id: string): Skill {
    return this.callSync({ show: { id } });
  }

  /** Returns the skills that answer a request best, each with a confidence. */
  search(request: string, options: SearchOptions = {}): Promise<SearchResults> {
    return this.ask(searchCall(request, options));
  }

  /** Does what `search` does, on this thread. */
  searchSync(request: string, options: SearchOptions = {}): SearchResults {
    return this.callSync(searchCall(request, options));
  }

  /** Why searches are less complete than configured; known after the first search. */
  get searchProblem(): string | null {
    return this.callSync("search_problem");
  }

  /** Returns what a new conversation is told for its first request, with its cost. */
  prompt(request: string): Promise<Prompt> {
    return this.ask({ prompt: { request } });
  }

  /**
   * Explains which skills a request would bring, and why not the skills `ids`.
   *
   * The result is for people: it may name skills that models do not get.
   */
  why(request: string, ...ids: string[]): Promise<Why> {
    const session = this.session();
    session.listing();
    return session.why(request, ...ids);
  }

  /** Returns the findings in all `SKILL.md` files. */
  check(): Promise<Check> {
    return this.ask("check");
  }

  /** Runs the trigger queries that skills ship: those of all skills, or of some. */
  evaluate(...ids: string[]): Promise<Evaluation> {
    return this.ask({ evaluate: { ids } });
  }

  /** Returns the roots and skills that were found, and why models do not get some. */
  doctor(): Promise<Doctor> {
    return this.ask("doctor");
  }

  /** Returns every setting, and where it comes from. */
  settings(): SettingsReport {
    return this.callSync("settings");
  }

  /** Returns the activity counters since discovery. */
  counters(): Counters {
    return this.callSync("counters");
  }

  /** Empties the cache of instructions, or removes one skill from it. */
  clearCache(id?: string): void {
    this.callSync({ clear_cache: { id } });
  }

  /** Returns the ids of a skill and of all skills that it requires, in the order of loading, and what is wrong. */
  loadOrder(id: string): { ids: string[]; findings: string[] } {
    const [ids, findings] = this.callSync<[string[], string[]]>({ load_order: { id } });
    return { ids, findings };
  }

  /** Reads what changed on disk, and returns it. */
  refresh(): Promise<Changes> {
    return this.ask("refresh");
  }

  /** Does what `refresh` does, on this thread. */
  refreshSync(): Changes {
    return this.callSync("refresh");
  }

  /**
   * Follows the files in the background, by notifications and a scan every `interval` seconds, until `close`.
   *
   * The watcher does not keep the process alive. With `using`, it is closed at the end of the block.
   */
  watch(onChange: (changes: Changes) => void = () => {}, interval = 5): this {
    if (typeof onChange !== "function") {
      throw new TypeError("`onChange` is no function");
    }
    const changed = (view: string) => {
      if (this.#watcher !== watcher) {
        return;
      }
      const result = JSON.parse(view) as (Changes & { kind: "changes" }) | (Failure & { kind: "error" });
      if (result.kind === "error") {
        process.emitWarning(`The skills stay as they were: ${fromView(result).message}`, { type: "SkillsWarning" });
      } else {
        onChange(result);
      }
    };
    this.close();
    const watcher = calling(() => this.native.watch(interval, changed));
    this.#watcher = watcher;
    return this;
  }

  /** Stops following the files. The skills stay usable. */
  close(): void {
    this.#watcher?.close();
    this.#watcher = undefined;
  }

  [Symbol.dispose](): void {
    this.close();
  }

  /** Returns the skills as one agent sees them: an agent of the settings, or one that uses the skills in `options`. */
  bind(agent: string, options: AgentOptions = {}): AgentSkills {
    return new AgentSkills(calling(() => this.native.bind(agentOptions(agent, options))));
  }

  /**
   * Returns whether a skill's `allowed-tools` include a use of a tool; `undefined` if the skill lists none.
   *
   * `input` is what the tool is given: for a shell its command line. Under rules such as `Bash(git:*)` a tool is
   * included only with an input that one of them includes; `toolRules` returns those that are left to you.
   */
  checkTool(id: string, tool: string, input?: string): boolean | undefined {
    return toolCheck(this.callSync<[string, string[]]>({ check_tool: { id, tool, input } })[0]);
  }

  /** Returns the rules under which a skill's `allowed-tools` include a tool, such as `git:*`. */
  toolRules(id: string, tool: string, input?: string): string[] {
    return this.callSync<[string, string[]]>({ check_tool: { id, tool, input } })[1];
  }

  /** Returns what a skill can run: its scripts and tools, what it asks for, and whether it is allowed. */
  scripts(id: string): Promise<ScriptList> {
    return this.#run({ scripts: { id } });
  }

  /**
   * Runs a skill's script in the sandbox, and returns how it ended and what it wrote.
   *
   * A skill that is not allowed, or has changed since, is refused; `Reviewer.allow` allows it. If `signal` is aborted,
   * the script's processes are ended first.
   */
  run(id: string, script: string, options: RunOptions = {}): Promise<Run> {
    const { args = [], input = "", limits = {}, signal, ...rest } = options;
    return this.#run({ run: { ...rest, id, script, arguments: args, limits } }, input, signal);
  }

  /** Calls a tool of a skill's toolset in the sandbox, and returns its answer. */
  callTool(
    id: string,
    tool: string,
    args: Readonly<Record<string, unknown>> = {},
    options: Abortable = {},
  ): Promise<Run> {
    return this.#run({ call_tool: { id, tool, arguments: args } }, "", options.signal);
  }

  async #run<T>(call: unknown, input: string | Uint8Array = "", signal?: AbortSignal): Promise<T> {
    const bytes = typeof input === "string" ? new TextEncoder().encode(input) : input;
    const text = asJson(call);
    const answer = await abortable(signal, (cancel) => this.native.run(text, bytes, cancel));
    signal?.throwIfAborted();
    return JSON.parse(answer) as T;
  }

  /** Proposes a change to a skill as a unified diff. The skill stays as it is until someone approves it. */
  proposeUpdate(id: string, diff: string, justification: string, options: ProposalOptions = {}): Promise<Proposal> {
    return this.#proposals({ update: { new: newProposal(id, justification, options), diff } });
  }

  /** Proposes a new skill of the user: its `SKILL.md`. No model sees it until someone approves it. */
  proposeNew(id: string, content: string, justification: string, options: ProposalOptions = {}): Promise<Proposal> {
    return this.#proposals({ new: { new: newProposal(id, justification, options), content } });
  }

  /** Returns the proposals that wait for a decision, oldest first. */
  proposals(): Promise<ProposalList> {
    return this.#proposals("list");
  }

  /** Returns one of them with its diff and what it does to tokens, findings, permissions and requests. */
  proposal(name: string): Promise<Proposal> {
    return this.#proposals({ show: { name } });
  }

  /** Returns the versions of a skill, oldest first: when each came, how, by whom and why. */
  history(id: string): Promise<History> {
    return this.#proposals({ history: { id } });
  }

  #proposals<T>(call: unknown): Promise<T> {
    return this.ask({ proposals: call });
  }

  /**
   * Returns the right to decide in the name of a person or of a reviewer agent.
   *
   * Your program answers for the decision, which is recorded as `host`, or as `passphrase` if you pass one. Never hand
   * this object to code that an agent controls.
   */
  reviewer(name: string, passphrase?: string): Reviewer {
    const calls = {
      proposals: <T>(call: unknown) => this.#proposals<T>(call),
      run: (call: unknown) => this.#run<unknown>(call),
    };
    return new Reviewer(calls, name, passphrase);
  }

  /** Returns what is installed from sources: of the project, or with `user` for all projects of the person. */
  registry(options: { user?: boolean } = {}): Registry {
    const { user = false, ...rest } = options;
    return new Registry(async <T>(call: unknown) => {
      const text = asJson({ registry: { ...rest, user, call } });
      return JSON.parse(await awaiting(() => this.native.longCall(text))) as T;
    });
  }
}

/** The skills as one agent sees them. Skills that it may not see do not exist in it. `Skills.bind` returns one. */
export class AgentSkills extends Readable<NativeAgentSkills> {
  /** Use `Skills.bind`. */
  constructor(nativeHandle: NativeAgentSkills) {
    super(nativeHandle);
  }

  /** The agent's id. */
  get agentId(): string {
    return this.native.id;
  }

  /** How many skills the agent sees. */
  get size(): number {
    return this.ids().length;
  }

  /** Returns whether the agent sees such a skill. */
  has(id: string): boolean {
    return this.ids().includes(id);
  }

  /** Returns the skills that the agent sees. */
  list(): SkillList {
    return this.callSync("list");
  }

  /** Returns the skills for a sub-agent that this agent starts: what both may see. */
  narrow(agent: string, options: AgentOptions = {}): AgentSkills {
    return new AgentSkills(calling(() => this.native.narrow(agentOptions(agent, options))));
  }

  /** Returns the text that the agent starts with: the prompt, the skills that it uses, its own instructions. */
  compose(prompt = "", inline = ""): Composed {
    return this.callSync({ compose: { prompt, inline } });
  }
}

function newProposal(id: string, justification: string, options: ProposalOptions): unknown {
  const { author = "node", ...given } = options;
  return { ...given, id, justification, author };
}

function discoverOptions(directory: string, options: DiscoverOptions): [text: string, files: BundledFile[]] {
  const { bundled, home, environment, trustProject, cache = true, ...rest } = options;
  const settings = asSettings(options.settings ?? {});
  const files = typeof bundled === "object" ? Object.entries(bundled) : [];
  const encoder = new TextEncoder();
  const isReplaced = home !== undefined || environment !== undefined;
  const text = asJson({
    ...rest,
    cache,
    directory: isReplaced ? withoutLinks(directory) : resolve(directory),
    environment: isReplaced
      ? { home: home === undefined ? undefined : withoutLinks(home), variables: Object.entries(environment ?? {}) }
      : undefined,
    bundled_folder: typeof bundled === "string" ? bundled : undefined,
    settings: trustProject === true ? [...settings, ["trust_project", "true"]] : settings,
  });
  return [
    text,
    files.map(([path, content]) => ({
      path,
      content: typeof content === "string" ? encoder.encode(content) : content,
    })),
  ];
}

/** Returns the path of a folder without links, which need not exist. */
function withoutLinks(folder: string): string {
  try {
    return realpathSync(folder);
  } catch {
    return resolve(folder);
  }
}
