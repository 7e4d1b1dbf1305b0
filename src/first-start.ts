import { createAccount } from "./accounts/create.ts";
import { findAccount } from "./accounts/find.ts";
import { listAccounts } from "./accounts/list.ts";
import type { Config } from "./config.ts";
import type { SqliteDatabase } from "./db/sqlite/database.ts";
import { parseUsd } from "./domain/money.ts";
import { issueKey } from "./keys/issue.ts";
import { listKeys } from "./keys/list.ts";
import type { Ledger } from "./ledger/ledger.ts";

const DEMO = "demo";
const DEMO_CREDIT_USD = "5.00";

export interface FirstStartParts {
  readonly database: SqliteDatabase;
  readonly ledger: Ledger;
  readonly url: string;
}

/**
 * On the first start of the demo: an account with credit and a key, so that there is something to try
 * at once. Returns the text to show, which is the only place the key ever appears; `undefined` on every
 * later start, and where the operator has a catalog of their own.
 */
export async function welcomeFirstStart(
  { database, ledger, url }: FirstStartParts,
  config: Config,
): Promise<string | undefined> {
  if (!config.isDemoOnly || !isUntouched(database)) return undefined;
  const { id: accountId } =
    findAccount(database, DEMO) ?? (await createAccount({ database, ledger }, { name: DEMO }));
  await ledger.topUp({ walletId: accountId, topUpId: "demo-credit", amount: parseUsd(DEMO_CREDIT_USD) });
  const { secret } = await issueKey({ database, ledger }, { accountId, name: DEMO });
  return welcome(url, secret);
}

/** Nobody has made an account or a key; a first start that was killed halfway may have left its account. */
function isUntouched(database: SqliteDatabase): boolean {
  return listAccounts(database).every(({ name }) => name === DEMO) && listKeys(database).length === 0;
}

function welcome(url: string, secret: string): string {
  const body = JSON.stringify({
    model: "demo",
    stream: true,
    messages: [{ role: "user", content: "Hello, Tollgate!" }],
  });
  return `
Tollgate listens on ${url}

  key      ${secret}
           (shown this once; account "demo" has ${DEMO_CREDIT_USD} USD of demo credit)
  try it   curl -N ${url}/v1/chat/completions -H "authorization: Bearer ${secret}" -H "content-type: application/json" -d '${body}'

`;
}
