/** Proposals, and the people or programs that decide about them. */

import type { Proposal, ScriptList } from "./views.js";

/** A call of `Skills`, which its reviewers make. */
export interface Calls {
  proposals<T>(call: unknown): Promise<T>;
  run(call: unknown): Promise<unknown>;
}

/** What a permission to run includes. */
export interface AllowOptions {
  /** Whether the packages that the scripts name are installed in the sandbox, by `uv` and `npm`. */
  installPackages?: boolean | undefined;
  /** What it may do with the working folder, whatever it asks for. */
  project?: "read" | "write" | "none" | undefined;
}

/**
 * The right to decide about proposals. `Skills.reviewer` returns one.
 *
 * Your program answers for its decisions. Never hand this object to code that an agent controls.
 */
export class Reviewer {
  readonly name: string;
  readonly #calls: Calls;
  readonly #passphrase: string | undefined;

  /** Use `Skills.reviewer`. */
  constructor(calls: Calls, name: string, passphrase: string | undefined) {
    this.#calls = calls;
    this.name = name;
    this.#passphrase = passphrase;
  }

  get #decision(): { by: string; passphrase: string | undefined } {
    return { by: this.name, passphrase: this.#passphrase };
  }

  /**
   * Makes the change, and returns the digest of the skill's new version.
   *
   * It is refused if the proposal, or the skill, is no longer what `proposal` says; `merge` helps then.
   */
  approve(proposal: Proposal): Promise<string> {
    const { digest, base } = proposal;
    return this.#calls.proposals({ approve: { digest, base, decision: this.#decision } });
  }

  /**
   * Merges the proposal with what the skill has become since, and returns the result: a new proposal to look at.
   *
   * If the skill has not changed, it is the same proposal. Changes of the same lines are refused.
   */
  merge(proposal: Proposal): Promise<Proposal> {
    return this.#calls.proposals({ merge: { name: proposal.name } });
  }

  /** Records what a reviewer thinks who may not decide, such as another agent. Whoever decides sees it. */
  async recommend(proposal: Proposal, verdict: "approve" | "reject", reason: string): Promise<void> {
    await this.#calls.proposals({ recommend: { digest: proposal.digest, by: this.name, verdict, reason } });
  }

  /** Puts the proposal away. It stays in the log with the reason. */
  async reject(proposal: Proposal, reason: string): Promise<void> {
    await this.#calls.proposals({ reject: { digest: proposal.digest, by: this.name, reason } });
  }

  /** Gives a skill the content of an earlier version, by its digest from `Skills.history`. */
  async rollBack(id: string, version: string, reason: string): Promise<void> {
    await this.#calls.proposals({ roll_back: { id, version, reason, decision: this.#decision } });
  }

  /**
   * Lets a skill run its scripts and tools with everything that it asks for, while it is what `scripts` says.
   *
   * Its toolsets are started in the sandbox to learn their tools. `scripts` is what `Skills.scripts` returned.
   */
  async allow(scripts: ScriptList, options: AllowOptions = {}): Promise<void> {
    const { skill_id: id, digest } = scripts;
    const { installPackages = false, project } = options;
    await this.#calls.run({
      allow: { id, digest, decision: this.#decision, install_packages: installPackages, project },
    });
  }
}
