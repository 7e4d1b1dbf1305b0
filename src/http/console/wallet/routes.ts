import { Elysia, type Static } from "elysia";
import { findKeyNames } from "../../../accounts/find-items.ts";
import { readListOrder } from "../../../accounts/ranked-page.ts";
import { printTime } from "../../../domain/id-time.ts";
import { printUsd } from "../../../domain/money.ts";
import { printCredit } from "../../../ledger/print-credit.ts";
import type { PageRequest, RunningHold, TransferRange } from "../../../ledger/records.ts";
import { CREDIT_ORDERS, findCredits } from "../../../payments/find-credits.ts";
import { printHold, printOverview, printTransfer, readOverview } from "../../../payments/overview.ts";
import { proveWallet, type WalletProof } from "../../../payments/proof.ts";
import { findReceipts } from "../../../payments/receipts.ts";
import { findTransferNotes } from "../../../payments/transfer-notes.ts";
import { platform } from "../../../platform.ts";
import type { PartsOf } from "../console-parts.ts";
import { createGuard } from "../guard.ts";
import { pageQuery } from "../shapes.ts";
import {
  creditsQuery,
  creditsShape,
  holdsShape,
  proofShape,
  transfersQuery,
  transfersShape,
  walletShape,
} from "./shapes.ts";
import { statementRoutes } from "./statements.ts";

type Parts = PartsOf<"ledger" | "settings">;

const PAGE_SIZE = 50;
/** How long one request searches for transfers of a rare kind, before its page ends empty. */
const SEARCH_MS = 150;

/** The wallet of an account: its equation, transfers, running holds, proof and statements. */
export function walletRoutes(parts: Parts) {
  return new Elysia().use(balanceRoutes(parts)).use(statementRoutes(parts));
}

function balanceRoutes(parts: Parts) {
  const { database, ledger, now } = parts;
  return new Elysia({ prefix: "/accounts/:account/wallet" })
    .use(createGuard(parts, "Wallet"))
    .get("", async ({ account }) => printOverview(await readOverview(ledger, account.id, now())), {
      summary: "Read the balances",
      needs: "wallet.read",
      response: walletShape,
    })
    .get(
      "/transfers",
      async ({ account, query: { page, size = PAGE_SIZE, from, to, kind } }) => {
        const kinds = kind && [kind];
        const range = { fromMs: readTime(from), toMs: readTime(to), kinds };
        const { items, nextToken } = await searchTransfers(ledger, account.id, { size, token: page }, range);
        const notes = await findTransferNotes(parts, account.id, items);
        const topUps = items.filter(({ kind }) => kind === "top_up").map(({ transferId }) => transferId);
        const receipts = new Set(await findReceipts(database, account.id, topUps));
        const printed = items.map((line) => ({
          ...printTransfer(line, notes.get(line.transferId)),
          has_receipt: line.kind === "top_up" && receipts.has(line.transferId),
        }));
        return { items: printed, next: nextToken ?? null };
      },
      {
        summary: "List the transfers, newest first",
        needs: "wallet.read",
        query: transfersQuery,
        response: transfersShape,
      },
    )
    .get("/credits", ({ account, query }) => listCredits(ledger, account.id, query), {
      summary: "List the credits, newest first, or those with something left in the order of spending",
      needs: "wallet.read",
      query: creditsQuery,
      response: creditsShape,
    })
    .get(
      "/holds",
      async ({ account, query: { page, size = PAGE_SIZE } }) => {
        const { items, nextToken } = await ledger.runningHolds(account.id, { size, token: page });
        const keyIds = items.map(({ keyId }) => keyId);
        const names = await findKeyNames(database, account.id, keyIds);
        return { items: items.map((hold) => printNamedHold(hold, names)), next: nextToken ?? null };
      },
      {
        summary: "List the holds of running requests",
        needs: "wallet.read",
        query: pageQuery,
        response: holdsShape,
      },
    )
    .get("/proof", async ({ account }) => printProof(await proveWallet(ledger, account.id), now()), {
      summary: "Prove the balances from transfers and holds",
      needs: "wallet.read",
      response: proofShape,
    });
}

/** Lists credits in the order of the ledger. To be searched, ordered, or live, all of them are read. */
async function listCredits(
  ledger: Parts["ledger"],
  accountId: string,
  { page: token, size = PAGE_SIZE, live, q, sort }: Static<typeof creditsQuery>,
) {
  const order = readListOrder(sort, CREDIT_ORDERS);
  if (q || order || live) {
    const found = await findCredits(ledger, accountId, {
      isLive: live === true,
      text: q,
      order,
      token,
      size,
    });
    return { items: found.items.map(printCredit), next: found.next };
  }
  const { items, nextToken } = await ledger.credits(accountId, { size, token });
  return { items: items.map(printCredit), next: nextToken ?? null };
}

/** Searches on while a page is empty: a rare kind may be far back. */
async function searchTransfers(
  ledger: Parts["ledger"],
  accountId: string,
  page: PageRequest,
  range: TransferRange,
) {
  const endMs = platform.monotonicMs() + SEARCH_MS;
  let found = await ledger.transfers(accountId, page, range);
  while (found.items.length === 0 && found.nextToken && platform.monotonicMs() < endMs)
    found = await ledger.transfers(accountId, { ...page, token: found.nextToken }, range);
  return found;
}

function readTime(text: string | undefined): number | undefined {
  return text === undefined ? undefined : Date.parse(text);
}

/** A hold of another service, taken over gRPC, has a key without a row here. */
function printNamedHold(hold: RunningHold, names: ReadonlyMap<string, string>) {
  return { ...printHold(hold), key_name: names.get(hold.keyId) ?? null };
}

function printProof(proof: WalletProof, nowMs: number) {
  const { totals } = proof;
  return {
    checked_at: printTime(nowMs),
    top_ups_usd: printUsd(totals.toppedUp),
    charges_usd: printUsd(totals.charged),
    refunds_usd: printUsd(totals.refunded),
    expired_usd: printUsd(totals.expired),
    computed_posted_usd: printUsd(proof.computedPosted),
    posted_usd: printUsd(proof.posted),
    held_sum_usd: printUsd(proof.heldSum),
    held_usd: printUsd(proof.held),
    transfers: totals.transfers,
    open_holds: proof.openHolds,
    is_busy: proof.isBusy,
    ok: proof.isProven,
  };
}
