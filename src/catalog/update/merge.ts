import { DAY_MS } from "../../domain/id-time.ts";
import type { KnownCost, KnownModel } from "../known-models.ts";
import type { ListSource, ReadList } from "./read-list.ts";

/** A new catalog, and what a reviewer has to look at. */
export interface MergedCatalog {
  /** Sorted by id. */
  readonly models: readonly KnownModel[];
  readonly added: readonly string[];
  /** Ids that the new list lacks. They stay, with the day on which a list last had them. */
  readonly gone: readonly string[];
  /** Changed prices, each as "id: class old → new"; those by more than a factor of 3 begin with "!". */
  readonly repriced: readonly string[];
}

/** A change by more than this factor is more often a mistake of the list than a new price. */
const FACTOR_MAX = 3;
/** A model that the lists have lacked for longer is dropped. */
const GONE_DAYS_MAX = 365;

interface Previous extends ListSource {
  readonly models: readonly KnownModel[];
}

/** Joins a list that was read with the catalog so far. A price that did not change keeps its `since`. */
export function mergeCatalog(
  previous: Previous | undefined,
  { models }: ReadList,
  { checked }: ListSource,
): MergedCatalog {
  const before = new Map(previous?.models.map((model) => [model.id, model]));
  const next = new Map(models.map((model) => [model.id, keepSince(before.get(model.id), model)]));
  const gone = [...before.values()]
    .filter(({ id }) => !next.has(id))
    .map((model) => ({ ...model, last_seen: model.last_seen ?? previous?.checked ?? checked }))
    .filter(({ last_seen }) => Date.parse(checked) - Date.parse(last_seen) <= GONE_DAYS_MAX * DAY_MS);
  const all = [...next.values(), ...gone];
  return {
    models: all.sort((one, other) => (one.id < other.id ? -1 : 1)),
    added: models.map(({ id }) => id).filter((id) => !before.has(id)),
    gone: gone.map(({ id }) => id),
    repriced: models.flatMap((model) => comparePrices(before.get(model.id), model)),
  };
}

function keepSince(before: KnownModel | undefined, model: KnownModel): KnownModel {
  const isSame = before && comparePrices(before, model).length === 0;
  return isSame ? { ...model, since: before.since } : model;
}

/** Lists the classes and units whose costs differ. */
function comparePrices(before: KnownModel | undefined, after: KnownModel): readonly string[] {
  if (!before) return [];
  const [old, now] = [costsOf(before), costsOf(after)];
  return [...new Set([...old.keys(), ...now.keys()])].flatMap((name) => {
    const [from, to] = [old.get(name), now.get(name)];
    if (from === to) return [];
    const ratio = Number(to) / Number(from);
    const isLarge =
      from !== undefined && to !== undefined && !(ratio <= FACTOR_MAX && ratio >= 1 / FACTOR_MAX);
    return [`${isLarge ? "! " : ""}${after.id}: ${name} ${from ?? "none"} → ${to ?? "none"}`];
  });
}

function costGroups(prefix: string, cost: KnownCost | undefined): readonly (readonly [string, object])[] {
  if (!cost) return [];
  const { tiers = {}, ...classes } = cost;
  const ofTiers = Object.entries(tiers).map(([tier, each]) => [`${prefix}${tier} `, each] as const);
  return [[prefix, classes], ...ofTiers];
}

function costsOf({
  cost,
  long,
  unit_cost: unit,
  other_cost: other,
}: KnownModel): ReadonlyMap<string, string> {
  const { image, ...units } = unit ?? {};
  const groups: readonly (readonly [string, object | undefined])[] = [
    ...costGroups("", cost),
    ...costGroups(`above ${long?.above_input_tokens} `, long?.cost),
    ["per ", units],
    ["per ", typeof image === "string" ? { image } : undefined],
    ["per image ", typeof image === "string" ? undefined : image],
    ["beside: ", other],
  ];
  return new Map(
    groups.flatMap(([prefix, costs]) =>
      Object.entries(costs ?? {}).map(([name, cost]) => [prefix + name, String(cost)] as const),
    ),
  );
}
