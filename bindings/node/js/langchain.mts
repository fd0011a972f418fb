/**
 * Skills for agents of LangChain.
 *
 * @example
 * const agent = createAgent({ model, middleware: [skillMiddleware(await Skills.discover())] });
 */

import { AIMessage, type BaseMessage, HumanMessage, SystemMessage, ToolMessage } from "@langchain/core/messages";
import { type ToolRuntime, tool as structuredTool } from "@langchain/core/tools";
import { Command } from "@langchain/langgraph";
import { createMiddleware } from "langchain";
import { z } from "zod";

import { Conversation, type ConversationOptions, type KnownMessage, LOAD_TOOL, START } from "./conversation.js";
import { type AgentSkills, InvalidError, type Session, type Skills, type ToolArguments } from "./index.js";
import { occurrences } from "./prompt.js";
import type { Tool, ToolAnswer } from "./views.js";

export interface MiddlewareOptions extends Omit<ConversationOptions, "state" | "keptByServer"> {
  /** The names of the tools to offer, if not all. There are none if there are no skills when the middleware is made. */
  tools?: readonly string[] | undefined;
  /**
   * Whether a call of another tool is refused while the model has skills with `allowed-tools` and none of them includes
   * it. What a shell is given is its argument `command`.
   */
  enforceTools?: boolean | undefined;
}

/**
 * Returns a middleware that adds to each call of the model what the user's messages need, and offers the tools to
 * search, load and read skills.
 *
 * A text stands before the message that needed it, in this call and in all later ones, so that a prompt cache keeps
 * it. Only requests to the model have it: the agent's messages stay as they are. What was given is kept in the agent's
 * state, which a checkpointer saves. After messages were summarized or removed, the skills in use are given again.
 */
export function skillMiddleware(skills: Skills | AgentSkills, options: MiddlewareOptions = {}) {
  const { tools: names, enforceTools = false, ...settings } = options;
  const conversation = (state: unknown) => {
    const saved = (state as { _skillfold?: string } | undefined)?._skillfold;
    return new Conversation(skills, saved === undefined ? settings : { ...settings, state: saved });
  };
  const all = conversation({}).session.tools();
  const unknown = names?.find((name) => all.length > 0 && !all.some((tool) => tool.name === name));
  if (unknown !== undefined) {
    const hint = `Name some of ${all.map(({ name }) => `\`${name}\``).join(", ")}`;
    throw new InvalidError({ error: "invalid", message: `There is no tool \`${unknown}\``, hint });
  }
  const offered = all.filter(({ name }) => names?.includes(name) ?? true);
  // What to save with an answer that a command would replace: one with structured output is no message.
  const unsaved = new WeakMap<BaseMessage, string>();
  const tools = offered.map((tool) =>
    // The next call of the model records what the tools gave: the state has no place where two of them could write.
    skillTool(tool, (runtime) => conversation((runtime as ToolRuntime).state)),
  );
  return createMiddleware({
    name: "SkillMiddleware",
    stateSchema: z.object({ _skillfold: z.string().optional() }),
    tools,
    wrapModelCall: async (request, handler) => {
      const told = conversation(request.state);
      const before = told.save();
      const messages = await withTexts(told, request.messages);
      const listing = told.listing();
      const system = request.systemMessage;
      const systemMessage = listing === "" ? system : system.concat(new SystemMessage(spaced(system, listing)));
      const answer = await handler({ ...request, messages, systemMessage });
      const after = told.save();
      if (after === before) {
        return answer;
      }
      if (AIMessage.isInstance(answer)) {
        return new Command({ update: { _skillfold: after } });
      }
      (answer as { messages?: BaseMessage[] }).messages?.forEach((message) => unsaved.set(message, after));
      return answer;
    },
    afterModel: ({ messages }) => {
      const last = messages.at(-1);
      const saved = last === undefined ? undefined : unsaved.get(last);
      return saved === undefined ? undefined : { _skillfold: saved };
    },
    wrapToolCall: (request, handler) => {
      const { name, args, id = "" } = request.toolCall;
      const isOther = !offered.some((tool) => tool.name === name);
      if (enforceTools && isOther && conversation(request.state).session.checkTool(name, argument(args)) === false) {
        const content = `The skills in use do not list this use of \`${name}\` under \`allowed-tools\`; go on without it`;
        return new ToolMessage({ content, name, tool_call_id: id, status: "error" });
      }
      return handler(request);
    },
  });
}

/**
 * Returns the tools of a conversation for a graph of your own, such as for `ToolNode`.
 *
 * They record in the session what the model gets. Save it with `session.save()` where the graph keeps its state.
 */
export function skillTools(session: Session) {
  return session.tools().map((tool) => skillTool(tool, () => session));
}

function skillTool(tool: Tool, caller: (runtime: unknown) => Pick<Session | Conversation, "call">) {
  return structuredTool(
    async (args, runtime) => {
      const { toolCallId: id = "", signal } = runtime as ToolRuntime;
      const answer = await caller(runtime).call(tool.name, args as ToolArguments, { signal });
      const status = answer.is_error ? ("error" as const) : ("success" as const);
      return new ToolMessage({ content: contentOf(answer), name: tool.name, tool_call_id: id, status });
    },
    { name: tool.name, description: tool.description, schema: tool.input_schema as never },
  );
}

function contentOf({ content = [], text }: ToolAnswer) {
  const pictures = content.filter(({ type }) => type === "image");
  return pictures.length === 0
    ? text
    : pictures.map(({ base64: data, media_type: mimeType }) => ({ type: "image", data, mimeType }));
}

async function withTexts(conversation: Conversation, messages: readonly BaseMessage[]): Promise<BaseMessage[]> {
  const known = messages.map(knowing());
  const texts = await conversation.texts(known.filter((message) => message !== undefined));
  const given = (key: string | undefined) => {
    const text = key === undefined ? undefined : texts.get(key);
    return text ? [new HumanMessage({ content: text, additional_kwargs: { lc_source: "skillfold" } })] : [];
  };
  return [...given(START), ...messages.flatMap((message, place) => [...given(known[place]?.key), message])];
}

function knowing(): (message: BaseMessage) => KnownMessage | undefined {
  const keyOf = occurrences();
  const loads = new Map<string, ToolArguments>();
  return (message) => {
    // Hosts edit messages, and replace answers that are old.
    const key = keyOf(`${message.id ?? ""} ${message.text}`);
    if (HumanMessage.isInstance(message)) {
      // What a middleware wrote, such as a summary, is no request.
      return message.additional_kwargs["lc_source"] === undefined ? { key, request: message.text } : undefined;
    }
    if (AIMessage.isInstance(message)) {
      const calls = message.tool_calls?.filter(({ name }) => name === LOAD_TOOL) ?? [];
      calls.forEach(({ id = "", args }) => loads.set(id, args));
    }
    const args = ToolMessage.isInstance(message) ? loads.get(message.tool_call_id) : undefined;
    return args === undefined ? undefined : { key, load: { args, answer: message.text } };
  };
}

/** Returns what a tool is given: its command, or its only text. */
function argument(args: Readonly<Record<string, unknown>>): string {
  if (typeof args["command"] === "string") {
    return args["command"];
  }
  const texts = Object.values(args).filter((value) => typeof value === "string");
  return texts.length === 1 ? (texts[0] ?? "") : "";
}

function spaced(system: SystemMessage, listing: string): string {
  return system.text === "" ? listing : `\n\n${listing}`;
}
