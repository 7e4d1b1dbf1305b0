import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Agent } from "./agent.ts";

const MODELS = ["agents-model", "gemini-2.5-flash-lite"] as const;

/** Without it, the program takes another kind of sign-in for an address that is not Google's, and stops. */
const SETTINGS = { security: { auth: { selectedType: "gemini-api-key" } } };

/** Google's Gemini CLI, without a terminal, with a model name that it does not know. It runs on Node.js. */
export const geminiCli: Agent = {
  name: "gemini",
  pack: {
    name: "@google/gemini-cli",
    version: "0.61.0",
    programs: ["@google/gemini-cli/bundle/gemini.js"],
  },
  surface: "gemini",
  models: MODELS,
  tool: {
    name: "run_shell_command",
    // The program refuses commands with "$(", also for arithmetic.
    input: ({ command }) => ({
      command: command.replace(/echo \$\(\((\d+) \* (\d+)\)\)/, "expr $1 '*' $2"),
      description: "Make the file",
    }),
    result: ({ result }) => result,
  },
  start({ home, gatewayUrl, key }, { prompt }) {
    mkdirSync(join(home, ".gemini"));
    writeFileSync(join(home, ".gemini", "settings.json"), JSON.stringify(SETTINGS));
    return {
      args: ["--prompt", prompt, "--model", MODELS[0], "--approval-mode", "yolo"],
      environment: {
        GOOGLE_GEMINI_BASE_URL: gatewayUrl,
        GEMINI_API_KEY: key,
        GEMINI_CLI_TRUST_WORKSPACE: "true",
      },
    };
  },
};
