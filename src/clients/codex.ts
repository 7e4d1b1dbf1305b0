import type { Client } from "./client.ts";
import { KEY_VARIABLE } from "./shell.ts";

interface CodexFacts {
  readonly url: string;
  readonly model: string;
}

/** Settings of Codex with a provider of its own. The table of the provider is the last. */
export function printCodexProvider({ url, model }: CodexFacts, isSocket: boolean): string {
  const lines = [
    `model = ${JSON.stringify(model)}`,
    'model_provider = "tollgate"',
    "",
    "[model_providers.tollgate]",
    'name = "Tollgate"',
    `base_url = "${url}/v1"`,
    `env_key = "${KEY_VARIABLE}"`,
    'wire_api = "responses"',
    ...(isSocket ? ["supports_websockets = true"] : []),
  ];
  return lines.join("\n");
}

/** Settings of Codex with its built-in provider at another base URL, where it uses a WebSocket. */
export function printCodexBaseUrl({ url, model }: CodexFacts): string {
  return `model = ${JSON.stringify(model)}\nopenai_base_url = "${url}/v1"`;
}

export const CODEX: Client = {
  id: "codex",
  title: "Codex",
  note: "In ~/.codex/config.toml.",
  print: ({ url, models: [{ id: model }] }) => printCodexProvider({ url, model }, false),
};

export const CODEX_WEBSOCKET: Client = {
  id: "codex-websocket",
  title: "Codex · WebSocket",
  note: "In ~/.codex/config.toml. Codex then sends only what is new in a conversation.",
  print: ({ url, models: [{ id: model }] }) => printCodexProvider({ url, model }, true),
};

export const CODEX_BASE_URL: Client = {
  id: "codex-base-url",
  title: "Codex · built-in provider",
  note: "In ~/.codex/config.toml. CODEX_API_KEY holds the secret for codex exec.",
  print: ({ url, models: [{ id: model }] }) => printCodexBaseUrl({ url, model }),
};
