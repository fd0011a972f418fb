// The module `@agent/tools`, which toolsets in JavaScript and TypeScript can import.

exports.Tool = {
  // Returns a tool: the definition has `description`, `parameters` and `execute`.
  define: (name, definition) => ({ ...definition, name }),
};
