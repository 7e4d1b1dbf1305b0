import type { Caller } from "../accounts/key.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { Model } from "../domain/model.ts";
import { GatewayError } from "../errors.ts";
import type { ModelRequest } from "../wire/protocol.ts";

/**
 * Finds the model that a request asks for. Throws `account_suspended`, `unknown_model`, `model_not_allowed`, or
 * `not_built` when it asks one that only embeds to write something.
 */
export function selectModel(
  catalog: Catalog,
  { key, accountSuspended }: Caller,
  { model: id, outputTokensMax }: Pick<ModelRequest, "model" | "outputTokensMax">,
): Model {
  if (accountSuspended) throw new GatewayError("account_suspended");
  const model = catalog.find(id);
  if (!model) throw new GatewayError("unknown_model");
  if (!mayUse(key, id)) throw new GatewayError("model_not_allowed");
  if (model.outputTokensMax === 0 && outputTokensMax !== 0) throw new GatewayError("not_built");
  return model;
}

/** Whether a key may use a model of the catalog. */
export function mayUse(key: Caller["key"], modelId: string): boolean {
  return key.models === undefined || key.models.includes(modelId);
}
