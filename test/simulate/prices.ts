import type { Price } from "../../src/domain/model.ts";
import type { Nanos } from "../../src/domain/money.ts";
import type { SimulatedRequest } from "./clients.ts";
import { CONTEXT_WINDOW } from "./reloads.ts";
import type { AskedCall } from "./upstreams.ts";

/** The largest limit of output tokens that a client asks for. */
export const OUTPUT_MAX = 900;

/**
 * The cost of what a call reported, at the price that was in force when its request arrived; `undefined` when it
 * reported nothing that can be charged as it is.
 */
export function costOfReport(request: SimulatedRequest, { upstream, plan }: AskedCall): Nanos | undefined {
  const { tokens } = plan;
  const route = routesOf(request).find((each) => each.upstream === upstream);
  return tokens && route && costAt(route.price, tokens.input, tokens.output);
}

/** The dearest request: a full window, and a tenth more output than the largest limit. */
export function dearestOf(request: SimulatedRequest): Nanos {
  const costs = routesOf(request).map(({ price }) =>
    costAt(price, CONTEXT_WINDOW, OUTPUT_MAX + OUTPUT_MAX / 10),
  );
  return costs.reduce((most, cost) => (cost > most ? cost : most), 0n);
}

/** The routes of its model; none when its configuration does not have it. */
export function routesOf({ config, model }: SimulatedRequest) {
  return config.models.find(({ id }) => id === model)?.routes ?? [];
}

function costAt({ input, output }: Price, inputTokens: number, outputTokens: number): Nanos {
  const picos = BigInt(inputTokens) * input + BigInt(outputTokens) * output;
  return (picos + 999n) / 1_000n;
}
