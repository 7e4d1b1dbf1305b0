import type { KnownModel, KnownSource } from "../known-models.ts";

/** The order of a line's members, the id first: `readKnownModels` finds a line by it. */
const MEMBERS = [
  "id",
  "model",
  "mode",
  "context_window",
  "max_input_tokens",
  "max_output_tokens",
  "cost",
  "long",
  "unit_cost",
  "other_cost",
  "regional",
  "can",
  "reasoning",
  "sampling",
  "responses_only",
  "ends",
  "source",
  "since",
  "last_seen",
] as const satisfies readonly (keyof KnownModel)[];

/** Prints the data file: its source in the first line, then one model a line. */
export function printCatalog(source: KnownSource, models: readonly KnownModel[]): string {
  const lines = models.map((model) =>
    JSON.stringify(
      Object.fromEntries(
        MEMBERS.filter((name) => model[name] !== undefined).map((name) => [name, model[name]]),
      ),
    ),
  );
  return `${[JSON.stringify(source), ...lines].join("\n")}\n`;
}
