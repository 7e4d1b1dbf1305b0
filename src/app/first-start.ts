import { createAccount, findAccount, listAccounts } from "../accounts/accounts.ts";
import { SYSTEM } from "../accounts/audit-trail.ts";
import { issueKey, listKeys } from "../accounts/keys.ts";
import { type CreatedOperator, createOperator } from "../accounts/operators.ts";
import { createPasswords } from "../accounts/passwords.ts";
import type { Config } from "../config/config.ts";
import type { Database } from "../db/database.ts";
import { parseUsd } from "../domain/money.ts";
import { GatewayError } from "../errors.ts";
import type { Ledger } from "../ledger/ledger.ts";

const DEMO = "demo";
const DEMO_CREDIT_USD = "5.00";
const OPERATOR_EMAIL = "operator@localhost";

interface Parts {
  readonly database: Database;
  readonly ledger: Ledger;
}

export interface FirstStartParts extends Parts {
  /** Where the gateway listens. */
  readonly url: string;
  /** Origin of the console: the gateway's own, or that of `PUBLIC_URL`. */
  readonly publicUrl: string;
}

/**
 * On the first start of the demo, creates an account with credit, one key, and an operator who owns the account.
 * Returns the notice to print, the only text that ever holds the secret and the one-time password. Returns
 * `undefined` on later starts, when another replica created the key, and when the file has models.
 */
export async function prepareFirstStart(
  { url, publicUrl, ...parts }: FirstStartParts,
  config: Pick<Config, "isDemoOnly">,
): Promise<string | undefined> {
  if (!config.isDemoOnly || !(await isUntouched(parts.database))) return undefined;
  const accountId = await findOrCreateDemoAccount(parts);
  const amount = parseUsd(DEMO_CREDIT_USD);
  await parts.ledger.topUp({ walletId: accountId, topUpId: "demo-credit", amount });
  const secret = await issueDemoKey(parts, accountId);
  if (secret === undefined) return undefined;
  // Only the start that issued the key comes here, so that one password is printed and it is the valid one.
  const newOperator = { email: OPERATOR_EMAIL, accountId };
  const operator = await createOperator({ ...parts, passwords: createPasswords() }, newOperator, SYSTEM);
  return formatNotice({ url, publicUrl, secret, operator });
}

/** Whether there is no key, and no account but the demo's, which a killed first start may have left. */
async function isUntouched(database: Database): Promise<boolean> {
  const [accounts, keys] = await Promise.all([listAccounts(database), listKeys(database)]);
  return accounts.every(({ name }) => name === DEMO) && keys.length === 0;
}

/** Returns the id of the demo account, created by this start or by another one. */
async function findOrCreateDemoAccount(parts: Parts): Promise<string> {
  const found = await findAccount(parts.database, DEMO);
  const created = found ?? (await unlessTaken(createAccount(parts, { name: DEMO }, { actor: SYSTEM })));
  const account = created ?? (await findAccount(parts.database, DEMO));
  if (!account) throw new Error("The demo account was deleted during the start");
  return account.id;
}

/** Issues a key with the id of its account, so that only one of several concurrent starts can issue it. */
async function issueDemoKey(parts: Parts, accountId: string): Promise<string | undefined> {
  const issued = await unlessTaken(
    issueKey({ ...parts, actor: SYSTEM }, { id: accountId, accountId, name: DEMO }),
  );
  return issued?.secret;
}

/** Resolves with `undefined` on `conflict`: another start was faster. */
function unlessTaken<Created>(creating: Promise<Created>): Promise<Created | undefined> {
  return creating.catch((thrown: unknown) => {
    if (thrown instanceof GatewayError && thrown.kind === "conflict") return undefined;
    throw thrown;
  });
}

interface Notice extends Pick<FirstStartParts, "url" | "publicUrl"> {
  readonly secret: string;
  readonly operator: CreatedOperator;
}

function formatNotice({ url, publicUrl, secret, operator }: Notice): string {
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

  console  ${publicUrl}/console
  sign in  ${operator.person.email}
  password ${operator.oneTimePassword}
           (shown this once; the first sign-in asks for a new one)

`;
}
