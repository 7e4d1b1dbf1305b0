import { Database } from "bun:sqlite";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { connectLedger } from "../../src/ledger-grpc/client.ts";
import { findJournals } from "../../src/settlement-outbox/outbox.ts";
import { freePort } from "../support/free-port.ts";
import { firstIdOf, type House, type StoredHold } from "./house.ts";
import { createHouseFolder, fundDemo, isReady, secretOf, TOKEN } from "./house-parts.ts";
import { createProgram, runCommand } from "./program.ts";

/** The gateway as it starts by default: one process with its ledger in a SQLite file. */
export async function openSingleHouse(): Promise<House> {
  const { folder, configuration } = createHouseFolder();
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
  const ledger = connectLedger({ address, token: TOKEN });
  const books = openBooks(join(folder, "data/tollgate.db"));

  return {
    name: "single",
    url,
    secret,
    ledger,
    walletId,
    victims: [{ name: "gateway", kill: gateway.kill, start: gateway.start }],
    programs: [gateway],
    ...books,
    countJournaled: () => findJournals(join(folder, "data")).reduce((sum, { entries }) => sum + entries, 0),
    audit: async () => void (await runCommand(["audit"], { folder, environment })),
    async close() {
      await ledger.close();
      await gateway.stop();
      books.close();
      rmSync(folder, { recursive: true });
    },
  };
}

function openBooks(path: string) {
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
