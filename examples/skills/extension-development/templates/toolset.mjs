// Tools in JavaScript:
// node -e 'import("./toolset.mjs").then((m) => console.log(m.TextToolset[0].execute({ text: "one two" })))'

const countWords = {
  name: "count-words",
  description: "Counts the words of a text",
  parameters: {
    type: "object",
    properties: { text: { type: "string", description: "The text to count" } },
    required: ["text"],
    additionalProperties: false,
  },
  execute: ({ text }) => {
    const words = text.split(/\s+/).filter(Boolean).length;
    return { title: "Counted", metadata: { words }, output: `${words} words` };
  },
};

export const TextToolset = [countWords];
