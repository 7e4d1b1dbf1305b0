import { join } from "node:path";
import { CLAUDE_CODE, claudeCodeVariables } from "../../../src/clients/agents.ts";
import { UPSTREAMS } from "../upstreams.ts";
import type { Agent } from "./agent.ts";

const MODELS = ["agents-model", "agents-small-model"] as const;

/** Anthropic's Claude Code, without a terminal, with a model name that it does not know. */
export const claudeCode: Agent = {
  name: "claude",
  client: CLAUDE_CODE.id,
  pack: {
    name: "@anthropic-ai/claude-code",
    version: "2.1.330",
    programs: ["@anthropic-ai/claude-code-*/claude", "@anthropic-ai/claude-code/bin/claude.exe"],
  },
  surface: "messages",
  models: MODELS,
  upstreams: UPSTREAMS,
  tools: {
    run: (command) => ({ name: "Bash", input: { command, description: "Do a step" } }),
    write: ({ path, text }) => ({ name: "Write", input: { file_path: path, content: text } }),
    read: ({ path }) => ({ name: "Read", input: { file_path: path } }),
    edit: ({ path, before, after }) => ({
      name: "Edit",
      input: { file_path: path, old_string: before, new_string: after, replace_all: false },
    }),
  },
  start: ({ home, gatewayUrl, key }, { prompt }) => ({
    args: ["--print", prompt, "--allowedTools", "Bash,Write,Read,Edit"],
    environment: {
      CLAUDE_CONFIG_DIR: join(home, ".claude"),
      ...claudeCodeVariables({ url: gatewayUrl, key, model: MODELS[0], smallModel: MODELS[1] }),
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      // Report an error at once instead of retrying or falling back.
      CLAUDE_CODE_MAX_RETRIES: "1",
      CLAUDE_CODE_DISABLE_NONSTREAMING_FALLBACK: "1",
    },
  }),
};
