import { rmSync } from "node:fs";
import { join } from "node:path";
import { runTollgate } from "../cli/run-tollgate.ts";
import { createPaidKey } from "../start/paid-key.ts";
import type { Script } from "../support/script.ts";
import { startScriptedUpstream } from "../support/scripted-upstream.ts";
import { startServedProcess } from "../support/served-process.ts";
import { tempFolder } from "../support/temp-folder.ts";
import type { Agent } from "./agent/agent.ts";
import { whenInterrupted } from "./interruption.ts";
import { startTap, type TappedRequest } from "./tap.ts";

/** What an upstream speaks; the third speaks the responses of OpenAI beside the first. */
export const UPSTREAMS = ["openai", "anthropic", "openai+responses"] as const;
export type UpstreamKind = (typeof UPSTREAMS)[number];

/** USD per million tokens: a token costs whole nano-USD. */
export const PRICE = { input: 3n, output: 15n } as const;

/** A gateway in a process of its own, as an operator runs it, between an agent and one scripted upstream. */
export interface House {
  /** What the agent is told; without a path. */
  readonly url: string;
  readonly key: string;
  readonly asked: readonly TappedRequest[];
  /** Ends the gateway as an operator does, and tells what it leaves. Only once. */
  close(): Promise<Books>;
}

export interface Books {
  readonly exitCode: number;
  readonly postedUsd: string;
  readonly heldUsd: string;
  /** Of every request that asked for words, what the log says of its end. */
  readonly outcomes: readonly string[];
  /** Of the audit, which is 0 when every sum is right. */
  readonly auditCode: number;
}

export async function openHouse(kind: UpstreamKind, agent: Agent, model: Script): Promise<House> {
  const upstream = await startScriptedUpstream();
  // Requests that name no model are the model's own to answer too.
  for (const name of [...agent.models, ""]) upstream.on(name, model);
  const folder = tempFolder();
  const remove = () => rmSync(folder, { recursive: true, force: true });
  await Bun.write(join(folder, "tollgate.yaml"), printConfig(kind, upstream, agent));
  const { key, gateway } = await startGateway(folder).catch(async (error) => {
    await upstream.stop();
    remove();
    throw error;
  });
  const forget = whenInterrupted(() => {
    gateway.signal("SIGKILL");
    remove();
  });
  const tap = await startTap(gateway.url);
  return {
    url: tap.url,
    key,
    asked: tap.seen,
    async close() {
      gateway.signal("SIGTERM");
      const exitCode = await gateway.exitCode;
      tap.stop();
      await upstream.stop();
      const books = await readBooks(folder);
      remove();
      forget();
      return { exitCode, outcomes: readOutcomes(gateway.stdout()), ...books };
    },
  };
}

async function startGateway(folder: string) {
  const key = await createPaidKey(folder);
  return { key, gateway: await startServedProcess({ folder }) };
}

function printConfig(
  kind: UpstreamKind,
  urls: { openaiUrl: string; anthropicUrl: string },
  agent: Agent,
): string {
  const isAnthropic = kind === "anthropic";
  const upstream = {
    protocol: isAnthropic ? "anthropic" : "openai",
    base_url: isAnthropic ? urls.anthropicUrl : urls.openaiUrl,
    api_key: "provider-secret",
    ...(kind === "openai+responses" && { responses: true }),
  };
  const price = { input: `${PRICE.input}.00`, output: `${PRICE.output}.00` };
  const model = (name: string) => ({
    // What a name does not tell: it thinks.
    routes: [{ upstream: "scripted", model: name, reasoning: isAnthropic ? "adaptive" : "effort" }],
    context_window: 400_000,
    max_output_tokens: 64_000,
    price,
  });
  const models = Object.fromEntries(agent.models.map((name) => [name, model(name)]));
  // JSON is YAML.
  return JSON.stringify({ upstreams: { scripted: upstream }, models });
}

async function readBooks(folder: string): Promise<Omit<Books, "exitCode" | "outcomes">> {
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
