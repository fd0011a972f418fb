// An agent with skills: npm start "Write the minutes of our meeting"

import { anthropic } from "@ai-sdk/anthropic";
import { generateText, stepCountIs } from "ai";
import { Skills } from "skillfold";
import { SkillConversation } from "skillfold/ai";

const request = process.argv.slice(2).join(" ") || "Write the minutes of our meeting";

// Your own skills, and those in .agents/skills of this folder. They are yours, so the model may have them.
const skills = await Skills.discover(import.meta.dirname, { trustProject: true });

if (process.env.ANTHROPIC_API_KEY) {
  const { tools, prepareStep } = new SkillConversation(skills);
  const model = anthropic(process.env.MODEL ?? "claude-sonnet-4-5");
  const { text } = await generateText({ model, prompt: request, tools, prepareStep, stopWhen: stepCountIs(10) });
  console.log(text);
} else {
  const turn = await skills.session({ disclosure: "triggered", breadcrumb: false }).turn(request);
  console.log("ANTHROPIC_API_KEY is not set, so no model is asked. Before your request it would get:\n");
  console.log(turn.text ?? "nothing: the request needs no skill");
}
