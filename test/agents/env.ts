import { rmSync } from "node:fs";
import { join } from "node:path";
import { runTollgate } from "../cli/run-tollgate.ts";
import { createPaidKey } from "../start/paid-key.ts";
import { startServedProcess } from "../support/served-process.ts";
import { tempFolder } from "../support/temp-folder.ts";
import type { Agent } from "./agent/agent.ts";
import { onInterrupt } from "./interruption.ts";
import { type Answering, type Provider, startProvider } from "./provider.ts";
import { type RecordedRequest, startRecordingProxy } from "./recording-proxy.ts";
import type { UpstreamKind } from "./upstreams.ts";

/** USD per million tokens, at which a token costs whole nano-USD, in the standard tier and in the fast one. */
export const PRICES = {
  standard: { input: 3n, output: 15n },
  priority: { input: 6n, output: 30n },
} as const;

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
  /** The sum of all receipts, and what the statement of the month charged. */
  readonly receiptsUsd: readonly string[];
  readonly chargedUsd: string;
  /** Outcome and surface of every inference request, from the log. */
  readonly outcomes: readonly string[];
  /** Exit code of the audit, 0 when every sum is right. */
  readonly auditCode: number;
  /** Why the provider refused requests. */
  readonly refused: readonly string[];
}

export async function startEnv(kind: UpstreamKind, agent: Agent, answer: Answering): Promise<AgentEnv> {
  const folder = tempFolder();
  const remove = () => rmSync(folder, { recursive: true, force: true });
  const provider = await startProvider(kind, { models: agent.models, folder, answer });
  await Bun.write(join(folder, "tollgate.yaml"), printConfig(provider, agent));
  const { key, gateway } = await startGateway(folder).catch(async (error) => {
    await provider.stop();
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
      await provider.stop();
      const books = await readBooks(folder);
      remove();
      removeCallback();
      return { exitCode, outcomes: readOutcomes(gateway.stdout()), refused: provider.refused(), ...books };
    },
  };
}

async function startGateway(folder: string) {
  const key = await createPaidKey(folder);
  return { key, gateway: await startServedProcess({ folder }) };
}

function printConfig({ upstream, route }: Provider, agent: Agent): string {
  const usd = ({ input, output }: { input: bigint; output: bigint }) => ({
    input: `${input}.00`,
    output: `${output}.00`,
  });
  const price = { ...usd(PRICES.standard), tiers: { priority: usd(PRICES.priority) } };
  const model = (name: string) => ({
    routes: [{ upstream: "scripted", ...route(name) }],
    context_window: 400_000,
    max_output_tokens: 64_000,
    price,
  });
  const models = Object.fromEntries(agent.models.map((name) => [name, model(name)]));
  // JSON is valid YAML.
  return JSON.stringify({ upstreams: { scripted: upstream }, models });
}

type Books = Pick<FinalState, "postedUsd" | "heldUsd" | "receiptsUsd" | "chargedUsd" | "auditCode">;

async function readBooks(folder: string): Promise<Books> {
  const read = async (...args: readonly string[]) => (await runTollgate(folder, [...args, "--json"])).json();
  const month = new Date().toISOString().slice(0, 7);
  const list = await read("account", "list");
  const statement = await read("statement", "--month", month);
  const receipts = await read("receipts", "--account", "test", "--limit", "1000");
  const [account] = Array.isArray(list.accounts) ? list.accounts : [];
  const { exitCode: auditCode } = await runTollgate(folder, ["audit"]);
  return {
    postedUsd: String(account?.posted_usd),
    heldUsd: String(account?.held_usd),
    receiptsUsd: Array.isArray(receipts.receipts)
      ? receipts.receipts.map((each) => String(each.charged_usd))
      : [],
    chargedUsd: String(Object(statement.total).charged_usd),
    auditCode,
  };
}

function readOutcomes(log: string): readonly string[] {
  const entries = log.split("\n").filter((line) => line.startsWith("{"));
  return entries
    .map((line) => JSON.parse(line))
    .flatMap(({ msg, surface, outcome }) => (msg === "request" ? [`${outcome} on ${surface}`] : []));
}
