import { type Command, InvalidArgumentError } from "commander";
import { isMailAddress } from "../domain/mail-address.ts";
import { type Markup, type Nanos, parseMarkup, parseUsd } from "../domain/money.ts";
import { NAME } from "../domain/name-characters.ts";
import { isLimitPeriod, type LimitPeriod } from "../domain/period.ts";
import { readScope, type Scope } from "../domain/scope.ts";
import { isTier, TIERS, type Tier } from "../domain/tiers.ts";
import { type CommandResult, printResult } from "./command.ts";
import type { Storage } from "./storage.ts";
import type { UsageBy } from "./usage.ts";

/** Parses USD from 0, such as "5.00". */
export function parseAmount(text: string): Nanos {
  try {
    return parseUsd(text);
  } catch {
    throw new InvalidArgumentError("Expected USD such as 5.00 with at most 9 decimals.");
  }
}

/** Parses USD above 0. */
export function parsePositiveAmount(text: string): Nanos {
  const amount = parseAmount(text);
  if (amount === 0n) throw new InvalidArgumentError("Expected more than 0.");
  return amount;
}

/** Parses a factor over upstream costs, such as "1.15". */
export function parseFactor(text: string): Markup {
  try {
    return parseMarkup(text);
  } catch {
    throw new InvalidArgumentError("Expected a factor from 0.0001 to 1000 with at most 4 decimals.");
  }
}

/** Parses a whole number from 0. */
export function parseCount(text: string): number {
  const count = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (!Number.isSafeInteger(count)) throw new InvalidArgumentError("Expected a whole number from 0.");
  return count;
}

/** Parses days from 1 to 36,500, a hundred years. */
export function parseDays(text: string): number {
  const days = parseCount(text);
  if (days < 1 || days > 36_500) throw new InvalidArgumentError("Expected days from 1 to 36500.");
  return days;
}

/** Parses the name of an account or a key. Removes surrounding blanks. */
export function parseName(text: string): string {
  const name = text.trim();
  if (!NAME.test(name)) throw new InvalidArgumentError("Expected 1 to 100 characters in one line.");
  return name;
}

/** Parses the period of a spending limit. */
export function parsePeriod(text: string): LimitPeriod {
  if (isLimitPeriod(text)) return text;
  throw new InvalidArgumentError("Expected day, week, month, total, or hours from 1h to 168h.");
}

export function parseEmail(text: string): string {
  if (!isMailAddress(text)) throw new InvalidArgumentError("Expected an e-mail address.");
  return text;
}

/** Parses names with commas between them. Removes duplicates. */
export function parseNames(text: string): readonly string[] {
  const names = text.split(",").map((name) => name.trim());
  if (names.includes("")) throw new InvalidArgumentError("Expected names with commas between them.");
  return [...new Set(names)];
}

/** Parses service tiers with commas between them; "none" is an empty list. */
export function parseTiers(text: string): readonly Tier[] {
  if (text === "none") return [];
  const names = parseNames(text);
  const unknown = names.find((name) => !isTier(name));
  if (unknown !== undefined) throw new InvalidArgumentError(`Expected tiers among ${TIERS.join(", ")}.`);
  return TIERS.filter((tier) => names.includes(tier));
}

/** Parses the origin of an HTTP server, such as "http://127.0.0.1:8080". */
export function parseOrigin(text: string): string {
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw new InvalidArgumentError("Expected an origin such as http://127.0.0.1:8080.");
  }
  return url.origin;
}

/** Parses a date or a time with its zone, as Unix milliseconds. A date starts in UTC. */
export function parseTime(text: string): number {
  const isTime = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2}))?$/.test(text);
  const ms = isTime && isCalendarDay(text.slice(0, 10)) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(ms) || ms < 0) {
    throw new InvalidArgumentError(
      "Expected a date such as 2026-11-01, or a time such as 2026-11-01T08:00Z.",
    );
  }
  return ms;
}

