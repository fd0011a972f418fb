/**
 * Skills for the AI SDK.
 *
 * @example
 * const conversation = new SkillConversation(await Skills.discover());
 * const { tools, prepareStep } = conversation;
 * await generateText({ model, messages, tools, prepareStep, stopWhen: stepCountIs(10) });
 */

import {
  type Instructions,
  type ModelMessage,
  type ToolExecutionOptions,
  type ToolSet,
  dynamicTool,
  jsonSchema,
} from "ai";

import { Conversation, type ConversationOptions } from "./conversation.js";
import type { AgentSkills, Skills, ToolArguments } from "./index.js";
import { withTexts } from "./prompt.js";
import type { Tool, ToolAnswer } from "./views.js";

/** What a step of `generateText`, `streamText` or an agent starts with. */
export interface Step {
  messages: ModelMessage[];
  instructions?: Instructions | undefined;
}

/**
 * One conversation: tools, and what the model is told in each step.
 *
 * A text stands before the message of the user that needed it, in all steps and in all later calls, so that a prompt
 * cache keeps it. Your own messages stay as they are. After messages were removed or summarized, the skills in use are
 * given again.
 *
 * Create one for each conversation. In a server that gets all messages with each request, a new one gives the same
 * texts; pass what `save` returned as `state` if messages may have been removed since.
 */
export class SkillConversation {
  /** Tools to search, load and read skills; none if there are no skills. */
  readonly tools: ToolSet;
  readonly #conversation: Conversation;

  constructor(skills: Skills | AgentSkills, options: ConversationOptions = {}) {
    this.#conversation = new Conversation(skills, options);
    this.tools = Object.fromEntries(this.#conversation.session.tools().map((tool) => [tool.name, this.#tool(tool)]));
  }

  /** Adds what the model is told about skills to a step. Pass it as `prepareStep`, or call it in your own. */
  readonly prepareStep = async ({ messages, instructions }: Step) => {
    const told = withListing(instructions, this.#conversation.listing());
    const step = { messages: await withTexts(this.#conversation, messages) };
    return told === undefined ? step : { ...step, instructions: told };
  };

  /** Returns the state as JSON. It contains the texts that were given, ids, numbers and the arguments of loaded skills. */
  save(): string {
    return this.#conversation.save();
  }

  /** Tokens that were spent on skills so far. */
  get tokensSpent(): number {
    return this.#conversation.session.tokensSpent;
  }

  #tool(tool: Tool) {
    return dynamicTool({
      description: tool.description,
      inputSchema: jsonSchema(tool.input_schema as Parameters<typeof jsonSchema>[0]),
      execute: async (input, { abortSignal: signal }: ToolExecutionOptions<unknown>) => {
        const answer = await this.#conversation.call(tool.name, input as ToolArguments, { signal });
        if (answer.is_error) {
          throw new Error(answer.text);
        }
        return hasPictures(answer) ? answer : answer.text;
      },
      toModelOutput: ({ output }) => modelOutput(output as ToolAnswer | string),
    });
  }
}

function withListing(instructions: Instructions | undefined, listing: string): Instructions | undefined {
  if (listing === "") {
    return instructions;
  }
  if (instructions === undefined || typeof instructions === "string") {
    // Later steps get what an earlier one returned.
    const own = instructions?.endsWith(listing) ? instructions.slice(0, -listing.length).trimEnd() : (instructions ?? "");
    return own === "" ? listing : `${own}\n\n${listing}`;
  }
  const messages = [instructions].flat().filter(({ content }) => content !== listing);
  return [...messages, { role: "system", content: listing }];
}

function hasPictures({ content = [] }: ToolAnswer): boolean {
  return content.some(({ type }) => type === "image");
}

function modelOutput(output: ToolAnswer | string) {
  if (typeof output === "string") {
    return { type: "text" as const, value: output };
  }
  const { content = [], text } = output;
  const files = content.filter(({ type }) => type === "image");
  const value = files.map(({ base64 = "", media_type: mediaType = "" }) => ({
    type: "file" as const,
    data: { type: "data" as const, data: base64 },
    mediaType,
  }));
  return { type: "content" as const, value: text === "" ? value : [{ type: "text" as const, text }, ...value] };
}
