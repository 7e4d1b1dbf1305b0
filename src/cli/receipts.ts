import { listAccounts } from "../accounts/accounts.ts";
import { isUuid, printTime } from "../domain/id-time.ts";
import { printUsd } from "../domain/money.ts";
import { printOperatorReceipt } from "../ledger/print-receipt.ts";
import { type HoldState, pagesOf, type Receipt } from "../ledger/records.ts";
import { CommandError, type CommandResult } from "./command.ts";
import { findAccountKey, findScopes, type ScopeOptions } from "./filters.ts";
import { printTable } from "./printing.ts";
import { requireAccount, type Storage } from "./storage.ts";

export interface ReceiptsOptions extends ScopeOptions {
  readonly account: string;
  /** Id, hint or secret of a key. */
  readonly key?: string;
  readonly model?: string;
  readonly upstream?: string;
  readonly outcome?: string;
  readonly failed?: boolean;
  readonly state?: HoldState;
  readonly from?: number;
  readonly to?: number;
  /** Default: 20. */
  readonly limit?: number;
}

const LIMIT_DEFAULT = 20;
const LIMIT_MAX = 1_000;

/** Lists the newest receipts of an account that match the options. */
export async function runReceipts(storage: Storage, options: ReceiptsOptions): Promise<CommandResult> {
  const { limit = LIMIT_DEFAULT, model, upstream, outcome, failed, state, from: fromMs, to: toMs } = options;
  if (limit < 1 || limit > LIMIT_MAX) throw new CommandError(`Expected a limit from 1 to ${LIMIT_MAX}.`, 2);
  const account = await requireAccount(storage.database, options.account);
  const walletId = account.id;
  const keyId = await findAccountKey(storage, walletId, options.key);
  const scopes = await findScopes(storage, account, options);
  const filter = { walletId, keyId, model, upstream, outcome, failed, state, scopes, fromMs, toMs };
  const receipts = (await readReceipts(storage, filter, limit)).map(printReceipt);
  return { json: { account_id: walletId, receipts }, text: printReceipts(receipts) };
}

type Filter = Parameters<Storage["ledger"]["receipts"]>[0];

/** A page may be short and still have a next one, where few receipts match. */
async function readReceipts({ ledger }: Storage, filter: Filter, limit: number): Promise<readonly Receipt[]> {
  const receipts: Receipt[] = [];
  const pages = pagesOf((token) => ledger.receipts(filter, { size: limit - receipts.length, token }));
  for await (const { items } of pages) if (receipts.push(...items) >= limit) break;
  return receipts;
}

function printReceipt(receipt: Receipt) {
  const { request, outcome } = receipt;
  return {
    request_id: receipt.holdId,
    at: printTime(receipt.createdAtMs),
    key_id: receipt.keyId,
    scopes: receipt.scopes,
    surface: request.surface,
    model: request.model,
    upstream: outcome?.upstream ?? null,
    tier: outcome?.tier ?? null,
    state: receipt.state,
    outcome: outcome?.outcome ?? null,
    input_tokens: outcome?.usage?.inputTokens ?? null,
    output_tokens: outcome?.usage?.outputTokens ?? null,
    granted_usd: printUsd(receipt.granted),
    charged_usd: printUsd(receipt.captured),
    refunded_usd: printUsd(receipt.refunded),
    upstream_cost_usd: outcome?.upstreamCost === undefined ? null : printUsd(outcome.upstreamCost),
    charge_source: outcome?.source ?? null,
    total_ms: outcome?.totalMs ?? null,
  };
}

function printReceipts(receipts: readonly ReturnType<typeof printReceipt>[]): string {
  const rows = receipts.map((receipt) => [
    receipt.at ?? "",
    receipt.request_id,
    receipt.model,
    receipt.outcome ?? receipt.state,
    `${receipt.input_tokens ?? "-"}/${receipt.output_tokens ?? "-"}`,
    receipt.charged_usd,
  ]);
  return printTable(["TIME", "REQUEST", "MODEL", "OUTCOME", "TOKENS IN/OUT", "CHARGED USD"], rows);
}

/** Shows the receipt of a request by its id, of whichever account. */
export async function runReceipt({ database, ledger }: Storage, text: string): Promise<CommandResult> {
  const id = text.trim().toLowerCase();
  if (!isUuid(id)) throw new CommandError("Expected the id of a request, as in x-request-id.", 2);
  const names = new Map((await listAccounts(database)).map((account) => [account.id, account.name]));
  const receipts = (await ledger.receiptsById(id)).map((receipt) => ({
    account_id: receipt.walletId,
    account: names.get(receipt.walletId) ?? null,
    ...printOperatorReceipt(receipt),
  }));
  if (receipts.length > 0) return { json: { receipts }, text: receipts.map(printMembers).join("\n\n") };
  throw new CommandError(
    "There is no receipt of this request. A refused request has none: search for its id in the console or the log.",
  );
}

/** Prints an object, one member a line. Nested values are JSON. */
function printMembers(members: object): string {
  const entries = Object.entries(members).filter(([, value]) => value !== null);
  const width = Math.max(...entries.map(([name]) => name.length));
  return entries
    .map(
      ([name, value]) =>
        `${name.padEnd(width)}  ${typeof value === "object" ? JSON.stringify(value) : value}`,
    )
    .join("\n");
}
