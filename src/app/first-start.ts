import { createAccount, findAccount, listAccounts } from "../accounts/accounts.ts";
import { issueKey, listKeys } from "../accounts/keys.ts";
import type { Config } from "../config/config.ts";
import type { Database } from "../db/database.ts";
import { parseUsd } from "../domain/money.ts";
import { GatewayError } from "../errors.ts";
import type { Ledger } from "../ledger/ledger.ts";

const DEMO = "demo";
const DEMO_CREDIT_USD = "5.00";

interface Parts {
  readonly database: Database;
  readonly ledger: Ledger;
}

export interface FirstStartParts extends Parts {
  readonly url: string;
}

/**
 * On the first start of the demo: an account with credit and a key, so that there is something to try
 * at once. Returns the text to show, which is the only place the key ever appears; `undefined` on every
 * later start, where another replica was faster, and where the operator has a catalog of their own.
 */
export async function prepareFirstStart(
  { url, ...parts }: FirstStartParts,
  config: Pick<Config, "isDemoOnly">,
): Promise<string | undefined> {
  if (!config.isDemoOnly || !(await isUntouched(parts.database))) return undefined;
  const accountId = await takeDemoAccount(parts);
  const amount = parseUsd(DEMO_CREDIT_USD);
  await parts.ledger.topUp({ walletId: accountId, topUpId: "demo-credit", amount });
  const secret = await issueDemoKey(parts, accountId);
  return secret && welcome(url, secret);
}

/** Nobody has made an account or a key; a first start that was killed halfway may have left its account. */
async function isUntouched(database: Database): Promise<boolean> {
  const [accounts, keys] = await Promise.all([listAccounts(database), listKeys(database)]);
  return accounts.every(({ name }) => name === DEMO) && keys.length === 0;
}

/** The account of the demo, whichever start made it. */
async function takeDemoAccount(parts: Parts): Promise<string> {
  const found = await findAccount(parts.database, DEMO);
  const made = found ?? (await unlessTaken(createAccount(parts, { name: DEMO })));
  const account = made ?? (await findAccount(parts.database, DEMO));
  if (!account) throw new Error("The demo account was made and is gone");
  return account.id;
}

/** The key takes the id of its account, so that of several starts at once only one issues it. */
async function issueDemoKey(parts: Parts, accountId: string): Promise<string | undefined> {
  const issued = await unlessTaken(issueKey(parts, { id: accountId, accountId, name: DEMO }));
  return issued?.secret;
}

/** `undefined` where another start was faster. */
function unlessTaken<Made>(making: Promise<Made>): Promise<Made | undefined> {
  return making.catch((thrown: unknown) => {
    if (thrown instanceof GatewayError && thrown.kind === "conflict") return undefined;
    throw thrown;
  });
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
