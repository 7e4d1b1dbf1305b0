import type { Client } from "./client.ts";
import { KEY_REFERENCE, printExports, withSecret } from "./shell.ts";

interface ClaudeCodeFacts {
  readonly url: string;
  readonly key: string;
  readonly model: string;
  /** The model of small tasks, such as titles. */
  readonly smallModel: string;
}

/** The environment variables that direct Claude Code to a gateway. */
export function claudeCodeVariables({ url, key, model, smallModel }: ClaudeCodeFacts) {
  return {
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_AUTH_TOKEN: key,
    ANTHROPIC_MODEL: model,
    ANTHROPIC_DEFAULT_HAIKU_MODEL: smallModel,
  };
}

export const CLAUDE_CODE: Client = {
  id: "claude-code",
  title: "Claude Code",
  note: "In the shell that starts Claude Code.",
  print(facts) {
    const [{ id: model }] = facts.models;
    const { id: smallModel } = facts.models.find(({ id }) => id.includes("haiku")) ?? { id: model };
    const variables = claudeCodeVariables({ url: facts.url, key: KEY_REFERENCE, model, smallModel });
    return withSecret(facts, `${printExports(variables)}\nclaude`);
  },
};
