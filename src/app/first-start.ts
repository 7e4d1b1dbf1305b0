import { createAccount, findAccount, listAccounts } from "../accounts/accounts.ts";
import { SYSTEM } from "../accounts/audit-trail.ts";
import { issueKey, listKeys, type OnIssued } from "../accounts/keys/keys.ts";
import { type CreatedOperator, prepareOperator } from "../accounts/people/operators.ts";
import { createPasswords } from "../accounts/people/passwords.ts";
import type { Config } from "../config/config.ts";
import type { Database } from "../db/database.ts";
import { isLoopbackHost } from "../domain/addresses.ts";
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
  /** Where the gateway is reached from this machine. */
  readonly url: string;
  /** Origin of the console: the gateway's own, or that of `PUBLIC_URL`. */
  readonly publicUrl: string;
  /** Where metrics are served. */
  readonly metricsAddress: string | undefined;
}

type FirstStartConfig = Pick<Config, "isDemoOnly" | "demo" | "host" | "signUp">;

/**
 * On the first start of the demo, creates an account with credit, one key, and an operator who owns the account.
 * Does so where other machines reach the gateway only when `TOLLGATE_DEMO` says so. Returns the notice to print: the
 * only text that ever holds the secret and the one-time password, or what is open and how to begin. Returns
 * `undefined` on later starts, when another replica created the key, and on loopback when the file has models.
 */
export async function prepareFirstStart(
  { url, publicUrl, metricsAddress, ...parts }: FirstStartParts,
  config: FirstStartConfig,
): Promise<string | undefined> {
  const isOpen = !isLoopbackHost(config.host);
  const wantsDemo = config.isDemoOnly && (config.demo ?? !isOpen);
  if (!(wantsDemo || isOpen) || !(await isUntouched(parts.database))) return undefined;
  if (!wantsDemo) {
    return (await hasPerson(parts.database)) ? undefined : formatOpen({ url, metricsAddress }, config);
  }
  const accountId = await findOrCreateDemoAccount(parts);
  const amount = parseUsd(DEMO_CREDIT_USD);
  await parts.ledger.topUp({ walletId: accountId, topUpId: "demo-credit", amount });
  const secrets = await createDemoSecrets(parts, accountId);
  return secrets && formatNotice({ url, publicUrl, ...secrets, host: config.host });
}

async function hasPerson({ db, tables: { people } }: Database): Promise<boolean> {
  return (await db.select({ id: people.id }).from(people).limit(1)).length > 0;
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

type DemoSecrets = Pick<Notice, "secret" | "operator">;

/**
 * Creates a key and an operator in one transaction, which a killed start leaves to the next one. The key has the id of
 * its account, so that only one of several concurrent starts can issue it.
 */
async function createDemoSecrets(parts: Parts, accountId: string): Promise<DemoSecrets | undefined> {
  const people = { ...parts, passwords: createPasswords() };
  const addOperator = await prepareOperator(people, { email: OPERATOR_EMAIL, accountId }, SYSTEM);
  let secrets: DemoSecrets | undefined;
  const issued: OnIssued = async (tx, { secret }) => {
    secrets = { secret, operator: await addOperator(tx) };
  };
  await unlessTaken(issueKey({ ...parts, actor: SYSTEM, issued }, { id: accountId, accountId, name: DEMO }));
  return secrets;
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
  readonly host: string;
}

function formatNotice({ url, publicUrl, secret, operator, host }: Notice): string {
  const body = JSON.stringify({
    model: "demo",
    stream: true,
    messages: [{ role: "user", content: "Hello, Tollgate!" }],
  });
  return `
Tollgate listens on ${isLoopbackHost(host) ? url : `${host}: other machines reach it. From this one: ${url}`}

  key      ${secret}
           (shown this once; account "demo" has ${DEMO_CREDIT_USD} USD of demo credit)
  try it   curl -N ${url}/v1/chat/completions -H "authorization: Bearer ${secret}" -H "content-type: application/json" -d '${body}'

  console  ${publicUrl}/console
  sign in  ${operator.person.email}
  password ${operator.oneTimePassword}
           (shown this once; the first sign-in asks for a new one)

`;
}

/** What other machines reach before there is a key or an operator, and how to begin. */
function formatOpen(
  { url, metricsAddress }: Pick<FirstStartParts, "url" | "metricsAddress">,
  { host, isDemoOnly, signUp }: FirstStartConfig,
): string {
  const metricsHost = metricsAddress?.replace(/:\d+$/, "").replace(/^\[|\]$/g, "");
  const hasOpenMetrics = metricsHost !== undefined && !isLoopbackHost(metricsHost);
  const signUps = signUp === "open" ? "everybody may sign up" : "no person can sign in yet";
  const lines = [
    `  open     /v1, for API keys: there is none; /console: ${signUps}`,
    ...(hasOpenMetrics ? [`  open     metrics on ${metricsAddress}, without a key`] : []),
    "  operator tollgate operator create --email you@example.com",
    "  key      tollgate account create --name NAME, then tollgate key create --account NAME --name NAME",
    ...(isDemoOnly ? ["  demo     TOLLGATE_DEMO=yes: the next start makes a demo key and an operator"] : []),
    "  then     a proxy with TLS in front, PUBLIC_URL and TRUSTED_PROXIES; or HOST=127.0.0.1",
  ];
  return `\nTollgate listens on ${host}: other machines reach it. From this one: ${url}\n\n${lines.join("\n")}\n\n`;
}
