/** Skills from repositories, archives and folders, pinned in a lock. */

import type { Install, Origin, Outdated, SkillProposals, SourceSkills, Update, Verification } from "./views.js";

export interface AddOptions {
  /** All skills of the source. */
  all?: boolean | undefined;
  /** Clients that get the skills in a folder of their own too. */
  clients?: readonly string[] | undefined;
}

export interface InstallOptions {
  /** Skills that are wanted and not locked are an error. */
  frozen?: boolean | undefined;
  /** Nothing is fetched. */
  offline?: boolean | undefined;
  /** Skills that were edited are restored too. */
  discardEdits?: boolean | undefined;
}

/**
 * The skills that are installed from sources, of the project or of the person. `Skills.registry` returns one.
 *
 * Nothing here asks anybody. `add` and `update` propose: a `Reviewer` decides, or a person with `skillfold review`.
 */
export class Registry {
  readonly #call: <T>(call: unknown) => Promise<T>;

  /** Use `Skills.registry`. */
  constructor(call: <T>(call: unknown) => Promise<T>) {
    this.#call = call;
  }

  /** Returns the paths of `skills.toml` and `skills.lock`. */
  files(): Promise<[wanted: string, lock: string]> {
    return this.#call("files");
  }

  /** Returns the skills of a source that answer a request best, or all of them. Nothing is installed. */
  search(source: string, request = "", limit = 10): Promise<SourceSkills> {
    return this.#call({ search: { source, request, limit } });
  }

  /**
   * Fetches skills and proposes to install them.
   *
   * `source` is what `skillfold add` takes, such as `owner/repo@^1.2`. Without names and `all`, it must have one skill.
   */
  add(source: string, names: readonly string[] = [], options: AddOptions = {}): Promise<SkillProposals> {
    const { all = false, clients = [] } = options;
    return this.#call({ add: { source, names, all, clients } });
  }

  /**
   * Restores the skills of the lock: each has the digest of the lock, or is in the result as failed.
   *
   * Skills that are wanted and not locked are proposed. A skill that was edited is left alone.
   */
  install(options: InstallOptions = {}): Promise<Install> {
    const { frozen = false, offline = false, discardEdits = false } = options;
    return this.#call({ install: { frozen, offline, discard_edits: discardEdits } });
  }

  /** Compares what is installed with the lock, without the network. */
  verify(): Promise<Verification> {
    return this.#call("verify");
  }

  /** Asks the sources which skills have another version. */
  outdated(): Promise<Outdated> {
    return this.#call("outdated");
  }

  /** Proposes the newest versions of skills, of all without names. `dryRun` proposes nothing. */
  update(names: readonly string[] = [], options: { dryRun?: boolean } = {}): Promise<Update> {
    return this.#call({ update: { names, dry_run: options.dryRun ?? false } });
  }

  /** Removes a skill, its links and its entries. One that was edited is refused, unless `discardEdits` is set. */
  async remove(name: string, options: { discardEdits?: boolean } = {}): Promise<void> {
    await this.#call({ remove: { name, discard_edits: options.discardEdits ?? false } });
  }

  /** Copies every skill of the lock into `.skillfold/vendor`, for `install` without the network. */
  vendor(): Promise<Install> {
    return this.#call("vendor");
  }

  /** Returns where a skill is from, and its versions on this machine. */
  whyInstalled(name: string): Promise<Origin> {
    return this.#call({ why_installed: { name } });
  }
}
