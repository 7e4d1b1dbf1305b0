import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { QWEN_CODE, qwenCodeSettings } from "../../../src/clients/agents.ts";
import { COMMON_UPSTREAMS } from "../upstreams.ts";
import type { Agent } from "./agent.ts";

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
  upstreams: COMMON_UPSTREAMS,
  dropsSignatures: true,
  tools: {
    run: (command) => ({
      name: "run_shell_command",
      input: { command, description: "Do a step", is_background: false },
    }),
    write: ({ path, text }) => ({ name: "write_file", input: { file_path: path, content: text } }),
    read: ({ path }) => ({ name: "read_file", input: { file_path: path } }),
    edit: ({ path, before, after }) => ({
      name: "edit",
      input: { file_path: path, old_string: before, new_string: after },
    }),
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
