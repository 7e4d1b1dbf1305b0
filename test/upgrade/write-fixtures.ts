// bun test/upgrade/write-fixtures.ts CHECKOUT
//
// Lets an older Tollgate, a checkout with its packages installed, write true data into an empty database of each
// dialect. The rows become test/fixtures/upgrades/DIALECT-NN.sql, where NN counts that version's migrations.

import { Database } from "bun:sqlite";
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { freePort } from "../support/free-port.ts";
import { startPostgresServer } from "../support/postgres-server.ts";
import { runProgram } from "../support/run-program.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { until } from "../support/until.ts";
import { FIXTURES, type FixtureFacts, MIGRATION_FOLDERS, printFixture } from "./fixtures.ts";

const [checkout = ""] = Bun.argv.slice(2);
const ENTRY = join(resolve(checkout), "src/cli/tollgate.ts");
/** Rows of running processes, which say nothing after an upgrade. */
const OMITTED = ["gateways", "leases", "schema_version"];

for (const dialect of ["sqlite", "postgres"] as const) {
  const migrations = countMigrations(dialect);
  if (migrations === 0) continue;
  const { facts, statements } = dialect === "sqlite" ? await writeSqlite() : await writePostgres();
  const path = join(FIXTURES, `${dialect}-${String(migrations).padStart(2, "0")}.sql`);
  await Bun.write(path, printFixture(facts, statements));
  console.log(`${path}: ${statements.length} rows`);
}
process.exit();

/** Throws when a migration has changed since: then rows alone do not show what that version wrote. */
function countMigrations(dialect: "sqlite" | "postgres"): number {
  const folder = MIGRATION_FOLDERS[dialect];
  const theirs = join(resolve(checkout), folder);
  const names = readdirIfExists(theirs).filter((name) => name.endsWith(".sql"));
  for (const name of names) {
    const isSame = readFileSync(join(theirs, name), "utf8") === readFileSync(join(folder, name), "utf8");
    if (!isSame) throw new Error(`The migration ${name} of ${dialect} has changed since.`);
  }
  return names.length;
}

function readdirIfExists(path: string): readonly string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}

async function writeSqlite() {
  const folder = tempFolder();
  const path = join(folder, "tollgate.db");
  const facts = await useGateway(folder, `sqlite:${path}`);
  const client = new Database(path, { readonly: true });
  return { facts, statements: dumpSqlite(client) };
}

function dumpSqlite(client: Database): readonly string[] {
  const tables = client
    .query<{ name: string }, []>(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'",
    )
    .all();
  return tables
    .filter(({ name }) => !OMITTED.includes(name))
    .flatMap(({ name }) => {
      const columns = client.query<{ name: string }, []>(`PRAGMA table_info(${name})`).all();
      const values = columns.map((column) => `quote(${column.name})`).join(" || ', ' || ");
      const rows = client.query<{ row: string }, []>(`SELECT ${values} AS row FROM ${name}`).all();
      const names = columns.map((column) => column.name).join(", ");
      return rows.map(({ row }) => `INSERT INTO ${name} (${names}) VALUES (${row});`);
    });
}

async function writePostgres() {
  const server = await startPostgresServer({ isDurable: false });
  try {
    const facts = await useGateway(tempFolder(), server.url);
    const dump = Bun.spawnSync([
      join(server.programs, "pg_dump"),
      ...["--data-only", "--column-inserts", "--load-via-partition-root", "--no-owner"],
      ...OMITTED.map((table) => `--exclude-table=${table}`),
      server.url,
    ]);
    if (!dump.success) throw new Error(dump.stderr.toString());
    const statements = dump.stdout.toString().split("\n");
    return { facts, statements: statements.filter((line) => line.startsWith("INSERT INTO ")) };
  } finally {
    await server.stop();
  }
}

/** Uses what every version has: accounts, keys, top-ups, requests, a refund, a revoked key, a killed request. */
async function useGateway(folder: string, databaseUrl: string): Promise<FixtureFacts> {
  const environment = {
    ...{ PATH: process.env.PATH ?? "", DATABASE_URL: databaseUrl, TOLLGATE_DATA: join(folder, "data") },
    ...{ LEDGER_LISTEN: "off", METRICS_LISTEN: "off", PORT: String(freePort()), LOG_LEVEL: "warn" },
  };
  const run = async (...commandLine: string[]) => {
    const command = [process.execPath, ENTRY, ...commandLine, "--json"];
    const { exitCode, stdout, stderr } = await runProgram(command, { cwd: folder, env: environment });
    if (exitCode !== 0) throw new Error(`${commandLine.join(" ")}: ${stdout}${stderr}`);
    return JSON.parse(stdout);
  };
  const account = await run("account", "create", "--name", "acme", "--email", "acme@example.com");
  await run("account", "create", "--name", "umbrella");
  await run("topup", "--account", "acme", "--amount", "25.00", "--id", "wire-1");
  await run("topup", "--account", "umbrella", "--amount", "0.000000001", "--id", "wire-1");
  const limits = ["--spending-limit", "20.00", "--reset", "month", "--requests-per-minute", "100"];
  const { key } = await run("key", "create", "--account", "acme", "--name", "laptop", ...limits);
  const lost = await run("key", "create", "--account", "acme", "--name", "lost");
  await run("key", "revoke", lost.id);
  const requestIds = await sendRequests({ folder, environment, key });
  const [refunded = ""] = requestIds;
  const { refunded_usd: _ } = await run(
    "refund",
    "--account",
    "acme",
    "--receipt",
    refunded,
    "--id",
    "sorry-1",
  );
  const { accounts } = await run("account", "list");
  const audit = await run("audit");
  if (!audit.ok) throw new Error("The audit of that version found problems.");
  const wrote = await Bun.file(join(resolve(checkout), "package.json")).json();
  return {
    version: wrote.version,
    wroteAtMs: Date.now(),
    accountId: account.id,
    key,
    revokedKey: lost.key,
    requestIds,
    accounts: accounts.map(({ id, posted_usd, held_usd }: Record<string, string>) => ({
      id,
      posted_usd,
      held_usd,
    })),
    counts: { wallets: audit.wallets, holds: audit.holds, transfers: audit.transfers },
  };
}

interface Served {
  readonly folder: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly key: string;
}

/** Sends whole and streamed requests, and kills the gateway during the last one, so that its hold stays open. */
async function sendRequests({ folder, environment, key }: Served): Promise<readonly string[]> {
  const gateway = Bun.spawn([process.execPath, ENTRY, "serve"], {
    ...{ cwd: folder, env: environment, stdout: "ignore", stderr: "inherit" },
  });
  const url = `http://127.0.0.1:${environment.PORT}`;
  await until(async () => (await fetch(`${url}/readyz`).catch(() => undefined))?.ok === true);
  const send = (content: string, stream: boolean) =>
    fetch(`${url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "demo", stream, messages: [{ role: "user", content }] }),
    });
  const ids: string[] = [];
  for (const stream of [false, false, true]) {
    const answer = await send("How much is this?", stream);
    await answer.text();
    ids.push(answer.headers.get("x-request-id") ?? "");
  }
  const killed = await send("word ".repeat(20_000), true);
  await killed.body?.getReader().read();
  gateway.kill("SIGKILL");
  await gateway.exited;
  ids.push(killed.headers.get("x-request-id") ?? "");
  return ids;
}
