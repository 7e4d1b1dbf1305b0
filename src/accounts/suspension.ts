import { eq } from "drizzle-orm";
import type { Database } from "../db/database.ts";
import { GatewayError } from "../errors.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { WalletState } from "../ledger/records.ts";
import { type Account, changeAccount, findAccount } from "./accounts.ts";
import type { AuditActor } from "./audit-trail.ts";

export interface SuspensionParts {
  readonly database: Database;
  readonly ledger: Pick<Ledger, "setWalletState" | "wallet">;
  readonly now: () => number;
}

/**
 * Suspends an account: gateways refuse its requests within a second, and its frozen wallet takes no holds of
 * other services. Running holds can still be settled. Rejects with `unknown_item`.
 */
export async function suspendAccount(
  parts: SuspensionParts,
  actor: AuditActor,
  accountId: string,
  reason: string,
): Promise<Account> {
  // The account comes first. Killed in between, the sweep freezes the wallet of a suspended account.
  const account = await setState(parts, actor, { accountId, state: "suspended", reason });
  await alignWallet(parts, accountId);
  return account;
}

/** Ends a suspension. Rejects with `unknown_item`. */
export async function resumeAccount(
  parts: SuspensionParts,
  actor: AuditActor,
  accountId: string,
  reason: string,
): Promise<Account> {
  if (!(await findById(parts.database, accountId))) throw new GatewayError("unknown_item");
  // The wallet comes first. Killed in between, the account is suspended still, and the wallet is frozen again.
  await parts.ledger.setWalletState({ walletId: accountId, state: "active" });
  const account = await setState(parts, actor, { accountId, state: "active", reason });
  await alignWallet(parts, accountId);
  return account;
}

/** Freezes the wallets of suspended accounts whose suspension was cut off. Returns how many it froze. */
export async function freezeSuspended(parts: SuspensionParts): Promise<number> {
  const { accounts } = parts.database.tables;
  const isSuspended = eq(accounts.state, "suspended");
  const suspended = await parts.database.db.select({ id: accounts.id }).from(accounts).where(isSuspended);
  let frozen = 0;
  for (const { id } of suspended) {
    const wallet = await parts.ledger.wallet(id);
    if (wallet?.state !== "active") continue;
    await alignWallet(parts, id);
    frozen += 1;
  }
  return frozen;
}

interface StateChange {
  readonly accountId: string;
  readonly state: Account["state"];
  readonly reason: string;
}

function setState(
  parts: SuspensionParts,
  actor: AuditActor,
  { accountId, state, reason }: StateChange,
): Promise<Account> {
  return changeAccount(parts, actor, accountId, (before) => {
    if (before.state === state) return undefined;
    const action = state === "suspended" ? "account.suspended" : "account.resumed";
    const states = { before: { state: before.state }, after: { state, reason } };
    return { columns: { state }, entry: { accountId, action, target: accountId, ...states } };
  });
}

/**
 * Sets the state of the wallet by that of the account, and reads the account again: of two processes that
 * change it at once, the last writer of the wallet has seen the last state.
 */
async function alignWallet({ database, ledger }: SuspensionParts, accountId: string): Promise<void> {
  for (let written: WalletState | undefined; ; ) {
    const account = await findById(database, accountId);
    const wanted: WalletState = account?.state === "active" ? "active" : "frozen";
    if (wanted === written) return;
    await ledger.setWalletState({ walletId: accountId, state: wanted });
    written = wanted;
  }
}

async function findById(database: Database, accountId: string): Promise<Account | undefined> {
  const account = await findAccount(database, accountId);
  return account?.id === accountId ? account : undefined;
}
