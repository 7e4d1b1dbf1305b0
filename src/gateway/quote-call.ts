import type { Caller } from "../keys/key.ts";
import type { ModelRequest } from "../wire/wire-protocol.ts";
import type { Call, Gateway } from "./gateway.ts";
import { type Quote, quoteRequest } from "./quote.ts";
import { findWay, routesFor } from "./route.ts";
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
  const routes = routesFor({ wire: call.wire, request }, model.routes, upstreams);
  const isVerbatim = routes.some((route) => findWay(call.wire, route, upstreams)?.isVerbatim);
  const mayClamp = call.allowsClamp || caller.key.allowsClamp;
  return quoteRequest({ model, routes, request, isVerbatim, mayClamp });
}
