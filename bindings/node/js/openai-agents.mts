/**
 * Skills for the OpenAI Agents SDK.
 *
 * @example
 * const conversation = new SkillConversation(await Skills.discover());
 * const { callModelInputFilter } = conversation;
 * await run(conversation.attach(agent), "Fill in the form", { session, callModelInputFilter });
 */

import {
  type Agent,
  type AgentInputItem,
  type CallModelInputFilter,
  type FunctionCallResultItem,
  type FunctionTool,
  tool as functionTool,
} from "@openai/agents";

import { Conversation, type ConversationOptions, type KnownMessage, LOAD_TOOL, START } from "./conversation.js";
import type { AgentSkills, Skills, ToolArguments } from "./index.js";
import { occurrences } from "./prompt.js";
import type { Tool, ToolAnswer } from "./views.js";

/**
 * The skills of one conversation: tools for its agents, and what their models are told.
 *
 * A text stands before the message of the user that needed it, in this call of the model and in all later ones, so that
 * a prompt cache keeps it. After messages were summarized or removed, the skills in use are given again.
 *
 * With `conversationId` or `previousResponseId` the server has the messages: set `keptByServer`.
 */
export class SkillConversation {
  /** Tools to search, load and read skills; none if there are no skills. */
  readonly tools: FunctionTool[];
  readonly #conversation: Conversation;

  constructor(skills: Skills | AgentSkills, options: ConversationOptions = {}) {
    this.#conversation = new Conversation(skills, options);
    this.tools = this.#conversation.session.tools().map((tool) => this.#tool(tool));
  }

  /** Returns a copy of an agent with the tools added to its own. */
  attach<A extends Agent<any, any>>(agent: A): A {
    return agent.clone({ tools: [...agent.tools, ...this.tools] }) as A;
  }

  /** Adds what the model is told about skills to a call of it. Pass it to `run` or to a `Runner`. */
  readonly callModelInputFilter: CallModelInputFilter = async ({ modelData }) => {
    const { input, instructions } = modelData;
    const listing = this.#conversation.listing();
    const told = listing === "" ? instructions : [instructions, listing].filter(Boolean).join("\n\n");
    const items = await this.#withTexts(input);
    return told === undefined ? { input: items } : { input: items, instructions: told };
  };

  /** Returns the state as JSON. It contains the texts that were given, ids, numbers and the arguments of loaded skills. */
  save(): string {
    return this.#conversation.save();
  }

  /** Tokens that were spent on skills so far. */
  get tokensSpent(): number {
    return this.#conversation.session.tokensSpent;
  }

  async #withTexts(input: readonly AgentInputItem[]): Promise<AgentInputItem[]> {
    // A session may have kept what an earlier call was told.
    const own = input.filter((item) => !(roleOf(item) === "system" && this.#conversation.gave(textOf(item))));
    const known = own.map(knowing());
    const texts = await this.#conversation.texts(known.filter((message) => message !== undefined));
    const given = (key: string): AgentInputItem[] => {
      const text = texts.get(key);
      return text ? [{ type: "message", role: "system", content: text }] : [];
    };
    const told = own.flatMap((item, place) => [...given(known[place]?.key ?? "none"), item]);
    return [...given(START), ...told];
  }

  #tool(tool: Tool): FunctionTool {
    return functionTool({
      name: tool.name,
      description: tool.description,
      parameters: tool.input_schema as never,
      // Strict schemas have no optional arguments.
      strict: false,
      execute: async (input, _, details) => {
        const options = { signal: details?.signal };
        return toolOutput(await this.#conversation.call(tool.name, input as ToolArguments, options));
      },
    }) as unknown as FunctionTool;
  }
}

function knowing(): (item: AgentInputItem) => KnownMessage | undefined {
  const keyOf = occurrences();
  const loads = new Map<string, string>();
  return (item) => {
    if (item.type === "function_call" && item.name === LOAD_TOOL) {
      loads.set(item.callId, item.arguments);
    }
    if (item.type === "function_call_result") {
      const answer = outputOf(item.output);
      return { key: keyOf(`${item.callId} ${answer}`), load: { args: loads.get(item.callId), answer } };
    }
    const request = roleOf(item) === "user" ? textOf(item) : "";
    return request === "" ? undefined : { key: keyOf(request), request };
  };
}

/** Returns the text of what a tool returned: a text, or an object or a list of them. */
function outputOf(output: FunctionCallResultItem["output"]): string {
  const [text] = [output].flat();
  return typeof text === "object" && "text" in text ? text.text : String(text);
}

function roleOf(item: AgentInputItem): string | undefined {
  return "role" in item ? item.role : undefined;
}

function textOf(item: AgentInputItem): string {
  const content: unknown = "content" in item ? item.content : undefined;
  if (typeof content === "string") {
    return content;
  }
  const parts: { text?: unknown }[] = Array.isArray(content) ? content : [];
  return parts.map(({ text }) => text).filter((text) => typeof text === "string").join("\n");
}

function toolOutput({ content = [], text }: ToolAnswer) {
  const pictures = content.filter(({ type }) => type === "image");
  if (pictures.length === 0) {
    return text;
  }
  const outputs = pictures.map(({ base64 = "", media_type: mediaType = "" }) => ({
    type: "image" as const,
    image: { data: base64, mediaType },
  }));
  return text === "" ? outputs : [{ type: "text" as const, text }, ...outputs];
}
