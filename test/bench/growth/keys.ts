import { createAccount } from "../../../src/accounts/accounts.ts";
import { issueKey } from "../../../src/accounts/keys/keys.ts";
import type { Storage } from "../../../src/app/storage.ts";
import { parseUsd } from "../../../src/domain/money.ts";
import { type Contestants, startContestants } from "../contestants.ts";
import { openBenchStorage } from "../ledger/bench-storage.ts";
import { CONNECTIONS, type GrowthDurations, KEY_COUNTS } from "./plan.ts";
import { type GrowthPoint, measurePoint, printCount, warmUp } from "./point.ts";

/** Measures requests whose keys take turns. Each key has an account and a wallet of its own. */
export async function measureKeys(durations: GrowthDurations): Promise<readonly GrowthPoint[]> {
  const contestants = await startContestants();
  try {
    await warmUp(contestants);
    return await measureCounts(contestants, durations);
  } finally {
    await contestants.stop();
  }
}

async function measureCounts(
  contestants: Contestants,
  durations: GrowthDurations,
): Promise<readonly GrowthPoint[]> {
  const { gateway, gatewayProcess } = contestants;
  const storage = await openBenchStorage({ dialect: "sqlite", path: sqlitePath(gatewayProcess.databaseUrl) });
  const secrets: string[] = [];
  const points: GrowthPoint[] = [];
  try {
    for (const count of KEY_COUNTS) {
      await issueKeys(storage, secrets, count);
      const withKeys = {
        ...gateway,
        closedLoop: (job: Parameters<typeof gateway.closedLoop>[0]) =>
          gateway.closedLoop({ ...job, secrets }),
      };
      points.push(
        await measurePoint({ ...contestants, gateway: withKeys }, durations, {
          step: printCount(count),
          connections: CONNECTIONS,
        }),
      );
    }
  } finally {
    await storage.close();
  }
  if (!(await gatewayProcess.isAuditClean())) throw new Error("The audit found a problem");
  return points;
}

/** The path in a `sqlite:` URL. */
export function sqlitePath(databaseUrl: string): string {
  return databaseUrl.replace(/^sqlite:/, "");
}

const AT_ONCE = 100;

/** Adds keys until there are `count`. */
async function issueKeys(storage: Storage, secrets: string[], count: number): Promise<void> {
  while (secrets.length < count) {
    const first = secrets.length;
    const more = Math.min(AT_ONCE, count - first);
    secrets.push(
      ...(await Promise.all(Array.from({ length: more }, (_, at) => issueOne(storage, first + at)))),
    );
  }
}

async function issueOne(storage: Storage, number: number): Promise<string> {
  const account = await createAccount(storage, { name: `growth-${number}` });
  await storage.ledger.topUp({ walletId: account.id, topUpId: "seed", amount: parseUsd("1000000") });
  const { secret } = await issueKey(storage, { accountId: account.id, name: "growth" });
  return secret;
}
