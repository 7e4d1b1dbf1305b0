import { Elysia, t } from "elysia";
import {
  type AuditEntry,
  type AuditFilter,
  findTargetNames,
  pageAuditEntries,
} from "../../accounts/audit-trail.ts";
import { findAccountNames } from "../../accounts/find-items.ts";
import type { Database } from "../../db/database.ts";
import { printCsvRow } from "../../domain/csv.ts";
import { isUuid, printTime } from "../../domain/id-time.ts";
import { GatewayError } from "../../errors.ts";
import { platform } from "../../platform.ts";
import { type AuditNames, actorKind, auditEntry, printAuditEntry } from "./accounts/shapes.ts";
import { createGuard, type GuardParts } from "./guard.ts";
import { id, pageOf, pageQuery } from "./shapes.ts";
import { csvHeaders, streamText } from "./text-stream.ts";

const filterQuery = t.Object({
  actor: t.Optional(t.String({ maxLength: 254, description: "Id of the author, or a part of its name" })),
  actor_kind: t.Optional(actorKind),
  action: t.Optional(t.String({ maxLength: 100, description: '"member.removed", or "member" for all' })),
  from: t.Optional(t.String({ format: "date-time" })),
  to: t.Optional(t.String({ format: "date-time" })),
});
type Filter = typeof filterQuery.static;

const PAGE_SIZE = 50;
const CSV_PAGE_SIZE = 1_000;
const CSV_TITLES = [
  "time",
  "author kind",
  "author",
  "acting",
  "action",
  "target",
  "target name",
  "before",
  "after",
  "address",
];

/** The audit trail of one account, and for operators that of all. */
export function auditTrailRoutes(parts: GuardParts) {
  return new Elysia().use(accountTrailRoutes(parts)).use(operatorTrailRoutes(parts));
}

const pagedQuery = t.Composite([filterQuery, pageQuery]);

function accountTrailRoutes(parts: GuardParts) {
  return new Elysia()
    .use(createGuard(parts, "Team"))
    .get(
      "/accounts/:account/audit-trail",
      ({ params, query }) => list(parts, { ...readFilter(query), accountId: params.account }, query),
      {
        summary: "List the changes in an account",
        needs: "audit.read",
        params: t.Object({ account: id }),
        query: pagedQuery,
        response: pageOf(auditEntry),
      },
    )
    .get(
      "/accounts/:account/audit-trail.csv",
      ({ params, query }) => {
        const filter = { ...readFilter(query), accountId: params.account };
        return streamText(printEntries(parts, filter), csvHeaders("audit-trail"));
      },
      {
        summary: "Export the changes in an account",
        needs: "audit.read",
        params: t.Object({ account: id }),
        query: filterQuery,
      },
    );
}

function operatorTrailRoutes(parts: GuardParts) {
  return new Elysia()
    .use(createGuard(parts, "Operators"))
    .get("/operator/audit-trail", ({ query }) => list(parts, readFilter(query), query), {
      summary: "List the changes in all accounts",
      needsOperator: true,
      query: pagedQuery,
      response: pageOf(auditEntry),
    });
}

function readFilter({ actor, actor_kind, action, from, to }: Filter): AuditFilter {
  return {
    actor,
    actorKind: actor_kind,
    action,
    fromMs: from === undefined ? undefined : Date.parse(from),
    toMs: to === undefined ? undefined : Date.parse(to),
  };
}

interface PageQuery {
  readonly page?: string;
  readonly size?: number;
}

/** A page's token is the id of its last entry. */
async function list({ database }: GuardParts, filter: AuditFilter, { page, size = PAGE_SIZE }: PageQuery) {
  if (page !== undefined && !isUuid(page)) throw new GatewayError("wrong_shape", { path: "page" });
  const { items, next } = await pageAuditEntries(database, filter, { size, after: page });
  const names = await findNames(database, items);
  return { items: items.map((entry) => printAuditEntry(entry, names)), next: next ?? null };
}

async function findNames(database: Database, entries: readonly AuditEntry[]): Promise<AuditNames> {
  const accountIds = entries.flatMap(({ accountId }) => accountId ?? []);
  const [accounts, targets] = await Promise.all([
    findAccountNames(database, accountIds),
    findTargetNames(database, entries),
  ]);
  return { accounts, targets };
}

/** Prints every entry of the filter, newest first, one page of the database at a time. */
async function* printEntries({ database }: GuardParts, filter: AuditFilter): AsyncGenerator<string> {
  yield printCsvRow(CSV_TITLES);
  let after: string | undefined;
  do {
    const { items, next } = await pageAuditEntries(database, filter, { size: CSV_PAGE_SIZE, after });
    const names = await findTargetNames(database, items);
    if (items.length > 0) yield items.map((entry) => printEntryRow(entry, names)).join("");
    // SQLite answers at once: others come in between.
    await platform.sleep(0);
    after = next;
  } while (after !== undefined);
}

function printEntryRow(entry: AuditEntry, names: ReadonlyMap<string, string>): string {
  const { actorKind, actorName, isActing, action, target, before, after, address } = entry;
  const author = [actorKind, actorName, isActing ? "yes" : "no"];
  return printCsvRow([
    printTime(entry.atMs),
    ...author,
    action,
    target,
    names.get(target) ?? "",
    before ?? "",
    after ?? "",
    address ?? "",
  ]);
}
