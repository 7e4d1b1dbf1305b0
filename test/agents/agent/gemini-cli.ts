import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { GEMINI_CLI, GEMINI_CLI_SETTINGS, geminiCliVariables } from "../../../src/clients/agents.ts";
import { UPSTREAMS } from "../upstreams.ts";
import type { Agent } from "./agent.ts";

const MODELS = ["agents-model", "gemini-2.5-flash-lite"] as const;

/** Google's Gemini CLI, without a terminal, with a model name that it does not know. It runs on Node.js. */
export const geminiCli: Agent = {
  name: "gemini",
  client: GEMINI_CLI.id,
  pack: {
    name: "@google/gemini-cli",
    version: "0.61.0",
    programs: ["@google/gemini-cli/bundle/gemini.js"],
  },
  surface: "gemini",
  models: MODELS,
  upstreams: UPSTREAMS.filter((kind) => kind !== "openai+responses"),
  tools: {
    run: (command) => ({ name: "run_shell_command", input: { command, description: "Do a step" } }),
    write: ({ path, text }) => ({ name: "write_file", input: { file_path: path, content: text } }),
    read: ({ path }) => ({ name: "read_file", input: { file_path: path } }),
    edit: ({ path, before, after }) => ({
      name: "replace",
      input: { file_path: path, instruction: "Do a step", old_string: before, new_string: after },
    }),
  },
  start({ home, gatewayUrl, key }, { prompt }) {
    mkdirSync(join(home, ".gemini"));
    writeFileSync(join(home, ".gemini", "settings.json"), JSON.stringify(GEMINI_CLI_SETTINGS));
    return {
      args: ["--prompt", prompt, "--model", MODELS[0], "--approval-mode", "yolo"],
      environment: {
        ...geminiCliVariables({ url: gatewayUrl, key }),
        GEMINI_CLI_TRUST_WORKSPACE: "true",
      },
    };
  },
};