/** Whether a day exists: Date.parse reads 30 February as 2 March. */
function isCalendarDay(day: string): boolean {
  const ms = Date.parse(day);
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(day);
}

/** What `usage` can be grouped by, with the names of the command line. */
const USAGE_DIMENSIONS = {
  hour: "hour",
  day: "day",
  model: "model",
  key: "key",
  upstream: "upstream",
  outcome: "outcome",
  project: "project",
  member: "member",
  "end-user": "end_user",
  run: "run",
} as const;

/** Parses what usage is grouped by, such as "model", or "tag:feature" for the tags of one key. */
export function parseUsageBy(text: string): UsageBy {
  if (/^tag:./.test(text)) return { by: "tag", tagKey: text.slice("tag:".length) };
  const name = Object.entries(USAGE_DIMENSIONS).find(([each]) => each === text)?.[1];
  if (name) return { by: name };
  const names = Object.keys(USAGE_DIMENSIONS).join(", ");
  throw new InvalidArgumentError(`Allowed choices are ${names}, tag:KEY.`);
}

/** Returns a parser that reads `word` as false, which removes what an option sets. */
export function orWord<Value>(word: string, parse: (text: string) => Value): (text: string) => Value | false {
  return (text) => text !== word && parse(text);
}

/** The option of every command that prints a result. */
export interface JsonOption {
  readonly json?: boolean;
}

/** The option that names an account. */
export const ACCOUNT = ["--account <account>", "id or name of the account"] as const;
/** The option with which a command prints JSON. */
export const JSON_OPTION = ["--json", "print one JSON object"] as const;

/** Adds a command that prints text, or one JSON object with `--json`. */
export function withJson(parent: Command, name: string, description: string): Command {
  return parent
    .command(name)
    .description(description)
    .option(...JSON_OPTION);
}

/** Adds the bounds of a range of time. */
export function withRange(command: Command): Command {
  return command
    .option("--from <time>", "from this time, such as 2026-11-01 or 2026-11-01T08:00Z", parseTime)
    .option("--to <time>", "to before this time", parseTime);
}

/** Adds what requests count for. */
export function withScopes(command: Command): Command {
  return command
    .option("--project <project>", "requests of a project, by its id or name")
    .option("--user <text>", "requests of an end user, as receipts name it")
    .option("--tag <key=value>", "requests with a tag; may be repeated", addText)
    .option(
      "--scope <kind:id>",
      "requests that count for this, such as run:KEY:ID; may be repeated",
      addScope,
    );
}

function addText(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, text];
}

/** Adds what a receipt counts for, such as "end_user:alice". */
function addScope(text: string, before: readonly Scope[] = []): readonly Scope[] {
  const scope = readScope(text);
  if (!scope) throw new InvalidArgumentError("Expected a kind and an id, such as end_user:alice.");
  return [...before, scope];
}

/** A command with the arguments and options that it declares, in this order. */
type Run<Given extends readonly unknown[]> = (storage: Storage, ...given: Given) => Promise<CommandResult>;

/** Returns an action that opens the storage, runs a command with it and prints the result. */
export function onStorage<Given extends readonly unknown[]>(load: () => Promise<Run<Given>>) {
  return actionOn("withStorage", load);
}

/** Like {@link onStorage}, for commands that need the database of the ledger. */
export function onLocalStorage<Given extends readonly unknown[]>(load: () => Promise<Run<Given>>) {
  return actionOn("withLocalStorage", load);
}

function actionOn<Given extends readonly unknown[]>(
  open: "withStorage" | "withLocalStorage",
  load: () => Promise<Run<Given>>,
) {
  return async (...all: readonly unknown[]): Promise<void> => {
    const [{ [open]: withOpened }, run] = await Promise.all([import("./storage.ts"), load()]);
    // Safe because Commander hands over arguments, options and the command itself, as the command declares them.
    const given = all.slice(0, -1) as unknown as Given;
    printResult(await withOpened((storage) => run(storage, ...given)), given.at(-1) as JsonOption);
  };
}
