import type { ToolOutput } from "./toolset.mjs";

export interface LoadedTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: unknown;
}

export declare function toolsOf(module: object, name: string | undefined): Promise<LoadedTool[]>;

export declare function callTool(
  tool: LoadedTool,
  given: unknown,
  context: { skill: string; scratch: string },
): Promise<ToolOutput>;
