import type { KnownModel } from "../../catalog/known-models.ts";
import { readPrice } from "../../catalog/prices.ts";
import { picosToNanos, printUsd } from "../../domain/money.ts";
import { CommandError } from "../command.ts";
import { printTable } from "../printing.ts";
import { noTable, numberOf, objectOf, type Row, readTable, textOf } from "./table.ts";
import { readLines } from "./text-file.ts";

/** What one model was used for, and what it cost there. */
export interface UsedModel {
  /** The other gateway's name, with the provider where the export has it. */
  readonly model: string;
  readonly requests: number;
  readonly inputTokens: number;
  /** Of the input tokens, where the export has them. */
  readonly cachedTokens: number;
  readonly outputTokens: number;
  readonly oldPicos: bigint;
}

/** Old and new price of the same tokens. */
interface ComparedModel extends UsedModel {
  /** Id of the known model; `undefined` for a model without one, which has no new price. */
  readonly known: string | undefined;
  readonly newPicos: bigint | undefined;
}

const PICOS_PER_USD = 1e12;
/** Of one entry: of a day at most. */
const USD_MAX = 1e9;
const TOKENS_MAX = 1e15;

/**
 * Reads usage that another gateway exports: OpenRouter's activity, as CSV or JSON, or Portkey's logs, a JSON object a
 * line. Sums it up by model. Rows of failed requests without tokens and cost are counted too.
 */
export function readUsage(path: string): readonly UsedModel[] {
  const byModel = new Map<string, UsedModel>();
  let number = 0;
  for (const row of readRows(path)) {
    number += 1;
    const read = readEntry(row, `Entry ${number} of ${path}`);
    if (!read) continue;
    const before = byModel.get(read.model);
    byModel.set(read.model, before ? sum(before, read) : read);
  }
  if (byModel.size === 0)
    throw new CommandError(`${path} names no model of a request: export requests, not the sums of a chart.`);
  return [...byModel.values()].sort((one, other) => (one.oldPicos < other.oldPicos ? 1 : -1));
}

/** A log of JSON lines is no JSON text as a whole. Its first line alone is an object. */
function readRows(path: string): Iterable<Row> {
  for (const line of readLines(path)) {
    const first = objectOf(line);
    return first && !first.data ? readLog(path) : readTable(path);
  }
  throw noTable(path);
}

function* readLog(path: string): Generator<Row> {
  for (const line of readLines(path)) {
    const row = objectOf(line);
    if (!row) throw noTable(path);
    yield row;
  }
}

/** Reads one row of usage. Throws CommandError for a cost or a count that is no number: without it a sum is too low. */
function readEntry(row: Row, place: string): UsedModel | undefined {
  try {
    return readUsed(row);
  } catch (fault) {
    if (fault instanceof RangeError) throw new CommandError(`${place} has ${fault.message}.`);
    throw fault;
  }
}

function readUsed(row: Row): UsedModel | undefined {
  const slug = textOf(row.model_permaslug) ?? textOf(row.model);
  if (slug) return readOpenrouter(row, slug);
  const model = textOf(row.ai_model);
  return model ? readPortkey(row, model) : undefined;
}

/** One generation, or one day of a model. @see https://openrouter.ai/docs/guides/guides/activity-export */
function readOpenrouter(row: Row, slug: string): UsedModel {
  const variant = textOf(row.variant);
  const isStandard = variant === undefined || variant === "standard";
  return {
    model: isStandard || slug.includes(":") ? slug : `${slug}:${variant}`,
    requests: count(row.requests ?? 1),
    inputTokens: count(row.tokens_prompt ?? row.prompt_tokens),
    cachedTokens: count(row.tokens_cached),
    outputTokens: count(row.tokens_completion ?? row.completion_tokens),
    oldPicos: picos(row.cost_total ?? row.usage) + picos(row.byok_usage_inference),
  };
}

