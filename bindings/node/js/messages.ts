/** Finds the user's latest message in the forms that agent frameworks use. */

/** A message: an object with `role` (or `type`) and `content` (or `parts`), or a text of the user. */
export type Message = string | object;

interface Part {
  text?: unknown;
}

/**
 * Returns the text of the latest user message; an empty text if there is none.
 *
 * Content may be a text, or a list of parts of which those with text count: a message that has only answers of tools
 * is passed over.
 */
export function latestUserText(messages: Message | readonly Message[]): string {
  if (typeof messages === "string") {
    return messages;
  }
  const every: readonly Message[] = Array.isArray(messages) ? messages : [messages as Message];
  for (const message of [...every].reverse()) {
    const [role, text] = read(message);
    if (text !== "" && (role === "user" || role.startsWith("human"))) {
      return text;
    }
  }
  return "";
}

function read(message: Message): [role: string, text: string] {
  if (typeof message === "string") {
    return ["user", message];
  }
  const fields = (message ?? {}) as Record<string, unknown>;
  // A message of LangChain says its type by a method.
  const kind = typeof fields["getType"] === "function" ? (message as { getType(): string }).getType() : fields["type"];
  const role = fields["role"] ?? kind;
  if (typeof role !== "string") {
    throw new TypeError("A message is a text, or an object with `role` and `content`");
  }
  const contents = [fields["content"], fields["parts"], fields["text"]];
  return [role.toLowerCase(), contents.map(textOf).find((text) => text !== "") ?? ""];
}

function textOf(content: unknown): string {
  if (typeof content === "string") {
    return content;
  }
  if (!Array.isArray(content)) {
    return "";
  }
  const texts = content.map((part: unknown) => (typeof part === "string" ? part : (part as Part | null)?.text));
  return texts.filter((text) => typeof text === "string").join("\n");
}
