// bun run catalog:update FROM [--list NAME] [--date YYYY-MM-DD] [--compare SECOND]
// FROM is a file, or an https URL, of a list in the format of LiteLLM's model_prices_and_context_window.json.
// SECOND is one in the format of genai-prices' data.json. Its facts are compared, and never taken.
import { existsSync } from "node:fs";
import { parseArgs } from "node:util";
import { programFile } from "../../program-files.ts";
import { KNOWN_MODELS_FILE, type KnownModel, type KnownSource, readKnownModels } from "../known-models.ts";
import { correctList } from "./corrections.ts";
import { type MergedCatalog, mergeCatalog } from "./merge.ts";
import { type ListSource, type ReadList, readList } from "./read-list.ts";
import { compareLists, readSecondList } from "./second-list.ts";

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

interface UpdateOptions extends ListSource {
  readonly from: string;
  /** Path of the data file. */
  readonly to: string;
  /** File or URL of the list to compare with. */
  readonly compare: string | undefined;
}

/** Writes the data file anew from a list. Returns what a reviewer has to look at. */
async function updateCatalog({ from, to, compare, ...source }: UpdateOptions): Promise<string> {
  const entries = await fetchJson(from);
  if (typeof entries !== "object" || entries === null || Array.isArray(entries))
    throw new Error(`${from} is no list of models`);
  const { models, skipped } = readList({ ...entries }, source);
  const corrected = correctList(models, source);
  const read = { models: corrected.models, skipped };
  const previous = existsSync(to) ? readKnownModels(await Bun.file(to).text()) : undefined;
  const merged = mergeCatalog(previous && { models: previous.list(), ...previous.source }, read, source);
  await Bun.write(to, printCatalog(source, merged.models));
  const comparison = compare === undefined ? [] : await compareWith(merged.models, compare, source);
  const overtaken = section("Corrections that the list has overtaken: remove them", corrected.overtaken);
  return [...comparison, ...overtaken, report(read, merged)].join("\n");
}

async function fetchJson(from: string): Promise<unknown> {
  const source = /^https:\/\//.test(from) ? await fetch(from) : Bun.file(from);
  if (source instanceof Response && !source.ok) throw new Error(`${from} answers ${source.status}`);
  return source.json();
}

async function compareWith(
  models: readonly KnownModel[],
  from: string,
  { checked }: ListSource,
): Promise<readonly string[]> {
  const list = await fetchJson(from);
  if (!Array.isArray(list)) throw new Error(`${from} is no list of providers`);
  const { differing, missing } = compareLists(models, readSecondList(list, checked));
  return [
    ...section("Only in the second list", missing),
    ...section("Otherwise in the second list: compare both with their source", differing),
  ];
}

function section(title: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : [`${title} (${lines.length}):`, ...lines.map((line) => `  ${line}`)];
}

function report({ skipped }: ReadList, { models, added, gone, repriced }: MergedCatalog): string {
  return [
    ...section("Skipped as implausible", skipped),
    ...section("Added", added),
    ...section("No longer in the list", gone),
    ...section('Changed prices, "!" marks more than a factor of 3', repriced),
    `${models.length} models. Review the diff of ${KNOWN_MODELS_FILE} before you commit it.`,
  ].join("\n");
}

/** Prints the data file: its source in the first line, then one model a line. */
function printCatalog(source: KnownSource, models: readonly KnownModel[]): string {
  const lines = models.map((model) =>
    JSON.stringify(
      Object.fromEntries(
        MEMBERS.filter((name) => model[name] !== undefined).map((name) => [name, model[name]]),
      ),
    ),
  );
  return `${[JSON.stringify(source), ...lines].join("\n")}\n`;
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    list: { type: "string" },
    date: { type: "string" },
    compare: { type: "string" },
    to: { type: "string" },
  },
});
const [from] = positionals;
const checked = values.date ?? new Date().toISOString().slice(0, 10);
if (!from || !/^\d{4}-\d{2}-\d{2}$/.test(checked)) {
  console.error("Usage: bun run catalog:update FROM [--list NAME] [--date YYYY-MM-DD] [--compare SECOND]");
  process.exit(2);
}
const to = values.to ?? programFile(KNOWN_MODELS_FILE);
const { compare, list = "LiteLLM's list of prices" } = values;
console.log(await updateCatalog({ from, to, list, checked, compare }));
