import { type Load, startLoad } from "../contestants.ts";
import { type Child, startChild } from "../processes.ts";
import {
  type BenchGateway,
  type ExtraConfig,
  modelEntry,
  startGateway,
  upstreamEntry,
} from "../start-gateway.ts";
import type { AgentModel } from "./plan.ts";

/** A proxy and a gateway with one upstream that answers in every format. */
export interface AgentContestants {
  readonly proxy: Child;
  readonly gateway: BenchGateway;
  readonly load: Load;
  stop(): Promise<void>;
}

export async function startAgentContestants(): Promise<AgentContestants> {
  const upstream = await startChild("translate/upstream-process.ts");
  const proxy = await startChild("proxy-process.ts", [upstream.url]);
  const gateway = await startGateway(upstream.url, {}, extraConfigOf(upstream.url));
  const load = startLoad();
  return {
    proxy,
    gateway,
    load,
    async stop() {
      await Promise.all([load.stop(), gateway.remove()]);
      await Promise.all([proxy.stop(), upstream.stop()]);
    },
  };
}

/** The name of a model of the gateway. */
export function modelName(model: AgentModel): string {
  return `agents-${model.replace(" ", "-")}`;
}

const UPSTREAM_MODEL = "host-model";
const WINDOW = { context_window: 1_000_000, max_output_tokens: 64_000 };
const FIVE = Array.from({ length: 5 }, (_, at) => `chat-${at}`);

function extraConfigOf(url: string): ExtraConfig {
  const openai = upstreamEntry(url);
  const upstreams = {
    chat: openai,
    responses: { ...openai, responses: true },
    messages: { protocol: "anthropic", base_url: url, api_key: "bench" },
    gemini: { protocol: "gemini", base_url: `${url}/v1beta`, api_key: "bench" },
    converse: {
      protocol: "bedrock",
      base_url: url,
      region: "us-east-1",
      api: "converse",
      api_key: "bench",
    },
  };
  const modelOf = (names: readonly string[]) => ({
    ...modelEntry(names.map((upstream) => ({ upstream, model: UPSTREAM_MODEL }))),
    ...WINDOW,
  });
  const models: Readonly<Record<AgentModel, object>> = {
    chat: modelOf(["chat"]),
    responses: modelOf(["responses"]),
    messages: modelOf(["messages"]),
    gemini: modelOf(["gemini"]),
    converse: modelOf(["converse"]),
    cached: { ...modelOf(["messages"]), prompt_caching: "auto" },
    "five routes": modelOf(FIVE),
  };
  return {
    upstreams: { ...upstreams, ...Object.fromEntries(FIVE.map((name) => [name, openai])) },
    // Safe because the keys of the models are their names.
    models: Object.fromEntries(
      Object.entries(models).map(([name, entry]) => [modelName(name as AgentModel), entry]),
    ),
  };
}
