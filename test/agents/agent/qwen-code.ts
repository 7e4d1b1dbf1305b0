import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { QWEN_CODE, qwenCodeSettings } from "../../../src/clients/qwen-code.ts";
import type { Agent } from "./agent.ts";
import { withoutSubstitution } from "./gemini-cli.ts";

const MODELS = ["agents-model", "agents-small-model"] as const;

/** Alibaba's Qwen Code, without a terminal, with a model name that it does not know. It runs on Node.js. */
export const qwenCode: Agent = {
  name: "qwen",
  client: QWEN_CODE.id,
  pack: {
    name: "@qwen-code/qwen-code",
    version: "0.24.4",
    programs: ["@qwen-code/qwen-code/cli-entry.js"],
  },
  surface: "chat",
  models: MODELS,
  tool: {
    name: "run_shell_command",
    input: ({ command }) => ({
      command: withoutSubstitution(command),
      description: "Make the file",
      is_background: false,
    }),
    result: ({ result }) => result,
  },
  start({ home, gatewayUrl, key }, { prompt }) {
    const models = [{ id: MODELS[0], contextWindow: 100_000, outputTokensMax: 8_000 }] as const;
    const settings = { ...qwenCodeSettings({ url: gatewayUrl, models }), ...QUIET };
    mkdirSync(join(home, ".qwen"));
    writeFileSync(join(home, ".qwen", "settings.json"), JSON.stringify(settings));
    return { args: ["--prompt", prompt, "--yolo"], environment: { TOLLGATE_KEY: key } };
  },
};

/** Settings of a run that are no settings of a gateway. In a terminal of its own, a busy machine loses outputs. */
const QUIET = {
  privacy: { usageStatisticsEnabled: false },
  general: { disableAutoUpdate: true },
  tools: { shell: { enableInteractiveShell: false } },
};
