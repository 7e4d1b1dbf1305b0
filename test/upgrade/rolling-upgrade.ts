// Upgrades a database of PostgreSQL while two gateways of an older commit serve requests from it.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { $, type SQL } from "bun";
import { readPostgresUrl } from "../../src/db/postgres/connection.ts";
import { type ServedProcess, startServedProcess } from "../support/served-process.ts";
import { createEmptyDatabase } from "../support/test-database.ts";
import { TOLLGATE } from "../support/tollgate-command.ts";
import { until } from "../support/until.ts";
import { fillReceipts } from "./old-replicas.ts";

const USAGE = `bun run upgrade:rolling [--schema N …] [--receipts COUNT]

For each schema: checks out the last commit that had it, fills a database with receipts (default 1,000,000), sends
requests through two gateways of that commit, and starts a gateway of this checkout, which migrates the database. Then
the old gateways stop. Exits with 1 when a start fails, an answer is lost or charged wrongly, or requests fail.
`;
const REPOSITORY = resolve(import.meta.dir, "../..");
const FOLDER = "src/db/postgres/migrations";
/** Schemas of published versions. No version had schema 12, whose programs cannot write beside schema 13. */
const PUBLISHED = ["3", "8", "11"];
const CALLERS_PER_GATEWAY = 4;
const BEFORE_MS = 3_000;
/** Above what the callers send. */
const UNLIMITED =
  "limits: { requests_per_minute: 10000000 }\naccount_limits: { requests_per_minute: 10000000 }\n";
const AFTER_MS = 8_000;

const { values } = parseArgs({
  options: {
    schema: { type: "string", multiple: true, default: PUBLISHED },
    receipts: { type: "string", default: "1000000" },
    help: { type: "boolean", short: "h" },
  },
});
if (values.help) process.stdout.write(USAGE);
else for (const schema of values.schema) await upgradeFrom(Number(schema), Number(values.receipts));

async function upgradeFrom(schema: number, receipts: number): Promise<void> {
  const commit = await findCommit(schema);
  const folder = mkdtempSync(join(tmpdir(), "tollgate-rolling-"));
  const checkout = join(folder, "old");
  await $`git worktree add --detach ${checkout} ${commit}`.cwd(REPOSITORY).quiet();
  try {
    await $`${process.execPath} install --frozen-lockfile`.cwd(checkout).quiet();
    await play({ schema, commit, receipts, folder, program: await programOf(checkout) });
  } finally {
    await $`git worktree remove --force ${checkout}`.cwd(REPOSITORY).quiet();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Finds the last commit with the first migrations of today, and no other. */
async function findCommit(schema: number): Promise<string> {
  const names = await listMigrations("HEAD");
  const commits = await $`git log --format=%h -- ${FOLDER}`.cwd(REPOSITORY).text();
  for (const commit of commits.trim().split("\n")) {
    const before = `${commit}^`;
    if (Bun.deepEquals(await listMigrations(before), names.slice(0, schema)))
      return (await $`git rev-parse --short ${before}`.cwd(REPOSITORY).text()).trim();
  }
  throw new Error(`No commit had schema ${schema}`);
}

async function listMigrations(commit: string): Promise<readonly string[]> {
  const listed = await $`git ls-tree --name-only ${commit} ${FOLDER}/`.cwd(REPOSITORY).nothrow().text();
  return listed.split("\n").filter((path) => path.endsWith(".sql"));
}

async function programOf(checkout: string): Promise<readonly string[]> {
  // Safe because each commit's package.json has this script.
  const { scripts } = (await Bun.file(join(checkout, "package.json")).json()) as {
    scripts: { tollgate: string };
  };
  return [process.execPath, join(checkout, scripts.tollgate.replace("bun ", ""))];
}

interface Scene {
  readonly schema: number;
  readonly commit: string;
  readonly receipts: number;
  readonly folder: string;
  readonly program: readonly string[];
}

async function play({ schema, commit, receipts, folder, program }: Scene): Promise<void> {
  const database = await createEmptyDatabase();
  const admin = readPostgresUrl(database.url)({ max: 2 });
  await Bun.write(join(folder, "tollgate.yaml"), UNLIMITED);
  const started: ServedProcess[] = [];
  const start = async (name: string, words: readonly string[]) => {
    const environment = { DATABASE_URL: database.url, TOLLGATE_DATA: join(folder, name) };
    const gateway = await startServedProcess({ folder, program: words, environment });
    started.push(gateway);
    return gateway;
  };
  try {
    const outcome = await upgradeBesideLoad({ receipts, program, admin, start });
    report({ schema, commit, ...outcome });
  } finally {
    for (const gateway of started) gateway.signal("SIGKILL");
    await Promise.all(started.map(({ exitCode }) => exitCode));
    await admin.close();
    await database.drop();
  }
}

interface Stage extends Pick<Scene, "receipts" | "program"> {
  readonly admin: SQL;
  start(name: string, program: readonly string[]): Promise<ServedProcess>;
}

/** Two old gateways serve requests while a new one starts, and stop before it. */
async function upgradeBesideLoad({ receipts, program, admin, start }: Stage): Promise<Played> {
  const first = await start("first", program);
  const readSecret = () => /sk-tg-[\w-]{43}/.exec(first.stderr() + first.stdout())?.[0] ?? "";
  // Older programs print the key after they are ready.
  await until(() => readSecret() !== "");
  await fillReceipts(admin, receipts, Date.now());
  const old = [first, await start("second", program)];
  const load = old.map((gateway) => startLoad(gateway, readSecret()));
  await Bun.sleep(BEFORE_MS);
  const beganAt = performance.now();
  const current = await start("new", TOLLGATE);
  const migratedMs = performance.now() - beganAt;
  load.push(startLoad(current, readSecret()));
  await Bun.sleep(AFTER_MS);
  const oldAnswers = await Promise.all(load.slice(0, 2).map((each) => each.stop()));
  for (const gateway of old) await stop(gateway);
  const answers = [...oldAnswers, ...(await Promise.all(load.slice(2).map((each) => each.stop())))];
  await stop(current);
  return { migratedMs, answers, booked: await countBooked(admin) };
}

interface Answers {
  readonly byStatus: ReadonlyMap<number, number>;
  readonly slowestMs: number;
}

interface Load {
  stop(): Promise<Answers>;
}

/** Sends requests one after the other from each caller. Status 0 is an answer that broke. */
function startLoad({ url }: ServedProcess, secret: string): Load {
  const byStatus = new Map<number, number>();
  let isEnding = false;
  let slowestMs = 0;
  const call = async () => {
    const beganAt = performance.now();
    const status = await askDemo(url, secret).catch(() => 0);
    slowestMs = Math.max(slowestMs, performance.now() - beganAt);
    byStatus.set(status, (byStatus.get(status) ?? 0) + 1);
  };
  const callers = Array.from({ length: CALLERS_PER_GATEWAY }, async () => {
    while (!isEnding) await call();
  });
  return {
    async stop() {
      isEnding = true;
      await Promise.all(callers);
      return { byStatus, slowestMs };
    },
  };
}

async function askDemo(url: string, secret: string): Promise<number> {
  const answer = await fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
    body: '{"model":"demo","max_tokens":8,"messages":[{"role":"user","content":"Hello."}]}',
  });
  await answer.text();
  return answer.status;
}

