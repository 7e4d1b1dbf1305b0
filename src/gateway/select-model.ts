import type { Catalog } from "../catalog/catalog.ts";
import type { Model } from "../domain/model.ts";
import { GatewayError } from "../errors.ts";
import type { Caller } from "../keys/key.ts";

/** Finds the model that a key asks for. Throws `account_suspended`, `unknown_model` or `model_not_allowed`. */
export function selectModel(catalog: Catalog, { key, accountSuspended }: Caller, id: string): Model {
  if (accountSuspended) throw new GatewayError("account_suspended");
  const model = catalog.find(id);
  if (!model) throw new GatewayError("unknown_model");
  if (!mayUse(key, id)) throw new GatewayError("model_not_allowed");
  return model;
}

/** Whether a key may use a model of the catalog. */
export function mayUse(key: Caller["key"], modelId: string): boolean {
  return key.models === undefined || key.models.includes(modelId);
}
