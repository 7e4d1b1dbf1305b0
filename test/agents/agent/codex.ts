import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  CODEX,
  CODEX_BASE_URL,
  CODEX_WEBSOCKET,
  printCodexBaseUrl,
  printCodexProvider,
} from "../../../src/clients/agents.ts";
import { COMPACTION_TOKENS } from "../errand.ts";
import { UPSTREAMS, type UpstreamKind } from "../upstreams.ts";
import type { Agent, Toolbox, ToolUse } from "./agent.ts";

const PROGRAM = {
  surface: "responses",
  pack: { name: "@openai/codex", version: "0.169.0", programs: ["@openai/codex-*/vendor/*/bin/codex"] },
} as const;

/** Codex's shell, which it offers as a function. */
const SHELL: Toolbox = { run: (command) => ({ name: "exec_command", input: { cmd: command } }) };
/** A free-form tool that patches files, beside the shell. */
const PATCHES: Toolbox = {
  ...SHELL,
  write: ({ name, text }) => patch(`Add File: ${name}`, text.trimEnd().replaceAll(/^/gm, "+")),
  edit: ({ name, before, after }) => patch(`Update File: ${name}`, `@@\n-${before}\n+${after}`),
};
/** One free-form tool that runs code, which calls the shell. */
const CODE: Toolbox = {
  run: (command) => ({
    name: "exec",
    input: `text(await tools.exec_command({ cmd: ${JSON.stringify(command)} }));`,
  }),
};

function patch(head: string, lines: string): ToolUse {
  return { name: "apply_patch", input: `*** Begin Patch\n*** ${head}\n${lines}\n*** End Patch\n` };
}

/** What the runs of Codex differ in. */
interface Variant {
  readonly name: string;
  /** Default: a name that Codex does not know. */
  readonly model?: string;
  readonly tools?: Toolbox;
  readonly client?: string;
  readonly upstreams?: readonly UpstreamKind[];
  readonly tier?: "priority";
  print?(model: string, gatewayUrl: string): string;
}

/** OpenAI's Codex. */
export const codex = codexWith({ name: "codex" });

/** Codex with a WebSocket, on which it sends only what is new in a conversation. */
export const codexSocket = codexWith({
  name: "codex-socket",
  client: CODEX_WEBSOCKET.id,
  print: (model, gatewayUrl) => printConfig(model, gatewayUrl, true),
});

/** Codex with its own provider at another base URL, where it uses a WebSocket too. */
export const codexBaseUrl = codexWith({
  name: "codex-base-url",
  client: CODEX_BASE_URL.id,
  print: printBaseUrl,
});

/** Codex in its fast mode, which needs a model that Codex knows, with its own provider. Only some upstreams have it. */
export const codexFast = codexWith({
  name: "codex-fast",
  model: "gpt-5.5",
  client: CODEX_BASE_URL.id,
  upstreams: ["openai", "openai+responses", "gemini"],
  tier: "priority",
  print: (model, gatewayUrl) => `service_tier = "fast"\n${printBaseUrl(model, gatewayUrl)}`,
});

/** Codex with a model for which it offers a free-form tool that patches files. */
export const codexPatch = codexWith({ name: "codex-patch", model: "gpt-5.5", tools: PATCHES });

/** Codex with a model for which it offers tools in namespaces, as an item of the input. */
export const codexCode = codexWith({ name: "codex-code", model: "gpt-6-sol", tools: CODE });

function codexWith(variant: Variant): Agent {
  const { name, model = "agents-model", client = CODEX.id, tools = SHELL, upstreams = UPSTREAMS } = variant;
  const print =
    variant.print ?? ((model: string, gatewayUrl: string) => printConfig(model, gatewayUrl, false));
  return {
    ...PROGRAM,
    ...{ name, client, tools, upstreams },
    ...(variant.tier && { tier: variant.tier }),
    compacts: true,
    models: [model, "agents-small-model"],
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

/** Settings of a run that are no settings of a gateway: no calls of other hosts, and a context that is soon full. */
const QUIET = `check_for_update_on_startup = false
analytics = { enabled = false }
model_auto_compact_token_limit = ${COMPACTION_TOKENS}
`;

/** Fails at once instead of retrying. The settings end in the table of the provider. */
function printConfig(model: string, gatewayUrl: string, isSocket: boolean): string {
  const settings = printCodexProvider({ url: gatewayUrl, model }, isSocket);
  return `${QUIET}${settings}\nrequest_max_retries = 1\nstream_max_retries = 1\n`;
}

function printBaseUrl(model: string, gatewayUrl: string): string {
  return `${QUIET}${printCodexBaseUrl({ url: gatewayUrl, model })}\n`;
}
