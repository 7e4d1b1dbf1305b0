// Ends of holds that the ledger may have lost, as settlement outboxes describe them.
import type { Database } from "../db/database.ts";
import { timeOf } from "../domain/id-time.ts";
import { pseudonymOf } from "./forgotten-names.ts";
import { type Ledger, LedgerError, type ReleaseRequest, type TakenHold } from "./ledger.ts";

/**
 * Returns a ledger that books a lost hold under the pseudonym of an end user who was forgotten meanwhile. An end
 * without the description of its hold is passed on at once.
 */
export function withForgottenNames<Books extends Pick<Ledger, "settle" | "release">>(
  database: Database,
  ledger: Books,
): Books {
  return {
    ...ledger,
    settle: (request, options) =>
      isOfEndUser(request.taken)
        ? endLost(database, request, (renamed) => ledger.settle(renamed, options))
        : ledger.settle(request, options),
    release: (request, options) =>
      isOfEndUser(request.taken)
        ? endLost(database, request, (renamed) => ledger.release(renamed, options))
        : ledger.release(request, options),
  };
}

function isOfEndUser(taken: TakenHold | undefined): boolean {
  return taken?.scopes?.some(({ kind }) => kind === "end_user") ?? false;
}

/**
 * Submits the end of a hold with the pseudonym in place of the name, and replaces the name on its receipt. The latter
 * is for a name that was forgotten between the look and the end, or before a process was killed.
 */
async function endLost<Request extends ReleaseRequest, Result>(
  database: Database,
  request: Request,
  submit: (request: Request) => Promise<Result>,
): Promise<Result> {
  const result = await submit(renameTaken(request, await findForgotten(database, request)));
  for (const [endUser, pseudonym] of await findForgotten(database, request)) {
    const forgetting = { walletId: request.walletId, endUser, pseudonym };
    // Loaded at its first use, which is rare.
    const { forgetReceipts } = await import("./end-users.ts");
    await orUnavailable(forgetReceipts(database, forgetting, [request.holdId]));
  }
  return result;
}

/** Pseudonyms by the names that they replaced. */
type Forgotten = ReadonlyMap<string, string>;

async function findForgotten(
  database: Database,
  { walletId, holdId, taken }: ReleaseRequest,
): Promise<Forgotten> {
  const forgotten = new Map<string, string>();
  for (const { kind, id: endUser } of taken?.scopes ?? []) {
    if (kind !== "end_user") continue;
    const found = await orUnavailable(pseudonymOf(database, { walletId, endUser }, timeOf(holdId)));
    if (found !== undefined) forgotten.set(endUser, found);
  }
  return forgotten;
}

function renameTaken<Request extends ReleaseRequest>(request: Request, forgotten: Forgotten): Request {
  const { taken } = request;
  if (!taken || forgotten.size === 0) return request;
  const scopes = taken.scopes?.map((scope) =>
    scope.kind === "end_user" ? { ...scope, id: forgotten.get(scope.id) ?? scope.id } : scope,
  );
  return { ...request, taken: { ...taken, scopes } };
}

/** The outbox submits an entry again only after a fault of the ledger. */
function orUnavailable<Result>(work: Promise<Result>): Promise<Result> {
  return work.catch((cause: unknown) => {
    throw new LedgerError("unavailable", cause);
  });
}
