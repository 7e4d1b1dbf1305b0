import { SQL } from "bun";

/** A time in which this machine was too slow to prove anything, in Unix milliseconds. */
export interface Stall {
  readonly fromMs: number;
  readonly toMs: number;
}

export interface StallWatch {
  readonly stalls: readonly Stall[];
  stop(): Promise<void>;
}

/** The ledger gives up after two seconds, in which three gateways commit one after another. */
const STALL_MS = 400;
const EVERY_MS = 100;

/** Commits a row of its own every 100 ms, and records each commit, or sleep, that took 400 ms longer. */
export function watchStalls(databaseUrl: string): StallWatch {
  const stalls: Stall[] = [];
  let client = new SQL(databaseUrl, { max: 1 });
  let isStopped = false;
  const measure = async (expectedMs: number, work: Promise<unknown>) => {
    const fromMs = Date.now();
    await work;
    if (Date.now() - fromMs > expectedMs + STALL_MS) stalls.push({ fromMs, toMs: Date.now() });
  };
  const commit = () => client`INSERT INTO stall_probe VALUES (${Date.now()})`.execute();
  /** A killed server is no stall. */
  const reconnect = async () => {
    await client.close().catch(() => undefined);
    client = new SQL(databaseUrl, { max: 1 });
  };
  const watch = async () => {
    await client`CREATE TABLE stall_probe (at_ms bigint)`;
    while (!isStopped) {
      await measure(EVERY_MS, Bun.sleep(EVERY_MS));
      await measure(0, commit()).catch(reconnect);
    }
  };
  const watching = watch();
  return {
    stalls,
    async stop() {
      isStopped = true;
      await watching;
      await client.close();
    },
  };
}
