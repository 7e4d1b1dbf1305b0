import { importKey } from "../../accounts/keys/keys.ts";
import { CommandError, type CommandResult } from "../command.ts";
import { requireAccount, type Storage } from "../storage.ts";
import { LITELLM_KEYS } from "./litellm-keys.ts";
import { ONE_API_KEYS } from "./one-api-keys.ts";
import { type KeyReader, type ReadKey, readKey, readTable } from "./table.ts";

/** Gateways whose keys can be imported. */
export type KeyFormat = "litellm" | "one-api";

const READERS: Readonly<Record<KeyFormat, KeyReader>> = { litellm: LITELLM_KEYS, "one-api": ONE_API_KEYS };

export interface KeyImportOptions {
  readonly account: string;
  /** Imports the keys of one owner: its id, or "none". */
  readonly owner?: string;
  /** Imports the keys of several owners into the one account. */
  readonly allOwners?: boolean;
  /** Columns that keys are imported without, though they have no counterpart here. */
  readonly without?: readonly string[];
  /** Reports what would be imported, and changes nothing. */
  readonly dryRun?: boolean;
}

/**
 * Imports the keys of an exported table. A key that is there already is left as it is. A key that would lose a
 * column is refused. Throws CommandError for keys of several owners.
 */
export async function importKeys(
  storage: Storage,
  { format, path }: { readonly format: KeyFormat; readonly path: string },
  options: KeyImportOptions,
): Promise<CommandResult> {
  const { account: accountName, owner, allOwners = false, without = [], dryRun = false } = options;
  const account = await requireAccount(storage.database, accountName);
  const read = Array.from(readTable(path), (row) => readKey(READERS[format], row, Date.now()));
  const keys = owner === undefined ? read : read.filter((key) => ownerOf(key) === owner);
  if (owner === undefined && !allOwners) requireOneOwner(keys);
  const imported: string[] = [];
  const lost: string[] = [];
  let known = 0;
  for (const key of keys) {
    if ("problem" in key.key || findRefused(key, without).length > 0) continue;
    const foreign = { ...key.key, name: key.name, accountId: account.id };
    const isNew = dryRun || (await importKey(storage, foreign)) !== undefined;
    if (isNew) imported.push(key.name);
    else known += 1;
    if (isNew && key.lost.length > 0) lost.push(`${key.name}: ${key.lost.join(", ")}`);
  }
  const problems = keys.flatMap((key) => describeProblem(key, without) ?? []);
  const json = { account_id: account.id, imported, known, without: lost, problems, dry_run: dryRun };
  return { json, text: describe(json, account.name), failed: problems.length > 0 };
}

/** Returns the columns of a key that have no counterpart and are not given up. */
function findRefused({ lost }: ReadKey, without: readonly string[]): readonly string[] {
  return lost.filter((name) => !without.includes(name) && !without.includes(name.split(".")[0] ?? name));
}

function describeProblem(key: ReadKey, without: readonly string[]): string | undefined {
  if ("problem" in key.key) return `${key.name}: ${key.key.problem}`;
  const refused = findRefused(key, without).join(",");
  return refused === ""
    ? undefined
    : `${key.name}: has no counterpart here for ${refused}, import it with --without ${refused}`;
}

function ownerOf({ owner = "none" }: ReadKey): string {
  return owner;
}

/** Throws when keys that may be imported belong to several owners, whose money is one wallet each here. */
function requireOneOwner(keys: readonly ReadKey[]): void {
  const counts = new Map<string, number>();
  for (const key of keys) {
    if (!("problem" in key.key)) counts.set(ownerOf(key), (counts.get(ownerOf(key)) ?? 0) + 1);
  }
  if (counts.size < 2) return;
  const owners = [...counts].map(([owner, count]) => `${owner} (${count})`).join(", ");
  throw new CommandError(
    `The keys belong to ${counts.size} owners: ${owners}. Import each with --owner, or all into one account with --all-owners.`,
  );
}

interface Imported {
  readonly imported: readonly string[];
  readonly known: number;
  readonly without: readonly string[];
  readonly problems: readonly string[];
  readonly dry_run: boolean;
}

function describe({ imported, known, without, problems, dry_run }: Imported, account: string): string {
  const section = (title: string, lines: readonly string[]) =>
    lines.length === 0 ? [] : [title, ...lines.map((line) => `  ${line}`)];
  return [
    `${dry_run ? "Would import" : "Imported"} ${imported.length} keys into account ${account}, ${known} were there before.`,
    ...imported.map((name) => `  ${name}`),
    ...section("Imported without:", without),
    ...section("Not imported:", problems),
  ].join("\n");
}
