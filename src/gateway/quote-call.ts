import type { Route } from "../domain/model.ts";
import type { Caller } from "../keys/key.ts";
import { namedBetas } from "../wire/anthropic-messages/betas.ts";
import type { Dialogue } from "../wire/dialogue.ts";
import type { ModelRequest } from "../wire/wire-protocol.ts";
import type { Call, Gateway } from "./gateway.ts";
import { printOptionsFor } from "./print-options.ts";
import { fitText, type Quote, quoteRequest } from "./quote.ts";
import { findWays } from "./route.ts";
import { selectModel } from "./select-model.ts";

/**
 * Finds who could answer a request and the most that may cost. Throws `unknown_model`,
 * `model_not_allowed`, `account_suspended`, `untranslatable`, or `not_built` for a model that this format cannot reach.
 */
export function quoteCall(
  { catalog, upstreams }: Gateway,
  { call, caller, request }: { call: Call; caller: Caller; request: ModelRequest },
): Quote {
  const model = selectModel(catalog, caller, request);
  const ways = findWays({ wire: call.wire, request }, model.routes, upstreams);
  const mayClamp = call.allowsClamp || caller.key.allowsClamp;
  const betas = namedBetas(call.headers["anthropic-beta"], request.betas);
  const quote = quoteRequest({ model, ways, request, betas, mayClamp });
  return fitText(quote, largestText(quote, upstreams));
}

/** Bytes of the largest body that an upstream could get. Routes that differ in nothing but names get the same. */
function largestText(quote: Quote, upstreams: Gateway["upstreams"]): number {
  const measured = new Map<string, number>();
  for (const [route, dialogue] of quote.ways) {
    const kind = kindOf(route, dialogue);
    const upstream = upstreams.get(route.upstream);
    if (upstream && !measured.has(kind))
      measured.set(kind, dialogue.textBytes(printOptionsFor(quote, route, upstream)));
  }
  return Math.max(...measured.values());
}

function kindOf({ traits }: Route, { wire }: Dialogue): string {
  return `${wire.surface} ${traits.reasoning} ${traits.sampling}`;
}