async function stop(gateway: ServedProcess): Promise<void> {
  gateway.signal("SIGTERM");
  await gateway.exitCode;
}

interface Booked {
  readonly settled: number;
  readonly held: number;
  /** By how much the balances differ from the transfers, in nano-USD. */
  readonly drift: string;
}

/** Counts the receipts of the requests, which are those of every wallet but the filled one. */
async function countBooked(admin: SQL): Promise<Booked> {
  const [row] = await admin.unsafe(`SELECT
    (SELECT count(*)::int FROM holds WHERE wallet_id <> 'busy' AND state = 'settled') AS settled,
    (SELECT count(*)::int FROM holds WHERE wallet_id <> 'busy' AND state = 'held') AS held,
    (SELECT sum(posted) FROM wallets WHERE wallet_id <> 'busy') - (SELECT sum(CASE WHEN credit_account = 1
      THEN amount ELSE -amount END) FROM transfers WHERE wallet_id <> 'busy') AS drift`);
  return { settled: row.settled, held: row.held, drift: String(row.drift) };
}

interface Played {
  readonly migratedMs: number;
  readonly answers: readonly Answers[];
  readonly booked: Booked;
}

type Outcome = Played & Pick<Scene, "schema" | "commit">;

function report({ schema, commit, migratedMs, answers, booked }: Outcome): void {
  const printed = answers.map(({ byStatus, slowestMs }) => {
    const statuses = [...byStatus].map(([status, count]) => `${count} × ${status}`).join(", ");
    return `${statuses}, slowest ${Math.round(slowestMs)} ms`;
  });
  const answered = answers.reduce((sum, { byStatus }) => sum + (byStatus.get(200) ?? 0), 0);
  const isGood =
    answers.every(({ byStatus }) => byStatus.size === 1 && byStatus.has(200)) &&
    booked.settled === answered &&
    booked.held === 0 &&
    booked.drift === "0";
  console.log(`schema ${schema} (${commit}): started after ${Math.round(migratedMs)} ms`);
  console.log(`  old gateways: ${printed.slice(0, 2).join("; ")}\n  new gateway: ${printed[2]}`);
  console.log(
    `  ${answered} answered, ${booked.settled} settled, ${booked.held} held, drift ${booked.drift}`,
  );
  if (!isGood) process.exitCode = 1;
}
