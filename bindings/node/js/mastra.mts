/**
 * Skills for agents of Mastra.
 *
 * @example
 * new Agent({ id: "helper", name: "Helper", instructions, model, inputProcessors: [new SkillProcessor(skills)] });
 */

import { parseMemoryRequestContext } from "@mastra/core/memory";
import type {
  ProcessInputStepArgs,
  ProcessInputStepResult,
  ProcessLLMRequestArgs,
  ProcessLLMRequestResult,
  Processor,
} from "@mastra/core/processors";
import { createTool } from "@mastra/core/tools";

import { Conversation, type ConversationOptions } from "./conversation.js";
import type { AgentSkills, Skills, ToolArguments } from "./index.js";
import { withTexts } from "./prompt.js";
import type { Tool, ToolAnswer } from "./views.js";

export interface ProcessorOptions extends Omit<ConversationOptions, "state" | "keptByServer"> {
  /** How many threads are remembered: those used last, 1,000 if this is left out. */
  threads?: number | undefined;
}

/**
 * Adds to each call of the model what the user's messages need, and offers the tools to search, load and read skills.
 *
 * A text stands before the message that needed it, in this call and in all later ones, so that a prompt cache keeps
 * it. The agent's memory stays as it is. After messages were summarized or removed from a thread, the skills in use are
 * given again. The skills that Mastra itself finds are not listed beside it.
 */
export class SkillProcessor implements Processor<"skillfold"> {
  readonly id = "skillfold";
  readonly name = "Skills";
  readonly providesSkillDiscovery = "on-demand";
  readonly #skills: Skills | AgentSkills;
  readonly #options: ConversationOptions;
  readonly #limit: number;
  // The thread that was used last is the last.
  readonly #threads = new Map<string, Conversation>();

  constructor(skills: Skills | AgentSkills, options: ProcessorOptions = {}) {
    const { threads = 1_000, ...given } = options;
    this.#skills = skills;
    this.#options = given;
    this.#limit = threads;
  }

  /** Offers the tools; none if there are no skills. */
  processInputStep(args: ProcessInputStepArgs): ProcessInputStepResult {
    const conversation = this.#conversation(args);
    const tools = conversation.session.tools().map((tool) => [tool.name, skillTool(conversation, tool)]);
    return { tools: { ...args.tools, ...Object.fromEntries(tools) } };
  }

  /** Adds the texts to what is sent to the model. */
  async processLLMRequest(args: ProcessLLMRequestArgs): Promise<ProcessLLMRequestResult> {
    const conversation = this.#conversation(args);
    const prompt = await withTexts(conversation, args.prompt);
    const listing = conversation.listing();
    if (listing !== "") {
      const place = prompt.findIndex(({ role }) => role !== "system");
      prompt.splice(place === -1 ? prompt.length : place, 0, { role: "system", content: listing });
    }
    return { prompt };
  }

  #conversation({ requestContext, state }: Pick<ProcessInputStepArgs, "requestContext" | "state">): Conversation {
    const thread = parseMemoryRequestContext(requestContext)?.thread?.id;
    if (thread === undefined) {
      return (state["conversation"] ??= new Conversation(this.#skills, this.#options)) as Conversation;
    }
    const conversation = this.#threads.get(thread) ?? new Conversation(this.#skills, this.#options);
    this.#threads.delete(thread);
    this.#threads.set(thread, conversation);
    const [oldest] = this.#threads.keys();
    if (this.#threads.size > this.#limit && oldest !== undefined) {
      this.#threads.delete(oldest);
    }
    return conversation;
  }
}

function skillTool(conversation: Conversation, tool: Tool) {
  return createTool({
    id: tool.name,
    description: tool.description,
    inputSchema: tool.input_schema as never,
    execute: async (input, { abortSignal: signal }) => {
      const answer = await conversation.call(tool.name, input as ToolArguments, { signal });
      if (answer.is_error) {
        throw new Error(answer.text);
      }
      return answer;
    },
    toModelOutput: modelOutput,
  });
}

function modelOutput(output: unknown) {
  // What failed has the error here.
  const { content = [], text, message = "" } = output as Partial<ToolAnswer> & { message?: string };
  if (text === undefined) {
    return { type: "error-text", value: message };
  }
  const pictures = content.filter(({ type }) => type === "image");
  if (pictures.length === 0) {
    return { type: "text", value: text };
  }
  const value = pictures.map(({ base64: data, media_type: mediaType }) => ({ type: "media", data, mediaType }));
  return { type: "content", value: text === "" ? value : [{ type: "text", text }, ...value] };
}
