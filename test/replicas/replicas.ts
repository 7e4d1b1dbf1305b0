import { mkdirSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { printUsd } from "../../src/domain/money.ts";
import { startPostgresServer } from "../support/postgres-server.ts";
import { startRedisServer } from "../support/redis-server.ts";
import { createDraw, drawOne } from "../support/seeded-random.ts";
import { scriptedConfig } from "../support/test-catalog.ts";
import { until } from "../support/until.ts";
import { openBooks } from "./books.ts";
import { findProblems, findSpoiled, isExcused, isSpoiled, isStalled, type Run, useOf } from "./checks.ts";
import { type Sent, startClients } from "./clients.ts";
import { type Deployment, openDeployment } from "./deployment.ts";
import { FAULTS, type Struck, strikeOnce, type Targets } from "./faults.ts";
import { createGroups, GROUPS } from "./groups.ts";
import { startSdkClients } from "./sdk-clients.ts";
import { watchStalls } from "./stalls.ts";
import { startWatchedUpstream } from "./watched-upstream.ts";

// `bun run replicas [--rounds 1] [--seed N] [--fault rolling|restart|kill|postgres|redis|lostRedis]`: three
// gateways behind HAProxy on one PostgreSQL and one Redis, under load of five groups of clients and of two SDKs,
// while each part is restarted or killed. Prints what was sent, answered and charged, and the audit. Exits with 1
// when a promise of docs/replicas.md was broken.
const { values } = parseArgs({
  options: { rounds: { type: "string", default: "1" }, seed: { type: "string" }, fault: { type: "string" } },
});
const SETTINGS = `
limits: { requests_per_minute: 1000000, tokens_per_minute: 1000000000 }
account_limits: { requests_per_minute: 1000000 }
billing: { hold_ttl_s: 10 }
limiter: { on_failure: local, replicas: 3 }
drain_delay_s: 3
drain_s: 20
`;
const CALM_MS = 8_000;
/** A sweep runs every 5 s ± 1 s. */
const SWEEP_MS = 7_000;

const seed = values.seed ?? `${Math.floor(Math.random() * 1_000_000)}`;
const draw = createDraw(seed);
console.log(`seed ${seed}`);
process.exitCode = (await play()) ? 0 : 1;

async function play(): Promise<boolean> {
  const [postgres, redis, upstream] = await Promise.all([
    startPostgresServer(),
    startRedisServer({ settings: { appendonly: "yes" } }),
    startWatchedUpstream(),
  ]);
  const configuration = scriptedConfig(upstream, SETTINGS);
  const deployment = await openDeployment({ databaseUrl: postgres.url, redisUrl: redis.url, configuration });
  try {
    const books = openBooks(postgres.url);
    const [sdk, ...groups] = await createGroups(deployment, [
      { name: "sdk", clients: 2, pauseMs: 300, fundsUsd: "1000", keyOptions: [] },
      ...GROUPS,
    ]);
    if (!sdk) throw new Error("Each plan has a group");
    const { url } = deployment.proxy;
    const loads = [startClients(url, groups), startSdkClients(url, sdk)];
    const watch = watchStalls(postgres.url);
    await Bun.sleep(CALM_MS);
    const struck = await strikeAll({ deployment, postgres, redis, draw });
    await Promise.all(loads.map((load) => load.stop()));

    await watch.stop();
    const stuck = await books.countOpen(Date.now() - SWEEP_MS);
    await until(async () => deployment.countQueued() === 0 && (await books.countOpen()) === 0);
    const run: Run = {
      groups: [...groups, sdk],
      sent: loads.flatMap(({ sent }) => sent),
      struck,
      stalls: watch.stalls,
      calls: upstream.calls,
      receipts: await books.receipts(),
      wallets: await books.wallets(),
    };
    const audit = await deployment.command("audit").catch((error: unknown) => `FAILED: ${error}`);
    const problems = [
      ...findProblems(run),
      ...(stuck > 0 ? [`${stuck} holds were open past their time`] : []),
      ...(audit.startsWith("FAILED") ? [audit] : []),
    ];
    report(run, problems);
    if (problems.length > 0) keepLogs(deployment);
    return problems.length === 0;
  } finally {
    await deployment.close();
    await upstream.stop();
    await redis.stop();
    await postgres.stop();
  }
}

/** Faults of Redis come last in a round: before them, the limits are held exactly for more than a minute. */
async function strikeAll(targets: Targets): Promise<readonly Struck[]> {
  const struck: Struck[] = [];
  const names = Object.keys(FAULTS);
  const strike = async (name: string) => {
    const each = await strikeOnce(name, targets, CALM_MS);
    const seconds = ((each.toMs - each.fromMs) / 1000).toFixed(1).padStart(5);
    console.log(`${new Date(each.fromMs).toISOString()} ${seconds} s  ${each.what}`);
    struck.push(each);
  };
  for (let round = 0; round < Number(values.rounds); round += 1) {
    if (values.fault) await strike(values.fault);
    else {
      for (const name of shuffled(names.filter((each) => !FAULTS[each]?.redis))) await strike(name);
      for (const name of shuffled(names.filter((each) => FAULTS[each]?.redis))) await strike(name);
    }
  }
  return struck;
}

function shuffled(names: readonly string[]): readonly string[] {
  const [first, ...others] = names;
  if (first === undefined) return [];
  const next = drawOne(draw, [first, ...others]);
  return [next, ...shuffled(names.filter((name) => name !== next))];
}

/** Writes the logs of HAProxy and the gateways into `reports/replicas`. */
function keepLogs({ proxy, gateways }: Deployment): void {
  const folder = "reports/replicas";
  mkdirSync(folder, { recursive: true });
  writeFileSync(`${folder}/haproxy.log`, proxy.log());
  gateways.forEach((gateway, index) => {
    writeFileSync(`${folder}/gateway-${index + 1}.log`, gateway.output());
  });
  console.log(`the logs are in ${folder}`);
}

function report(run: Run, problems: readonly string[]): void {
  const { sent, receipts, wallets, groups } = run;
  for (const group of groups) {
    const own = sent.filter((each) => each.group === group.name);
    console.log(`\n${group.name}: ${own.length} sent: ${countResults(own)}`);
    const charged = wallets.find(({ account }) => account === group.name)?.charged ?? 0n;
    const states = countBy(
      receipts.filter(({ account }) => account === group.name).map(({ state }) => state),
    );
    console.log(`  receipts: ${states}; charged ${printUsd(charged)} USD`);
    const use = useOf(run, group);
    const unit = group.requestsPerMinute ? "in any 60 s" : "at once";
    if (use)
      console.log(`  most ${unit}: ${use.most} of ${use.limit}; without Redis ${use.mostWithoutRedis}`);
  }
  console.log(`\nall: ${sent.length} sent: ${countResults(sent)}`);
  for (const { what, ...fault } of run.struck) {
    const spoiled = sent.filter((each) => isSpoiled(each) && isExcused(each, { what, ...fault }));
    console.log(`${what}: ${spoiled.length > 0 ? countResults(spoiled) : "no request was spoiled"}`);
  }
  const stalled = findSpoiled(run).filter((each) => isStalled(each, run));
  const longestMs = Math.max(0, ...run.stalls.map(({ fromMs, toMs }) => toMs - fromMs));
  console.log(
    `this machine stood still ${run.stalls.length} times, for ${longestMs} ms at most; ` +
      `${stalled.length} answers of 500 in these times count as no problem`,
  );
  for (const problem of problems) console.log(`PROBLEM  ${problem}`);
  console.log(
    problems.length > 0
      ? `${problems.length} problems`
      : "every promise was kept, and the audit has no findings",
  );
}

function countResults(sent: readonly Sent[]): string {
  return countBy(sent.map(({ result }) => result));
}

function countBy(words: readonly string[]): string {
  const counts = [...Map.groupBy(words, (word) => word)].map(([word, all]) => `${all.length} ${word}`);
  return counts.sort((a, b) => Number.parseInt(b, 10) - Number.parseInt(a, 10)).join(", ");
}
