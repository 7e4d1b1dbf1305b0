import type { KnownModel, KnownModels } from "../../catalog/known-models.ts";
import { nearestIds } from "../../catalog/nearest.ts";
import { CommandError } from "../command.ts";

const NEAREST_MAX = 3;

/** Finds a known model. Throws CommandError with the ids that are like an unknown one. */
export function findModel(known: KnownModels, id: string): KnownModel {
  const found = known.find(id);
  if (found) return found;
  const ids = known.list().map((model) => model.id);
  throw new CommandError(`${id} is not a known model: see ${nearestIds(id, ids, NEAREST_MAX).join(", ")}.`);
}

/** Describes the cost of a model that is not sold by tokens: "0.006 per minute". */
export function describeUnits({ unit_cost: costs = {} }: KnownModel): string {
  const { image = {}, million_characters: characters, ...others } = costs;
  const images = typeof image === "string" ? { image } : prefixed("image ", image);
  const units = { ...images, "million characters": characters, ...others };
  return Object.entries(units)
    .flatMap(([unit, cost]) => (cost === undefined ? [] : [`${cost} per ${unit}`]))
    .join(", ");
}

function prefixed(prefix: string, costs: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(costs).map(([name, cost]) => [prefix + name, cost]));
}
