export const tools = [
  {
    name: "greet",
    description: "Greets someone by name",
    parameters: {
      type: "object",
      properties: { name: { type: "string" } },
      required: ["name"],
    },
    execute: async (args) => `Hello ${args.name}`,
  },
];
