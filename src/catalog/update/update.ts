// bun run catalog:update FROM [--list NAME] [--date YYYY-MM-DD]
// FROM is a file, or an https URL, of a list in the format of LiteLLM's model_prices_and_context_window.json.
import { existsSync } from "node:fs";
import { parseArgs } from "node:util";
import { programFile } from "../../program-files.ts";
import { KNOWN_MODELS_FILE, readKnownModels } from "../known-models.ts";
import { type MergedCatalog, mergeCatalog } from "./merge.ts";
import { printCatalog } from "./print-catalog.ts";
import { type ListSource, type ReadList, readList } from "./read-list.ts";

interface UpdateOptions extends ListSource {
  readonly from: string;
  /** Path of the data file. */
  readonly to: string;
}

/** Writes the data file anew from a list. Returns what a reviewer has to look at. */
async function updateCatalog({ from, to, ...source }: UpdateOptions): Promise<string> {
  const read = readList(await fetchList(from), source);
  const previous = existsSync(to) ? readKnownModels(await Bun.file(to).text()) : undefined;
  const merged = mergeCatalog(previous && { models: previous.list(), ...previous.source }, read, source);
  await Bun.write(to, printCatalog(source, merged.models));
  return report(read, merged);
}

async function fetchList(from: string): Promise<Readonly<Record<string, unknown>>> {
  const source = /^https:\/\//.test(from) ? await fetch(from) : Bun.file(from);
  if (source instanceof Response && !source.ok) throw new Error(`${from} answers ${source.status}`);
  const list: unknown = await source.json();
  if (typeof list !== "object" || list === null || Array.isArray(list))
    throw new Error(`${from} is no list of models`);
  return { ...list };
}

function report({ skipped }: ReadList, { models, added, gone, repriced }: MergedCatalog): string {
  const section = (title: string, lines: readonly string[]) =>
    lines.length === 0 ? [] : [`${title} (${lines.length}):`, ...lines.map((line) => `  ${line}`)];
  return [
    ...section("Skipped as implausible", skipped),
    ...section("Added", added),
    ...section("No longer in the list", gone),
    ...section('Changed prices, "!" marks more than a factor of 3', repriced),
    `${models.length} models. Review the diff of ${KNOWN_MODELS_FILE} before you commit it.`,
  ].join("\n");
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { list: { type: "string" }, date: { type: "string" }, to: { type: "string" } },
});
const [from] = positionals;
const checked = values.date ?? new Date().toISOString().slice(0, 10);
if (!from || !/^\d{4}-\d{2}-\d{2}$/.test(checked)) {
  console.error("Usage: bun run catalog:update FROM [--list NAME] [--date YYYY-MM-DD]");
  process.exit(2);
}
const to = values.to ?? programFile(KNOWN_MODELS_FILE);
console.log(await updateCatalog({ from, to, list: values.list ?? "LiteLLM's list of prices", checked }));
