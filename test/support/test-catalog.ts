import type { Model, ModelTraits, Price, Protocol, Route } from "../../src/domain/model.ts";
import { parsePrice } from "../../src/domain/money.ts";
import type { UpstreamConfig, UpstreamTimeouts } from "../../src/upstream/upstream.ts";
import type { ScriptedUpstream } from "./scripted-upstream.ts";

/** 1,000 nano-USD for an input token, 2,000 for an output token; cached 100, written 1,250 and 2,000. */
export const TEST_PRICE: Price = {
  input: parsePrice("1.00"),
  output: parsePrice("2.00"),
  cachedInput: parsePrice("0.10"),
  cacheWrite: parsePrice("1.25"),
  cacheWrite1h: parsePrice("2.00"),
};

/** As of a model that nobody knows. */
const TEST_TRAITS: ModelTraits = { reasoning: "none", sampling: true };

/** Short enough for a test to wait for, long enough for a busy machine. */
const TEST_TIMEOUTS: UpstreamTimeouts = {
  connectMs: 5_000,
  firstOutputMs: 20_000,
  idleMs: 20_000,
  totalMs: 30_000,
};

/** A model that one scripted upstream answers, under the same name there unless told otherwise. */
export function scriptedModel(id: string, protocol: Protocol, more: Partial<Model> = {}): Model {
  return {
    id,
    routes: [scriptedRoute(`scripted-${protocol}`, id)],
    contextWindow: 200_000,
    outputTokensMax: 8_000,
    outputTokensDefault: 1_000,
    imageTokens: 2_000,
    price: TEST_PRICE,
    createdAtS: 1_790_000_000,
    ...more,
  };
}

export function scriptedRoute(upstream: string, upstreamModel: string, more: Partial<Route> = {}): Route {
  return { upstream, upstreamModel, priority: 1, weight: 1, price: TEST_PRICE, traits: TEST_TRAITS, ...more };
}

/** Both protocols at one scripted upstream: "scripted-openai" and "scripted-anthropic". */
export function scriptedUpstreams(scripted: ScriptedUpstream): UpstreamConfig[] {
  return [
    scriptedUpstream("scripted-openai", "openai", { baseUrl: scripted.openaiUrl }),
    scriptedUpstream("scripted-anthropic", "anthropic", { baseUrl: scripted.anthropicUrl }),
  ];
}

export function scriptedUpstream(
  name: string,
  protocol: Protocol,
  more: Partial<UpstreamConfig>,
): UpstreamConfig {
  return {
    name,
    protocol,
    baseUrl: "http://127.0.0.1:1",
    apiKey: "provider-secret",
    timeouts: TEST_TIMEOUTS,
    outputLimitField: undefined,
    hasResponses: false,
    // A test of one failure after the other shall reach its upstream; what opens a circuit says so.
    circuitFailures: Number.POSITIVE_INFINITY,
    ...more,
  };
}

/** A `tollgate.yaml` whose one model `chat` is answered by the scripted upstream; `more` is what else it says. */
export function scriptedConfig({ openaiUrl }: Pick<ScriptedUpstream, "openaiUrl">, more: string): string {
  return `
upstreams:
  scripted: { protocol: openai, base_url: "${openaiUrl}", api_key: provider-secret }
models:
  chat:
    routes: [ { upstream: scripted, model: chat } ]
    context_window: 100000
    max_output_tokens: 1000
    price: { input: "1.00", output: "2.00" }
${more}
`;
}
