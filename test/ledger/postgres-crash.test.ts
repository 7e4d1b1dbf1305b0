import { expect, test } from "bun:test";
import { SQL } from "bun";
import { openPostgres } from "../../src/db/postgres/database.ts";
import { createPostgresLedger } from "../../src/ledger/postgres/ledger.ts";
import { startPostgresServer } from "../support/postgres-server.ts";
import { startCuttingProxy } from "./cutting-proxy.ts";
import { holdOf, WALLET } from "./samples.ts";

const OTHER = "other";

/**
 * When the kernel kills a backend, the postmaster restarts all of them. Transactions that were not on disk
 * are lost, and later transactions get their ids.
 */
test("a top-up whose commit a crash undid is not mistaken for a later commit with its transaction id", async () => {
  const server = await startPostgresServer();
  const proxy = await startCuttingProxy(server.url);
  const database = await openPostgres(server.url);
  const replica = createPostgresLedger({ database });
  for (const walletId of [WALLET, OTHER]) await replica.createWallet(walletId);
  await replica.topUp({ walletId: OTHER, topUpId: "funds", amount: 1_000n });
  for (let round = 0; round < 3; round++) {
    const victim = await openBackend(server.url);
    const witness = await openBackend(server.url);
    const cutDatabase = await openPostgres(proxy.url);
    const ledger = createPostgresLedger({ database: cutDatabase, busyMaxMs: 60_000 });
    const isCut = proxy.cutNext("before commit");
    const topUp = ledger.topUp({ walletId: WALLET, topUpId: `t${round}`, amount: 7n });
    await isCut;
    process.kill(victim.pid, "SIGKILL");
    await Promise.all([topUp, untilHeld(replica, witness.isReplaced)]);
    expect(await replica.balances(WALLET)).toMatchObject({ posted: 7n * BigInt(round + 1) });
    await ledger.close();
    await cutDatabase.close();
    await victim.close();
    await witness.close();
  }
  await replica.close();
  await database.close();
  await proxy.close();
  await server.stop();
});

async function openBackend(url: string) {
  const client = new SQL(url, { max: 1 });
  const readPid = async () => Number((await client.unsafe("SELECT pg_backend_pid() AS pid"))[0].pid);
  const pid = await readPid();
  return {
    pid,
    /** Whether the server has restarted its backends and answers again. */
    isReplaced: async () => (await readPid()) !== pid,
    close: () => client.close().catch(() => undefined),
  };
}

/** Commits holds of another process until the server has restarted and accepts one. The restart may come late. */
async function untilHeld(
  replica: ReturnType<typeof createPostgresLedger>,
  isRestarted: () => Promise<boolean>,
): Promise<void> {
  for (;;) {
    try {
      const isLast = await isRestarted();
      const taken = await replica.hold(holdOf(0n, { walletId: OTHER, holdId: Bun.randomUUIDv7() }));
      if (isLast && !taken.replayed) return;
    } catch {
      await Bun.sleep(10);
    }
  }
}
