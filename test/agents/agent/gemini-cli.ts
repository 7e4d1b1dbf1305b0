import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { GEMINI_CLI, GEMINI_CLI_SETTINGS, geminiCliVariables } from "../../../src/clients/gemini-cli.ts";
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
  tool: {
    name: "run_shell_command",
    input: ({ command }) => ({
      command: withoutSubstitution(command),
      description: "Make the file",
    }),
    result: ({ result }) => result,
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

/** Gemini CLI and programs that come from it refuse commands with "$(", also for arithmetic. */
export function withoutSubstitution(command: string): string {
  return command.replace(/echo \$\(\((\d+) \* (\d+)\)\)/, "expr $1 '*' $2");
}