/** One request; its cost is in cents. @see https://portkey.ai/docs/product/observability/logs-export */
function readPortkey(row: Row, model: string): UsedModel {
  const provider = textOf(row.ai_org);
  return {
    model: provider && !model.includes("/") ? `${provider}/${model}` : model,
    requests: 1,
    inputTokens: count(row.req_units),
    cachedTokens: 0,
    outputTokens: count(row.res_units),
    oldPicos: picos(row.cost) / 100n,
  };
}

function count(value: unknown): number {
  const number = numberOf(value) ?? 0;
  if (number >= 0 && number <= TOKENS_MAX) return Math.round(number);
  throw new RangeError("tokens or requests that are no count");
}

/** A cost below zero is money that was given back. */
function picos(usd: unknown): bigint {
  const number = numberOf(usd) ?? 0;
  if (Math.abs(number) <= USD_MAX) return BigInt(Math.round(number * PICOS_PER_USD));
  throw new RangeError("a cost that is no amount");
}

function sum(one: UsedModel, other: UsedModel): UsedModel {
  return {
    model: one.model,
    requests: one.requests + other.requests,
    inputTokens: one.inputTokens + other.inputTokens,
    cachedTokens: one.cachedTokens + other.cachedTokens,
    outputTokens: one.outputTokens + other.outputTokens,
    oldPicos: one.oldPicos + other.oldPicos,
  };
}

/** Prices the same tokens at the cost of known models, which clients pay unless a price is written. */
export function compareUsage(
  used: readonly UsedModel[],
  find: (model: string) => KnownModel | undefined,
): readonly ComparedModel[] {
  return used.map((each) => {
    const known = find(each.model);
    if (!known?.cost) return { ...each, known: undefined, newPicos: undefined };
    const { input, cachedInput, output } = readPrice(known.cost);
    const cached = Math.min(each.cachedTokens, each.inputTokens);
    const newPicos =
      BigInt(each.inputTokens - cached) * input +
      BigInt(cached) * cachedInput +
      BigInt(each.outputTokens) * output;
    return { ...each, known: known.id, newPicos };
  });
}

/** Prints old and new money by model, for people and as JSON. */
export function printComparison(compared: readonly ComparedModel[]) {
  const models = compared.map(({ oldPicos, newPicos, requests, known, ...tokens }) => ({
    model: tokens.model,
    known: known ?? null,
    requests,
    input_tokens: tokens.inputTokens,
    cached_tokens: tokens.cachedTokens,
    output_tokens: tokens.outputTokens,
    old_usd: usd(oldPicos),
    new_usd: newPicos === undefined ? null : usd(newPicos),
    difference_usd: newPicos === undefined ? null : usd(newPicos - oldPicos),
  }));
  const priced = compared.filter(({ newPicos }) => newPicos !== undefined);
  const total = (list: readonly ComparedModel[], of: (each: ComparedModel) => bigint) =>
    list.reduce((all, each) => all + of(each), 0n);
  const sums = {
    old_usd: usd(total(compared, ({ oldPicos }) => oldPicos)),
    old_usd_of_priced: usd(total(priced, ({ oldPicos }) => oldPicos)),
    new_usd: usd(total(priced, ({ newPicos = 0n }) => newPicos)),
  };
  const titles = ["MODEL", "REQUESTS", "INPUT", "CACHED", "OUTPUT", "OLD USD", "NEW USD", "DIFFERENCE"];
  const rows = models.map((each) => [
    ...[each.model, each.requests, each.input_tokens, each.cached_tokens, each.output_tokens].map(String),
    ...[each.old_usd, each.new_usd ?? "no price", each.difference_usd ?? ""],
  ]);
  const end = `Sum of models with a price: ${sums.old_usd_of_priced} USD there, ${sums.new_usd} USD here; of all, ${sums.old_usd} USD there.`;
  const note =
    "Long contexts, cache writes and tools of the provider are not in such an export: their prices are not compared.";
  return { json: { models, ...sums }, text: [printTable(titles, rows), end, note].join("\n") };
}

function usd(amount: bigint): string {
  return amount < 0n ? `-${printUsd(picosToNanos(-amount))}` : printUsd(picosToNanos(amount));
}
