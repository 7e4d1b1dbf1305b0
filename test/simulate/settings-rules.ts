import type { Receipt } from "../../src/ledger/records.ts";
import type { SimulatedRequest } from "./clients.ts";
import { routesOf } from "./prices.ts";

/** Time of a request beside its attempts: its body, its hold and its settlement, each on a slow disk. */
const BESIDE_ATTEMPTS_MS = 30_000;

type Require = (isTrue: boolean, text: string) => void;

/** Checks that a request kept the configuration that it arrived under, whatever was changed while it ran. */
export function checkSettings(request: SimulatedRequest, require: Require): void {
  const { ending, asked } = request;
  const routes = routesOf(request);
  const isUnknown = typeof ending === "object" && ending.error === "unknown_model";
  require(!isUnknown || routes.length === 0, "its model was said to be unknown");
  for (const { upstream } of asked) {
    const isKnown = routes.some((route) => route.upstream === upstream);
    require(isKnown, `${upstream} was asked, which its configuration does not have`);
  }
  const totalMs = Math.max(0, ...request.config.upstreams.map(({ timeouts }) => timeouts.totalMs));
  const tookMs = (request.endedAtMs ?? 0) - request.startedAtMs;
  require(tookMs <=
    totalMs + BESIDE_ATTEMPTS_MS, `it took ${Math.round(tookMs)} ms, of ${totalMs} for its attempts`);
}

/** Checks the price of a receipt, and what a client paid that left before any output. */
export function checkTerms(
  request: SimulatedRequest,
  { outcome, captured }: Receipt,
  require: Require,
): void {
  const { price, upstream } = outcome ?? {};
  const route = routesOf(request).find((each) => each.upstream === upstream);
  const isPrice = !price || (price.input === route?.price.input && price.output === route.price.output);
  require(isPrice, "its receipt has another price than its configuration");
  const isUnanswered = request.asked.every(({ isAnswered }) => !isAnswered);
  const isFree = request.ending === "left" && isUnanswered && request.config.clientDisconnect === "free";
  require(!isFree || captured === 0n, `its client left before any output, and was charged ${captured}`);
}
