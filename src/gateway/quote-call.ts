import type { Caller } from "../accounts/key.ts";
import type { Body } from "../bodies/body.ts";
import { namedBetas } from "../wire/anthropic-messages/betas.ts";
import type { Call, Gateway } from "./gateway.ts";
import { selectModel } from "./plan.ts";
import { printOptionsFor } from "./print-options.ts";
import { ceilingOf, fitText, type Quote, quoteRequest } from "./quote.ts";
import { type Candidate, findWays } from "./route-queue.ts";

/**
 * Finds who could answer a request and the most that may cost. Throws `unknown_model`,
 * `model_not_allowed`, `account_suspended`, `untranslatable`, or `not_built` for a model that this format cannot reach.
 */
export async function quoteCall(
  { catalog, upstreams }: Gateway,
  { call, caller, body }: { call: Call; caller: Caller; body: Body },
): Promise<Quote> {
  const { request } = body;
  const model = selectModel(catalog, caller, request);
  const asked = { request, ceiling: ceilingOf(model, request) };
  const candidates = model.routes.flatMap((route): readonly Candidate[] => {
    const upstream = upstreams.get(route.upstream);
    if (!upstream) return [];
    return [{ route, surfaces: upstream.surfaces, options: printOptionsFor(asked, route, upstream) }];
  });
  const { ways, textBytes } = await findWays({ wire: call.wire, body }, candidates);
  const mayClamp = call.allowsClamp || caller.key.allowsClamp;
  const betas = namedBetas(call.headers["anthropic-beta"], request.betas);
  return fitText(quoteRequest({ model, ways, request, betas, mayClamp }), textBytes);
}
