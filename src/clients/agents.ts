// Settings of coding agents that run in a terminal.
import type { Client, ClientModel } from "./client.ts";
import { KEY_REFERENCE, KEY_VARIABLE, printExports, quoteForShell, withSecret } from "./shell.ts";

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

/** Without it, Gemini CLI takes another kind of sign-in for an address that is not Google's, and stops. */
export const GEMINI_CLI_SETTINGS = { security: { auth: { selectedType: "gemini-api-key" } } };

/** The environment variables that direct Gemini CLI to a gateway. */
export function geminiCliVariables({ url, key }: { readonly url: string; readonly key: string }) {
  return { GOOGLE_GEMINI_BASE_URL: url, GEMINI_API_KEY: key };
}

export const GEMINI_CLI: Client = {
  id: "gemini-cli",
  title: "Gemini CLI",
  note: "In a shell. A settings.json that exists is kept: it needs the member security.auth.selectedType.",
  print(facts) {
    const [{ id: model }] = facts.models;
    const file = "~/.gemini/settings.json";
    const settings = quoteForShell(JSON.stringify(GEMINI_CLI_SETTINGS));
    const lines = [
      printExports(geminiCliVariables({ url: facts.url, key: KEY_REFERENCE })),
      "mkdir -p ~/.gemini",
      `[ -e ${file} ] || echo ${settings} > ${file}`,
      `gemini --model ${quoteForShell(model)}`,
    ];
    return withSecret(facts, lines.join("\n"));
  },
};

interface OpencodeFacts {
  readonly url: string;
  /** The secret, or a reference to it. */
  readonly key: string;
  readonly models: readonly [ClientModel, ...ClientModel[]];
  /** The package with which opencode calls the gateway; each has an API of its own. */
  readonly library: string;
}

/** Settings of opencode with a provider of its own. */
export function opencodeSettings({ url, key, models, library }: OpencodeFacts) {
  return {
    model: `tollgate/${models[0].id}`,
    provider: {
      tollgate: {
        npm: library,
        options: { baseURL: `${url}/v1`, apiKey: key },
        models: Object.fromEntries(models.map((model) => [model.id, { limit: limitOf(model) }])),
      },
    },
  };
}

/** opencode compacts a conversation before it reaches these. */
function limitOf({ contextWindow, outputTokensMax }: ClientModel) {
  return { context: contextWindow, output: outputTokensMax };
}

export const OPENCODE: Client = {
  id: "opencode",
  title: "opencode",
  note: "In opencode.json.",
  print: ({ url, models }) =>
    JSON.stringify(
      opencodeSettings({
        url,
        models,
        key: `{env:${KEY_VARIABLE}}`,
        library: "@ai-sdk/openai-compatible",
      }),
      null,
      2,
    ),
};

interface QwenCodeFacts {
  readonly url: string;
  readonly models: readonly [ClientModel, ...ClientModel[]];
}

/** Settings of Qwen Code with the gateway's chat completions. */
export function qwenCodeSettings({ url, models }: QwenCodeFacts) {
  return {
    security: { auth: { selectedType: "openai" } },
    model: { name: models[0].id },
    modelProviders: {
      openai: models.map(({ id, contextWindow }) => ({
        id,
        name: id,
        envKey: KEY_VARIABLE,
        baseUrl: `${url}/v1`,
        generationConfig: { contextWindowSize: contextWindow },
      })),
    },
  };
}

export const QWEN_CODE: Client = {
  id: "qwen-code",
  title: "Qwen Code",
  note: "In ~/.qwen/settings.json.",
  print: ({ url, models }) => JSON.stringify(qwenCodeSettings({ url, models }), null, 2),
};
