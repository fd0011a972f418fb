/** The module that toolsets of skills import as `@agent/tools`. */

/** Where a tool runs. */
export interface ToolContext {
  /** The skill's folder. */
  skill: string;
  /** A folder to write to, gone when the toolset ends. */
  scratch: string;
  /** The tool's name. */
  tool: string;
}

/** What a tool returns, other than a text. */
export interface ToolOutput {
  title?: string;
  metadata?: Record<string, unknown>;
  output: unknown;
}

type Answer = string | ToolOutput;

/** A schema that reads arguments, such as one of Zod. */
interface Reads<T> {
  parse(value: unknown): T;
  toJSONSchema(): unknown;
}

interface Definition<P, A> {
  description: string;
  parameters: P;
  execute(args: A, context: ToolContext): Answer | Promise<Answer>;
}

export type Defined<D> = D & { name: string };

export declare const Tool: {
  /** Returns a tool whose arguments a schema reads. */
  define<A>(name: string, definition: Definition<Reads<A>, A>): Defined<Definition<Reads<A>, A>>;
  /** Returns a tool whose arguments are as a JSON schema says. */
  define<A = Record<string, any>>(
    name: string,
    definition: Definition<Readonly<Record<string, unknown>>, A>,
  ): Defined<Definition<Readonly<Record<string, unknown>>, A>>;
};
