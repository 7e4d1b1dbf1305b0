import type { Model, ModelTraits, Price, Protocol, Route } from "../../src/domain/model.ts";
import { parsePrice } from "../../src/domain/money.ts";
import type { UnitPrice } from "../../src/domain/units.ts";
import type { UpstreamConfig, UpstreamTimeouts } from "../../src/upstream/upstream.ts";
import type { ScriptedUpstream } from "./scripted-upstream.ts";

/**
 * Nano-USD per token: input 1,000, output 2,000, cached input 100, cache write 1,250, one-hour cache write
 * 2,000.
 */
export const TEST_PRICE: Price = {
  input: parsePrice("1.00"),
  output: parsePrice("2.00"),
  cachedInput: parsePrice("0.10"),
  cacheWrite: parsePrice("1.25"),
  cacheWrite1h: parsePrice("2.00"),
};

/** The traits of a model that the catalog does not know. */
const TEST_TRAITS: ModelTraits = { reasoning: "none", sampling: true };

/** Long enough for a busy machine. A test that meets a limit sets it. */
const TEST_TIMEOUTS: UpstreamTimeouts = {
  connectMs: 60_000,
  firstOutputMs: 60_000,
  idleMs: 60_000,
  totalMs: 120_000,
};

/** A model with one route to the scripted upstream of its protocol, where it has the same name. */
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

/** A model at the scripted OpenAI upstream that is priced by unit. Its tokens are free. */
export function unitModel(id: string, unit: UnitPrice, more: Partial<Model> = {}): Model {
  const price = { input: 0n, output: 0n, cachedInput: 0n, cacheWrite: 0n, cacheWrite1h: 0n, unit };
  return scriptedModel(id, "openai", {
    routes: [scriptedRoute("scripted-openai", id, { price })],
    outputTokensMax: 0,
    outputTokensDefault: 0,
    price,
    ...more,
  });
}

/** A route of weight and priority 1 at the test price. */
export function scriptedRoute(upstream: string, upstreamModel: string, more: Partial<Route> = {}): Route {
  return { upstream, upstreamModel, priority: 1, weight: 1, price: TEST_PRICE, traits: TEST_TRAITS, ...more };
}

/** One upstream per protocol, both on one scripted upstream: "scripted-openai" and "scripted-anthropic". */
export function scriptedUpstreams(scripted: ScriptedUpstream): UpstreamConfig[] {
  return [
    scriptedUpstream("scripted-openai", "openai", { baseUrl: scripted.openaiUrl }),
    scriptedUpstream("scripted-anthropic", "anthropic", { baseUrl: scripted.anthropicUrl }),
  ];
}

/** An upstream of the configuration. By default nothing listens there, and its circuit never opens. */
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
    // Off by default, so that repeated failures of a test reach the upstream.
    circuitFailures: Number.POSITIVE_INFINITY,
    ...more,
  } as UpstreamConfig;
}

/** A `tollgate.yaml` with one model, `chat`, that the scripted upstream answers. `more` is appended. */
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
