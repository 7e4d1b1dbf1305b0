import {
  type KnownModel,
  type KnownModels,
  providerOf,
  readKnownModels,
} from "../../catalog/known-models.ts";
import type { Capability } from "../../domain/model.ts";
import { parsePrice } from "../../domain/money.ts";
import type { CommandResult } from "../command.ts";
import { printTable } from "../printing.ts";
import { describeUnits, findModel } from "./diff.ts";

export interface ModelsOptions {
  readonly provider?: string;
  readonly mode?: string;
  /** What a model must be able to do, all of it. */
  readonly can?: readonly Capability[];
  /** USD per million tokens of input. Models without a price per token are left out. */
  readonly maxInputCost?: string;
}

/** Lists the known models whose ids contain every word. */
export function runModels(words: readonly string[], options: ModelsOptions): CommandResult {
  const known = readKnownModels();
  const found = known.list().filter((model) => isWanted(model, words, options));
  const rows = found.map((model) => [
    model.id,
    count(model.context_window),
    count(model.max_output_tokens),
    model.cost?.input ?? "",
    model.cost?.output ?? describeUnits(model),
    model.can.join(","),
    model.ends ?? "",
  ]);
  const titles = ["ID", "CONTEXT", "OUTPUT", "INPUT USD/M", "OUTPUT USD/M", "CAN", "ENDS"];
  const end = `${found.length} models. Costs were checked on ${known.source.checked}.`;
  const json = { checked: known.source.checked, models: found.map((model) => printModel(model, known)) };
  return { json, text: `${printTable(titles, rows)}\n${end}` };
}

/** Shows everything that is known of one model, and the line that adds it. */
export function runModelsShow(id: string): CommandResult {
  const known = readKnownModels();
  const model = findModel(known, id);
  const json = printModel(model, known);
  const lines = Object.entries(json).map(([name, value]) => `${name.padEnd(18)}${printValue(value)}`);
  return { json, text: [...lines, "", `Add it with: bun tollgate models add ${id}`].join("\n") };
}

function isWanted(model: KnownModel, words: readonly string[], options: ModelsOptions): boolean {
  const { provider, mode, can = [], maxInputCost } = options;
  if (provider !== undefined && providerOf(model) !== provider) return false;
  if (mode !== undefined && model.mode !== mode) return false;
  if (!can.every((capability) => model.can.includes(capability))) return false;
  if (maxInputCost !== undefined) {
    if (model.cost === undefined || parsePrice(model.cost.input) > parsePrice(maxInputCost)) return false;
  }
  return words.every((word) => model.id.toLowerCase().includes(word.toLowerCase()));
}

/** Adds what the line leaves out: the provider, and the day on which the price was last found. */
function printModel(model: KnownModel, known: KnownModels): Readonly<Record<string, unknown>> {
  const { id, last_seen: _, ...facts } = model;
  return { id, provider: providerOf(model), ...facts, checked: known.checkedOn(model) };
}

function printValue(value: unknown): string {
  if (Array.isArray(value)) return value.join(", ");
  if (typeof value !== "object" || value === null) return String(value);
  return Object.entries(value)
    .map(([name, member]) => `${name} ${printValue(member)}`)
    .join(", ");
}

function count(tokens: number | undefined): string {
  return tokens === undefined ? "" : String(tokens);
}
