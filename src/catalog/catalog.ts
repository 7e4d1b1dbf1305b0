import type { Model } from "../domain/model.ts";

/** The models that clients may name. */
export interface Catalog {
  find(id: string): Model | undefined;
  /** In the operator's order. */
  list(): readonly Model[];
}

export function createCatalog(models: readonly Model[]): Catalog {
  const byId = new Map(models.map((model) => [model.id, model]));
  return { find: (id) => byId.get(id), list: () => models };
}
