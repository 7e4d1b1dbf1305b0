import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Role } from "../../../src/accounts/audit-trail.ts";
import { createPasswords } from "../../../src/accounts/people/passwords.ts";
import { insertPerson } from "../../../src/accounts/people/people.ts";
import { connectDatabase } from "../../../src/db/database.ts";
import { printPrice } from "../../../src/domain/money.ts";
import { runTollgate } from "../../cli/run-tollgate.ts";
import { WEBHOOK_SECRET } from "../../support/scripted-stripe.ts";
import { type ScriptedUpstream, startScriptedUpstream } from "../../support/scripted-upstream.ts";
import { type ServedProcess, startServedProcess } from "../../support/served-process.ts";
import { tempFolder } from "../../support/temp-folder.ts";
import { HISTORY_MODELS, type History, writeHistory } from "./history.ts";
import { writeRouteHistory } from "./route-history.ts";
import { type SignedIn, signIn } from "./signed-in.ts";

export const PASSWORD = "correct horse battery";
const OPERATOR = "ops@example.com";
/** Payments by card are offered. Unless a test leads them elsewhere, no call of Stripe's API succeeds. */
const PAYMENTS = { STRIPE_SECRET_KEY: "sk_test_none", STRIPE_WEBHOOK_SECRET: WEBHOOK_SECRET };

/** Accounts may have bodies kept. */
const RECORDING_KEYS = Buffer.alloc(32, 7).toString("base64");

/** A gateway process with accounts, people and traffic of past weeks, as a customer would see it. */
export interface World {
  readonly url: string;
  readonly folder: string;
  readonly upstream: ScriptedUpstream;
  readonly acme: History;
  readonly northwind: History;
  readonly operator: SignedIn;
  /** Dana owns Acme, Sam develops, Vic views. */
  readonly owner: SignedIn;
  readonly emails: Readonly<Record<"operator" | Role, string>>;
  /** What the gateway printed to stderr, mails included unless `SMTP_URL` is set. */
  printed(): string;
  close(): Promise<void>;
}

export interface WorldOptions {
  /** Days of past traffic. Default: 3. */
  readonly days?: number;
  /** Requests per day of the larger account. Default: 40. */
  readonly perDay?: number;
  readonly environment?: Readonly<Record<string, string>>;
}

/** Starts a world. Takes seconds: its history is written through the ledger. */
export async function startWorld({
  days = 3,
  perDay = 40,
  environment = {},
}: WorldOptions = {}): Promise<World> {
  const folder = tempFolder();
  const path = join(folder, "data", "tollgate.db");
  const upstream = await startScriptedUpstream();
  writeFileSync(join(folder, "tollgate.yaml"), printConfig(upstream));
  const keys = ["production", "staging", "notebooks", "nightly evaluation"];
  const acme = await writeHistory(path, { name: "Acme", days, perDay, keys, topUpUsd: "250" });
  const northwind = await writeHistory(path, {
    ...{ name: "Northwind", days: Math.min(days, 10), perDay: perDay / 4, keys: ["default"], topUpUsd: "40" },
  });
  await writeRouteHistory(path);
  const emails = {
    operator: OPERATOR,
    owner: "dana@example.com",
    developer: "sam@example.com",
    viewer: "vic@example.com",
  };
  await addMembers(path, acme.accountId, [
    { email: emails.owner, name: "Dana Whitfield", role: "owner" },
    { email: emails.developer, name: "Sam Okafor", role: "developer" },
    { email: emails.viewer, name: "Vic Lindqvist", role: "viewer" },
  ]);
  const created = await runTollgate(folder, ["operator", "create", "--email", OPERATOR, "--json"]);
  const oneTimePassword = String(created.json().one_time_password);
  const served = await startServedProcess({
    folder,
    environment: { ...PAYMENTS, RECORDING_KEYS, ...environment },
  });
  const { url } = served;
  const operator = await signIn(url, { email: OPERATOR, password: oneTimePassword, newPassword: PASSWORD });
  const owner = await signIn(url, { email: emails.owner, password: PASSWORD });
  return {
    url,
    folder,
    upstream,
    acme,
    northwind,
    operator,
    owner,
    emails,
    printed: served.stderr,
    close: () => close(served, upstream),
  };
}

async function close(served: ServedProcess, upstream: ScriptedUpstream): Promise<void> {
  served.signal("SIGKILL");
  await served.exitCode;
  await upstream.stop();
}

interface NewMember {
  readonly email: string;
  readonly name: string;
  readonly role: Role;
}

/** Adds people with the password of all, as their invitations would have. */
async function addMembers(path: string, accountId: string, all: readonly NewMember[]): Promise<void> {
  const database = await connectDatabase({ dialect: "sqlite", path });
  const passwordHash = await createPasswords().hash(PASSWORD);
  const nowMs = Date.now() - 30 * 86_400_000;
  const flags = { emailVerified: true, isOperator: false, mustChangePassword: false };
  for (const { email, name, role } of all) {
    await database.transact(async (tx) => {
      const { id } = await insertPerson(database, tx, { email, name, passwordHash, ...flags }, nowMs);
      await tx.insert(database.tables.members).values({ accountId, personId: id, role, createdAtMs: nowMs });
    });
  }
  await database.close();
}

function printConfig({ openaiUrl, anthropicUrl }: ScriptedUpstream): string {
  const models = HISTORY_MODELS.map(({ id, upstream, price, can }) => {
    const { input, output, cachedInput } = price;
    const prices = `input: "${printPrice(input)}", output: "${printPrice(output)}", cached_input: "${printPrice(cachedInput)}"`;
    return `  ${id}:
    routes: [ { upstream: ${upstream}, model: ${id} } ]
    context_window: 200000
    max_output_tokens: 32000
    default_max_output_tokens: 4000
    can: [ ${can.join(", ")} ]
    price: { ${prices} }`;
  });
  return `upstreams:
  openai: { protocol: openai, base_url: "${openaiUrl}", api_key: provider-secret }
  anthropic: { protocol: anthropic, base_url: "${anthropicUrl}", api_key: provider-secret }
models:
${models.join("\n")}
plans: { pro: { name: Pro, period: month, grant: "20.00", price: "18.00", sold_by: stripe }, max: { name: Max, period: month, grant: "50.00" } }
console: { sign_up: open }
limits: { requests_per_minute: 600, tokens_per_minute: 2000000, concurrent_requests: 50 }
`;
}
