import { inArray } from "drizzle-orm";
import type { Database } from "../db/database.ts";
import type { AuditEntry } from "./audit-trail.ts";

type Tables = Database["tables"];
type NamedTable = Tables["accounts" | "apiKeys" | "invitations" | "managementKeys" | "people"];

interface Named {
  readonly table: NamedTable;
  readonly name:
    | Tables["accounts" | "apiKeys" | "managementKeys"]["name"]
    | Tables["invitations" | "people"]["email"];
}

const ofPeople = ({ people }: Tables): Named => ({ table: people, name: people.email });

/** Where the names of targets are, by the noun of the action. Targets of other nouns have no name. */
const NAMES: Readonly<Record<string, (tables: Tables) => Named>> = {
  account: ({ accounts }) => ({ table: accounts, name: accounts.name }),
  invitation: ({ invitations }) => ({ table: invitations, name: invitations.email }),
  key: ({ apiKeys }) => ({ table: apiKeys, name: apiKeys.name }),
  management_key: ({ managementKeys }) => ({ table: managementKeys, name: managementKeys.name }),
  member: ofPeople,
  operator: ofPeople,
  password: ofPeople,
  person: ofPeople,
  session: ofPeople,
  sessions: ofPeople,
};

/**
 * Finds the present names of the targets of up to 1,000 entries, by their ids: e-mails of people and
 * invitations, names of accounts and keys. One query for each kind of target.
 */
export async function findTargetNames(
  { db, tables }: Database,
  entries: readonly AuditEntry[],
): Promise<ReadonlyMap<string, string>> {
  const byNoun = Map.groupBy(entries, ({ action }) => action.split(".", 1)[0] ?? "");
  const found = await Promise.all(
    [...byNoun].map(async ([noun, ofNoun]) => {
      const named = NAMES[noun]?.(tables);
      if (!named) return [];
      const { table, name } = named;
      const ids = [...new Set(ofNoun.map(({ target }) => target))];
      return db.select({ id: table.id, name }).from(table).where(inArray(table.id, ids));
    }),
  );
  return new Map(found.flat().map(({ id, name }) => [id, name]));
}
