/** What a model is told in one conversation, for hosts that pass all its messages to each call of the model. */

import { createHash } from "node:crypto";

import { InvalidError } from "./errors.js";
import type { SessionOptions } from "./options.js";
import type { Abortable, Session, ToolArguments } from "./session.js";
import type { AgentSkills, Skills } from "./skills.js";
import type { ToolAnswer } from "./views.js";

/** How a conversation differs from the settings. Skills are not listed, unless `disclosure` says so. */
export type ConversationOptions = Omit<SessionOptions, "transient" | "state"> & {
  /** What `save` returned, to resume a conversation. */
  state?: string | undefined;
  /** Whether the host passes only messages that are new, because a server keeps the others. */
  keptByServer?: boolean | undefined;
};

/** A message of which a conversation keeps what it told the model about it. */
export interface KnownMessage {
  /** What identifies it among the messages. */
  readonly key: string;
  /** Its text, if it is the user's. */
  readonly request?: string;
  /** The answer of a tool, and the arguments of its call if that is known and was for `LOAD_TOOL`. */
  readonly load?: { readonly args?: ToolArguments | undefined; readonly answer: string };
}

/** The texts that go before messages, by their keys. Those under `START` go before all messages. */
export type Texts = ReadonlyMap<string, string | null>;

export const START = "";
export const LOAD_TOOL = "load_skill";

interface Saved {
  session: string;
  texts: [key: string, text: string | null][];
  given: string[];
}

/**
 * A text stands before the message that needed it, in this call and in all later ones, so that a prompt cache keeps it.
 *
 * After messages were summarized or removed, the skills in use are given again.
 */
export class Conversation {
  readonly session: Session;
  readonly #skills: Skills | AgentSkills;
  #texts: Texts;
  // Digests of all texts so far, by which a host's copies of them are known.
  readonly #given: Set<string>;
  // The arguments of calls that gave a skill, by the digest of the answer: a host may pass answers without their calls.
  readonly #loads = new Map<string, ToolArguments>();
  #last: Promise<unknown> = Promise.resolve();
  readonly #hasListing: boolean;
  readonly #keptByServer: boolean;

  constructor(skills: Skills | AgentSkills, options: ConversationOptions = {}) {
    if ("transient" in options) {
      throw new TypeError("`transient` is for hosts that drop the texts after each call; here they stay");
    }
    const { state, keptByServer = false, ...given } = options;
    const { disclosure = "triggered", breadcrumb = false, maxPerRequest = 3 } = given;
    const saved = state === undefined ? undefined : readSaved(state);
    this.#skills = skills;
    this.session = skills.session({ ...given, disclosure, breadcrumb, maxPerRequest, state: saved?.session });
    this.#texts = new Map(saved?.texts);
    this.#given = new Set(saved?.given);
    this.#keptByServer = keptByServer;
    this.#hasListing = disclosure !== "triggered";
  }

  /** Returns the state as JSON. It contains the texts that were given, ids, numbers and the arguments of loaded skills. */
  save(): string {
    const saved: Saved = { session: this.session.save(), texts: [...this.#texts], given: [...this.#given] };
    return JSON.stringify(saved);
  }

  /** Returns the listing for the system prompt; an empty text if the disclosure has none. */
  listing(): string {
    return this.#hasListing ? this.session.listing().text : "";
  }

  /** Returns the texts for the messages of a call of the model. Calls wait for each other. */
  texts(messages: readonly KnownMessage[]): Promise<Texts> {
    const next = this.#last.then(() => this.#decide(messages));
    this.#last = next.catch(() => undefined);
    return next;
  }

  /** Returns whether a text is one of those that were given. */
  gave(text: string): boolean {
    return this.#given.has(digest(text));
  }

  /**
   * Calls a tool as the model asked.
   *
   * A skill that it gives counts as given once the answer is among the messages: the model may not get it.
   */
  async call(name: string, args: ToolArguments, options: Abortable = {}): Promise<ToolAnswer> {
    const answer = await this.session.call(name, args, { ...options, record: false });
    if (answer.skill !== undefined) {
      this.#loads.set(digest(answer.text), args);
    }
    return answer;
  }

  async #decide(messages: readonly KnownMessage[]): Promise<Texts> {
    const present = new Set([START, ...messages.map(({ key }) => key)]);
    const before = this.#keptByServer && !this.#isRepeated(present) ? new Map<string, string | null>() : this.#texts;
    const texts = new Map([...before].filter(([key]) => present.has(key)));
    if ([...before].some(([key, text]) => text !== null && !present.has(key))) {
      // The host removed texts that the model had.
      for (const key of texts.keys()) {
        texts.set(key, null);
      }
      const kept = await Promise.all(messages.map((message) => this.#loadedBy(message)));
      const again = await this.session.afterCompaction(undefined, kept.flatMap((loaded) => loaded?.id ?? []));
      texts.set(START, again.text ?? null);
      for (const [place, { key }] of messages.entries()) {
        if (kept[place] !== undefined && texts.has(key)) {
          texts.set(key, "");
        }
      }
    }
    for (const message of messages) {
      const { key, request } = message;
      if (texts.has(key)) {
        continue;
      }
      if (request !== undefined) {
        texts.set(key, (await this.session.turn(request)).text ?? null);
      } else {
        const loaded = await this.#loadedBy(message);
        if (loaded !== undefined) {
          texts.set(key, "");
          await this.session.load(loaded.id, loaded.args);
        }
      }
    }
    for (const text of texts.values()) {
      if (text) {
        this.#given.add(digest(text));
      }
    }
    this.#texts = texts;
    return texts;
  }

  /** Returns whether a call is made again with the same messages, such as after a failed one. */
  #isRepeated(present: ReadonlySet<string>): boolean {
    const keys = [...this.#texts.keys()];
    return keys.length > 0 && keys.every((key) => present.has(key));
  }

  /** Returns the skill that an answer gives: the host may have refused the call, or changed the answer. */
  async #loadedBy({ load }: KnownMessage): Promise<{ id: string; args: string } | undefined> {
    const given = load?.args ?? this.#loads.get(digest(load?.answer ?? ""));
    if (load === undefined || given === undefined) {
      return undefined;
    }
    try {
      const call = (typeof given === "string" ? JSON.parse(given) : given) as Record<string, unknown>;
      const args = String(call["arguments"] ?? "");
      const { id, body } = await this.#skills.load(String(call["skill_id"]), args);
      return load.answer.includes(body.trim()) ? { id, args } : undefined;
    } catch {
      // The arguments are malformed, or the skill is gone.
      return undefined;
    }
  }
}

function readSaved(state: string): Saved {
  try {
    const { session, texts, given } = JSON.parse(state) as Saved;
    return { session: String(session), texts: [...texts], given: [...given] };
  } catch {
    const message = "`state` is not what `save` of a conversation returned";
    throw new InvalidError({ error: "invalid", message, hint: "Pass that, or leave it out" });
  }
}

function digest(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 32);
}
