import { type Model, pricesAt } from "../domain/model.ts";
import type { Markup } from "../domain/money.ts";

/** Markups whose prices are kept. Operators set far fewer; beyond them, prices are computed again. */
const MARKUPS_MAX = 1_000;

/** The models that clients can request. A markup replaces the price of every route whose cost is known. */
export interface Catalog {
  find(id: string, markup?: Markup): Model | undefined;
  /** Returns the models in the order of the configuration. */
  list(markup?: Markup): readonly Model[];
}

export function createCatalog(models: readonly Model[]): Catalog {
  const byId = new Map(models.map((model) => [model.id, model]));
  const byMarkup = new Map<Markup, Map<string, Model>>();

  function findAt(id: string, markup: Markup): Model | undefined {
    const priced = pricedAt(markup);
    const known = priced.get(id);
    if (known) return known;
    const found = byId.get(id);
    if (!found) return undefined;
    const model = modelAt(found, markup);
    priced.set(id, model);
    return model;
  }

  function pricedAt(markup: Markup): Map<string, Model> {
    const known = byMarkup.get(markup);
    if (known) return known;
    if (byMarkup.size >= MARKUPS_MAX) byMarkup.clear();
    const priced = new Map<string, Model>();
    byMarkup.set(markup, priced);
    return priced;
  }

  return {
    find: (id, markup) => (markup === undefined ? byId.get(id) : findAt(id, markup)),
    list: (markup) => (markup === undefined ? models : models.flatMap(({ id }) => findAt(id, markup) ?? [])),
  };
}

function modelAt(model: Model, markup: Markup): Model {
  return {
    ...model,
    price: pricesAt(model, markup).price,
    routes: model.routes.map((route) => ({ ...route, ...pricesAt(route, markup) })),
  };
}
