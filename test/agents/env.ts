import { rmSync } from "node:fs";
import { join } from "node:path";
import { runTollgate } from "../cli/run-tollgate.ts";
import { createPaidKey } from "../start/paid-key.ts";
import { API_KEY, startScriptedGoogle } from "../support/scripted-google.ts";
import { startScriptedUpstream } from "../support/scripted-upstream.ts";
import { startServedProcess } from "../support/served-process.ts";
import { tempFolder } from "../support/temp-folder.ts";
import type { Agent } from "./agent/agent.ts";
import { onInterrupt } from "./interruption.ts";
import { type RecordedRequest, startRecordingProxy } from "./recording-proxy.ts";
import type { ScriptedModel } from "./scripted-model.ts";

/** Formats of an upstream. The third offers OpenAI's responses beside chat completions. */
export const UPSTREAMS = ["openai", "anthropic", "openai+responses", "gemini"] as const;
export type UpstreamKind = (typeof UPSTREAMS)[number];

/** USD per million tokens, at which a token costs whole nano-USD. */
export const PRICE = { input: 3n, output: 15n } as const;

/** A gateway in its own process, as an operator runs it, between an agent and one scripted upstream. */
export interface AgentEnv {
  /** Base address for the agent, without a path. */
  readonly url: string;
  readonly key: string;
  readonly requests: readonly RecordedRequest[];
  /** Stops the gateway with SIGTERM and returns the state that it leaves. Must be called once. */
  close(): Promise<FinalState>;
}

export interface FinalState {
  readonly exitCode: number;
  readonly postedUsd: string;
  readonly heldUsd: string;
  /** Outcome and surface of every inference request, from the log. */
  readonly outcomes: readonly string[];
  /** Exit code of the audit, 0 when every sum is right. */
  readonly auditCode: number;
}

export async function startEnv(
  kind: UpstreamKind,
  agent: Agent,
  model: Pick<ScriptedModel, "script" | "google">,
): Promise<AgentEnv> {
  const upstream = await startScriptedUpstream();
  const google = startScriptedGoogle();
  // The model also answers requests that name no model.
  for (const name of [...agent.models, ""]) {
    upstream.on(name, model.script);
    google.on(name, model.google);
  }
  const folder = tempFolder();
  const remove = () => rmSync(folder, { recursive: true, force: true });
  await Bun.write(
    join(folder, "tollgate.yaml"),
    printConfig(kind, { ...upstream, googleUrl: `${google.url}/v1beta` }, agent),
  );
  const { key, gateway } = await startGateway(folder).catch(async (error) => {
    await Promise.all([upstream.stop(), google.stop()]);
    remove();
    throw error;
  });
  const removeCallback = onInterrupt(() => {
    gateway.signal("SIGKILL");
    remove();
  });
  const proxy = await startRecordingProxy(gateway.url);
  return {
    url: proxy.url,
    key,
    requests: proxy.requests,
    async close() {
      gateway.signal("SIGTERM");
      const exitCode = await gateway.exitCode;
      proxy.stop();
      await Promise.all([upstream.stop(), google.stop()]);
      const accounts = await readAccounts(folder);
      remove();
      removeCallback();
      return { exitCode, outcomes: readOutcomes(gateway.stdout()), ...accounts };
    },
  };
}

async function startGateway(folder: string) {
  const key = await createPaidKey(folder);
  return { key, gateway: await startServedProcess({ folder }) };
}

function printConfig(
  kind: UpstreamKind,
  urls: { openaiUrl: string; anthropicUrl: string; googleUrl: string },
  agent: Agent,
): string {
  const isAnthropic = kind === "anthropic";
  const [protocol, baseUrl, apiKey = "provider-secret"] = {
    openai: ["openai", urls.openaiUrl],
    "openai+responses": ["openai", urls.openaiUrl],
    anthropic: ["anthropic", urls.anthropicUrl],
    gemini: ["gemini", urls.googleUrl, API_KEY],
  }[kind];
  const upstream = {
    protocol,
    base_url: baseUrl,
    api_key: apiKey,
    ...(kind === "openai+responses" && { responses: true }),
  };
  const price = {
    input: `${PRICE.input}.00`,
    output: `${PRICE.output}.00`,
    // Codex offers a search that runs at the provider, which a model serves only with a fee.
    ...(kind === "openai+responses" && { tools: { web_search: "0.01" } }),
  };
  const model = (name: string) => ({
    // The gateway cannot derive from these model names that the models reason.
    routes: [{ upstream: "scripted", model: name, reasoning: isAnthropic ? "adaptive" : "effort" }],
    context_window: 400_000,
    max_output_tokens: 64_000,
    price,
  });
  const models = Object.fromEntries(agent.models.map((name) => [name, model(name)]));
  // JSON is valid YAML.
  return JSON.stringify({ upstreams: { scripted: upstream }, models });
}

async function readAccounts(folder: string): Promise<Omit<FinalState, "exitCode" | "outcomes">> {
  const list = (await runTollgate(folder, ["account", "list", "--json"])).json();
  const [account] = Array.isArray(list.accounts) ? list.accounts : [];
  const { exitCode: auditCode } = await runTollgate(folder, ["audit"]);
  return { postedUsd: String(account?.posted_usd), heldUsd: String(account?.held_usd), auditCode };
}

function readOutcomes(log: string): readonly string[] {
  const entries = log.split("\n").filter((line) => line.startsWith("{"));
  return entries
    .map((line) => JSON.parse(line))
    .flatMap(({ msg, surface, outcome }) => (msg === "request" ? [`${outcome} on ${surface}`] : []));
}
