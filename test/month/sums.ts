import type { Company } from "./company.ts";
import { type AccountName, KEYS, type KeyName } from "./script.ts";

/** Charges less refunds in nano-USD, by the id that the product has. Requests that name none are under "". */
export type Sums = ReadonlyMap<string, bigint>;

/** What a place can be asked for. */
export type Kind = "project" | "member" | "key" | "parent_key" | "end_user" | "run" | "feature" | "team";

export const KINDS: readonly Kind[] = [
  ...(["project", "member", "key", "parent_key", "end_user", "run", "feature", "team"] as const),
];

/** A question to a place: the sums of an account by one kind. */
export interface Question {
  readonly account: AccountName;
  readonly kind: Kind;
}

/** Adds an amount to what a name has. */
export function addTo(sums: Map<string, bigint>, name: string, amount: bigint): void {
  sums.set(name, (sums.get(name) ?? 0n) + amount);
}

/** Sums in one order, without those of 0, which some places list and others do not. */
export function listed(sums: Sums): readonly string[] {
  return [...sums]
    .filter(([, amount]) => amount !== 0n)
    .map(([name, amount]) => `${name}: ${amount}`)
    .sort();
}

/** The reckoned sums of a question, by the ids of the product. */
export function reckonedSums(
  spent: ReadonlyMap<string, bigint>,
  ids: Company["ids"],
  { account, kind }: Question,
): Sums {
  const sums = new Map<string, bigint>();
  const isTag = kind === "feature" || kind === "team";
  const prefix = isTag ? `${account} tag ${kind}=` : `${account} ${kind} `;
  if (kind === "parent_key") addNearest(sums, spent, { account, ids });
  for (const [name, amount] of spent) {
    if (kind === "parent_key" || !name.startsWith(prefix)) continue;
    addTo(sums, idOf(name.slice(prefix.length), { account, kind, ids }), amount);
  }
  const rest = [...sums.values()].reduce((left, amount) => left - amount, spent.get(account) ?? 0n);
  return sums.set("", rest);
}

/** Of the keys above a key, a view counts the nearest. */
function addNearest(
  sums: Map<string, bigint>,
  spent: ReadonlyMap<string, bigint>,
  { account, ids }: { readonly account: AccountName; readonly ids: Company["ids"] },
): void {
  for (const [name, { under }] of Object.entries(KEYS)) {
    const amount = spent.get(`${account} key ${name}`);
    if (under && amount !== undefined) addTo(sums, ids.get(`${account} key ${under}`) ?? under, amount);
  }
}

function idOf(name: string, { account, kind, ids }: Question & { readonly ids: Company["ids"] }): string {
  if (kind !== "run") return ids.get(`${account} ${kind} ${name}`) ?? name;
  const [key, run] = name.split(":") as [KeyName, string];
  return `${ids.get(`${account} key ${key}`)}:${run}`;
}

/** Reads decimal USD of any number of decimals as nano-USD. */
export function nanosOf(usd: string): bigint {
  const [, sign = "", whole = "", decimals = ""] = /^(-?)(\d+)(?:\.(\d{1,9}))?$/.exec(usd) ?? [];
  if (whole === "") throw new Error(`Cannot read the amount ${usd}`);
  return BigInt(`${sign}${whole}${decimals.padEnd(9, "0")}`);
}

/** Reads CSV as objects by the names of its first row. */
export function readCsv(text: string): readonly Readonly<Record<string, string>>[] {
  const rows = [...text.matchAll(/((?:"(?:[^"]|"")*"|[^",\r\n]*)(?:,(?:"(?:[^"]|"")*"|[^",\r\n]*))*)\r?\n/g)]
    .map(([, line = ""]) => line)
    .map((line) =>
      [...`${line},`.matchAll(/("(?:[^"]|"")*"|[^",]*),/g)].map(([, cell = ""]) =>
        cell.startsWith('"') ? cell.slice(1, -1).replaceAll('""', '"') : cell,
      ),
    );
  const [names = [], ...lines] = rows;
  return lines.map((cells) => Object.fromEntries(names.map((name, at) => [name, cells[at] ?? ""])));
}
