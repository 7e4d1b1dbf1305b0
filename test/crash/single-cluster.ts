import { Database } from "bun:sqlite";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { connectLedger } from "../../src/ledger-grpc/client/client.ts";
import { findOutboxes } from "../../src/settlement-outbox/folder.ts";
import { freePort } from "../support/free-port.ts";
import { type Cluster, firstIdOf, type StoredHold } from "./cluster.ts";
import { createClusterFolder, fundDemo, isReady, secretOf, TOKEN } from "./cluster-parts.ts";
import { createProgram, runCommand } from "./program.ts";

/** Opens a gateway with the default configuration: one process with a SQLite ledger. */
export async function openSingleCluster(): Promise<Cluster> {
  const { folder, configuration } = createClusterFolder();
  const [port, ledgerPort] = [freePort(), freePort()];
  const url = `http://127.0.0.1:${port}`;
  const address = `127.0.0.1:${ledgerPort}`;
  const environment = {
    PORT: `${port}`,
    LEDGER_LISTEN: address,
    METRICS_LISTEN: "off",
    LEDGER_TOKEN: TOKEN,
    TOLLGATE_CONFIG: configuration,
    LOG_LEVEL: "warn",
  };
  const gateway = createProgram({ name: "serve", folder, environment, isServing: () => isReady(url) });
  await gateway.start();
  const secret = await secretOf(gateway);
  const walletId = await fundDemo({ folder, environment });
  const ledger = connectLedger({ address, tokens: () => [TOKEN] });
  const storage = openStorage(join(folder, "data/tollgate.db"));

  return {
    name: "single",
    url,
    secret,
    ledger,
    walletId,
    killTargets: [{ name: "gateway", kill: gateway.kill, start: gateway.start }],
    programs: [gateway],
    ...storage,
    countQueued: () => findOutboxes(join(folder, "data")).reduce((sum, { entries }) => sum + entries, 0),
    audit: async () => void (await runCommand(["audit"], { folder, environment })),
    async close() {
      await ledger.close();
      await gateway.stop();
      storage.close();
      rmSync(folder, { recursive: true });
    },
  };
}

function openStorage(path: string) {
  const client = new Database(path, { readwrite: true, safeIntegers: true });
  client.run("PRAGMA busy_timeout = 5000");
  const count = (condition: string, ...parameters: number[]) =>
    Number(
      client
        .query(`SELECT count(*) FROM holds WHERE state = 'held' AND ${condition}`)
        .values(...parameters)[0]?.[0],
    );
  const holds = client.query<StoredHold & { hold_id: string }, [string]>(
    "SELECT hold_id, state, captured FROM holds WHERE hold_id >= ?",
  );
  return {
    async readHolds(sinceMs: number) {
      const rows = holds.all(firstIdOf(sinceMs));
      return new Map(rows.map((row) => [row.hold_id, row]));
    },
    countOverdue: async (graceMs: number) => count("expires_at_ms < ?", Date.now() - graceMs),
    countOpen: async () => count("true"),
    close: () => client.close(),
  };
}
