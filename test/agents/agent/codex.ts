import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  CODEX,
  CODEX_BASE_URL,
  CODEX_WEBSOCKET,
  printCodexBaseUrl,
  printCodexProvider,
} from "../../../src/clients/codex.ts";
import type { Agent, ToolUse } from "./agent.ts";

const PROGRAM = {
  surface: "responses",
  pack: { name: "@openai/codex", version: "0.169.0", programs: ["@openai/codex-*/vendor/*/bin/codex"] },
} as const;

/** OpenAI's Codex with a model name that it does not know. It offers its shell as a function. */
export const codex: Agent = codexWith("codex", "agents-model", {
  name: "exec_command",
  input: ({ command }) => ({ cmd: command }),
  result: ({ result }) => result,
});

/** Codex with a WebSocket, on which it sends only what is new in a conversation. */
export const codexSocket: Agent = codexWith(
  "codex-socket",
  "agents-model",
  codex.tool,
  CODEX_WEBSOCKET.id,
  (model, gatewayUrl) => printConfig(model, gatewayUrl, true),
);

/** Codex with its own provider at another base URL, where it uses a WebSocket too. */
export const codexBaseUrl: Agent = codexWith(
  "codex-base-url",
  "agents-model",
  codex.tool,
  CODEX_BASE_URL.id,
  printBaseUrl,
);

/** Codex with a model for which it offers a free-form tool that patches files. */
export const codexPatch: Agent = codexWith("codex-patch", "gpt-5.5", {
  name: "apply_patch",
  input: ({ fileName, fileText }) =>
    `*** Begin Patch\n*** Add File: ${fileName}\n+${fileText}\n*** End Patch\n`,
  result: ({ fileName }) => fileName,
});

/** Codex with a model for which it offers tools in namespaces, as an item of the input. */
export const codexCode: Agent = codexWith("codex-code", "gpt-6-sol", {
  name: "exec",
  input: ({ command }) => `text(await tools.exec_command({ cmd: ${JSON.stringify(command)} }));`,
  result: ({ result }) => result,
});

function codexWith(
  name: string,
  model: string,
  tool: ToolUse,
  client = CODEX.id,
  print = (model: string, gatewayUrl: string) => printConfig(model, gatewayUrl, false),
): Agent {
  return {
    ...PROGRAM,
    name,
    client,
    models: [model, "agents-small-model"],
    tool,
    start({ home, gatewayUrl, key }, { prompt }) {
      const folder = join(home, ".codex");
      mkdirSync(folder);
      writeFileSync(join(folder, "config.toml"), print(model, gatewayUrl));
      return {
        // A container provides no sandbox, and the folder is empty.
        args: ["exec", "--skip-git-repo-check", "--sandbox", "danger-full-access", prompt],
        environment: { CODEX_HOME: folder, TOLLGATE_KEY: key, CODEX_API_KEY: key },
      };
    },
  };
}

/** Settings of a run that are no settings of a gateway: without calls of other hosts. */
const QUIET = "check_for_update_on_startup = false\nanalytics = { enabled = false }\n";

/** Fails at once instead of retrying. The settings end in the table of the provider. */
function printConfig(model: string, gatewayUrl: string, isSocket: boolean): string {
  const settings = printCodexProvider({ url: gatewayUrl, model }, isSocket);
  return `${QUIET}${settings}\nrequest_max_retries = 1\nstream_max_retries = 1\n`;
}

function printBaseUrl(model: string, gatewayUrl: string): string {
  return `${QUIET}${printCodexBaseUrl({ url: gatewayUrl, model })}\n`;
}
