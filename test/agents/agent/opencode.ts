import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { OPENCODE, opencodeSettings } from "../../../src/clients/agents.ts";
import { COMMON_UPSTREAMS } from "../upstreams.ts";
import type { Agent } from "./agent.ts";

const MODELS = ["agents-model", "agents-small-model"] as const;

/** opencode with its package for chat completions. */
export const opencode: Agent = opencodeWith("opencode", "chat", "@ai-sdk/openai-compatible");

/** opencode with its packages for messages and for responses. */
export const opencodeMessages: Agent = opencodeWith("opencode-messages", "messages", "@ai-sdk/anthropic");
export const opencodeResponses: Agent = opencodeWith("opencode-responses", "responses", "@ai-sdk/openai");

function opencodeWith(name: string, surface: Agent["surface"], library: string): Agent {
  return {
    name,
    client: OPENCODE.id,
    pack: {
      name: "opencode-ai",
      version: "1.18.33",
      programs: ["opencode-ai/bin/opencode.exe", "opencode-*/bin/opencode"],
    },
    surface,
    models: MODELS,
    upstreams: surface === "responses" ? [...COMMON_UPSTREAMS, "openai+responses"] : COMMON_UPSTREAMS,
    ...(surface === "chat" && { dropsSignatures: true }),
    tools: {
      run: (command) => ({ name: "bash", input: { command, description: "Do a step" } }),
      write: ({ path, text }) => ({ name: "write", input: { filePath: path, content: text } }),
      read: ({ path }) => ({ name: "read", input: { filePath: path } }),
      edit: ({ path, before, after }) => ({
        name: "edit",
        input: { filePath: path, oldString: before, newString: after },
      }),
    },
    start({ home, gatewayUrl, key }, { prompt }) {
      const file = join(home, "opencode.json");
      writeFileSync(file, printConfig(library, gatewayUrl, key));
      return { args: ["run", prompt], environment: { OPENCODE_CONFIG: file, ...NO_DOWNLOADS } };
    },
  };
}

const NO_DOWNLOADS = {
  OPENCODE_DISABLE_AUTOUPDATE: "1",
  OPENCODE_DISABLE_MODELS_FETCH: "1",
  OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
  OPENCODE_DISABLE_DEFAULT_PLUGINS: "1",
};

function printConfig(library: string, gatewayUrl: string, key: string): string {
  const limits = { contextWindow: 100_000, outputTokensMax: 8_000 };
  const [main, small] = [
    { id: MODELS[0], ...limits },
    { id: MODELS[1], ...limits },
  ] as const;
  return JSON.stringify({
    ...opencodeSettings({ url: gatewayUrl, key, models: [main, small], library }),
    autoupdate: false,
    share: "disabled",
    permission: { "*": "allow" },
    small_model: `tollgate/${small.id}`,
    enabled_providers: ["tollgate"],
  });
}
