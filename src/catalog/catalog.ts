import { fillLongTiers, type Model, pricesAt } from "../domain/model.ts";
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
  // Markups follow what is written.
  const written = new Map(models.map((model) => [model.id, model]));
  const sold = models.map(fillModel);
  const byId = new Map(sold.map((model) => [model.id, model]));
  const byMarkup = new Map<Markup, Map<string, Model>>();

  function findAt(id: string, markup: Markup): Model | undefined {
    const priced = pricedAt(markup);
    const known = priced.get(id);
    if (known) return known;
    const found = written.get(id);
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
    list: (markup) => (markup === undefined ? sold : models.flatMap(({ id }) => findAt(id, markup) ?? [])),
  };
}

/** Returns the model itself where no route has tiers of long input to fill in. */
function fillModel(model: Model): Model {
  const routes = model.routes.map((route) => {
    const filled = fillLongTiers(route);
    return filled === route ? route : { ...route, ...filled };
  });
  return routes.every((route, index) => route === model.routes[index]) ? model : { ...model, routes };
}

function modelAt(model: Model, markup: Markup): Model {
  return {
    ...model,
    price: pricesAt(model, markup).price,
    routes: model.routes.map((route) => ({ ...route, ...pricesAt(route, markup) })),
  };
}

/** Longer texts are compared by their beginnings. */
const LENGTH_MAX = 128;

/**
 * Returns the ids that are most like a text, the best first: by the fewest changed characters of the id, or of
 * what follows its first slash.
 */
export function nearestIds(text: string, ids: readonly string[], count: number): readonly string[] {
  const wanted = text.slice(0, LENGTH_MAX).toLowerCase();
  const distanceTo = (id: string) =>
    Math.min(changesBetween(wanted, id), changesBetween(wanted, id.slice(id.indexOf("/") + 1)) + 1);
  return ids
    .map((id) => ({ id, distance: distanceTo(id) }))
    .sort((one, other) => one.distance - other.distance)
    .slice(0, count)
    .map(({ id }) => id);
}

/** The Levenshtein distance, in one row. */
function changesBetween(one: string, other: string): number {
  const row = Array.from({ length: other.length + 1 }, (_, column) => column);
  for (let line = 1; line <= one.length; line += 1) {
    let diagonal = row[0] ?? 0;
    row[0] = line;
    for (let column = 1; column <= other.length; column += 1) {
      const above = row[column] ?? 0;
      const isSame = one.charCodeAt(line - 1) === other.charCodeAt(column - 1);
      row[column] = Math.min(above + 1, (row[column - 1] ?? 0) + 1, diagonal + (isSame ? 0 : 1));
      diagonal = above;
    }
  }
  return row[other.length] ?? 0;
}
