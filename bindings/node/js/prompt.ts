/** The messages of the AI SDK and of the prompts of its models. */

import { createHash } from "node:crypto";

import { type Conversation, type KnownMessage, LOAD_TOOL, START } from "./conversation.js";
import type { ToolArguments } from "./session.js";

/** A message of the AI SDK. */
export interface PromptMessage {
  role: string;
  content: unknown;
  providerOptions?: object | undefined;
}

// What marks the messages that have a text. Providers read their own options alone.
const MARK = "skillfold";

interface Part {
  type?: string;
  text?: string;
  toolCallId?: string;
  toolName?: string;
  input?: unknown;
  output?: { value?: unknown };
}

/** Returns the messages with the texts that the model gets before some of them. */
export async function withTexts<M extends PromptMessage>(
  conversation: Conversation,
  messages: readonly M[],
): Promise<M[]> {
  // Later steps, and other agents, get what an earlier one returned.
  const own = messages.filter(({ providerOptions }) => !(providerOptions && MARK in providerOptions));
  const known = own.map(knowing());
  const texts = await conversation.texts(known.flat());
  const given = (key: string) => {
    const text = texts.get(key);
    const content = [{ type: "text", text }];
    return text ? [{ role: "user", content, providerOptions: { [MARK]: { given: true } } } as unknown as M] : [];
  };
  const told = own.flatMap((message, place) => [...(known[place] ?? []).flatMap(({ key }) => given(key)), message]);
  const start = told.findIndex(({ role }) => role !== "system");
  told.splice(start === -1 ? told.length : start, 0, ...given(START));
  return told;
}

/** Counts texts that are the same: a message without an id is known by its text and its place among those. */
export function occurrences(): (text: string) => string {
  const counts = new Map<string, number>();
  return (text) => {
    const count = (counts.get(text) ?? 0) + 1;
    counts.set(text, count);
    return `${createHash("sha256").update(text).digest("hex")}-${count}`;
  };
}

function knowing(): (message: PromptMessage) => KnownMessage[] {
  const keyOf = occurrences();
  const loads = new Map<string, ToolArguments>();
  return ({ role, content }) => {
    if (role === "user") {
      const request = textOf(content);
      return request === "" ? [] : [{ key: keyOf(request), request }];
    }
    const known: KnownMessage[] = [];
    for (const { type, toolCallId = "", toolName, input, output } of partsOf(content)) {
      if (type === "tool-call" && toolName === LOAD_TOOL) {
        loads.set(toolCallId, (input ?? {}) as ToolArguments);
      }
      const args = type === "tool-result" ? loads.get(toolCallId) : undefined;
      if (args !== undefined && typeof output?.value === "string") {
        // Hosts replace answers that are old.
        known.push({ key: keyOf(`${toolCallId} ${output.value}`), load: { args, answer: output.value } });
      }
    }
    return known;
  };
}

function partsOf(content: unknown): readonly Part[] {
  return Array.isArray(content) ? (content as Part[]) : [];
}

function textOf(content: unknown): string {
  if (typeof content === "string") {
    return content;
  }
  const texts = partsOf(content).filter(({ type, text }) => type === "text" && text !== undefined);
  return texts.map(({ text }) => text).join("\n");
}
