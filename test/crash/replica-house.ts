import { rmSync } from "node:fs";
import { join } from "node:path";
import { SQL } from "bun";
import { connectLedger } from "../../src/ledger-grpc/client.ts";
import { findJournals } from "../../src/settlement-outbox/outbox.ts";
import { freePort } from "../support/free-port.ts";
import { startPostgresServer } from "../support/postgres-server.ts";
import { firstIdOf, type House, type StoredHold } from "./house.ts";
import { createHouseFolder, fundDemo, isReady, secretOf, TOKEN } from "./house-parts.ts";
import { createProgram, runCommand } from "./program.ts";

/** A gateway, a ledger process that it calls over gRPC, and a PostgreSQL below both. */
export async function openReplicaHouse(): Promise<House> {
  const { folder, configuration } = createHouseFolder();
  const postgres = await startPostgresServer();
  const [port, ledgerPort] = [freePort(), freePort()];
  const url = `http://127.0.0.1:${port}`;
  const address = `127.0.0.1:${ledgerPort}`;
  const shared = {
    DATABASE_URL: postgres.url,
    LEDGER_TOKEN: TOKEN,
    LOG_LEVEL: "warn",
    TOLLGATE_DATA: join(folder, "data"),
  };
  const ofLedger = { ...shared, LEDGER_LISTEN: address };
  const ofGateway = {
    ...shared,
    PORT: `${port}`,
    METRICS_LISTEN: "off",
    LEDGER_URL: `grpc://${address}`,
    TOLLGATE_CONFIG: configuration,
  };
  const remote = connectLedger({ address, token: TOKEN });
  const isServing = () =>
    remote.ping().then(
      () => true,
      () => false,
    );
  const ledger = createProgram({ name: "ledger", folder, environment: ofLedger, isServing });
  const gateway = createProgram({
    name: "serve",
    folder,
    environment: ofGateway,
    isServing: () => isReady(url),
  });
  await ledger.start();
  await gateway.start();
  const secret = await secretOf(gateway);
  const walletId = await fundDemo({ folder, environment: ofGateway });

  return {
    name: "replicas",
    url,
    secret,
    ledger: remote,
    walletId,
    victims: [
      { name: "gateway", kill: gateway.kill, start: gateway.start },
      { name: "ledger", kill: ledger.kill, start: ledger.start },
      { name: "postgres", kill: postgres.kill, start: postgres.start },
    ],
    programs: [gateway, ledger],
    ...readBooks(postgres.url),
    countJournaled: () => findJournals(shared.TOLLGATE_DATA).reduce((sum, { entries }) => sum + entries, 0),
    audit: async () => void (await runCommand(["audit"], { folder, environment: shared })),
    async close() {
      await remote.close();
      await gateway.stop();
      await ledger.stop();
      await postgres.stop();
      rmSync(folder, { recursive: true });
    },
  };
}

/** Each question over a connection of its own: the server is killed in between. */
function readBooks(url: string) {
  const ask = async <Row>(work: (client: SQL) => Promise<Row[]>) => {
    const client = new SQL(url, { max: 1, bigint: true });
    return work(client).finally(() => client.close());
  };
  const count = async (beforeMs: number) => {
    const rows = await ask<{ open: bigint }>(
      (client) =>
        client`SELECT count(*) AS open FROM holds WHERE state = 'held' AND expires_at_ms < ${beforeMs}`,
    );
    return Number(rows[0]?.open);
  };
  return {
    async readHolds(sinceMs: number) {
      const rows = await ask<StoredHold & { hold_id: string }>(
        (client) => client`SELECT hold_id, state, captured FROM holds
          WHERE hold_id >= ${firstIdOf(sinceMs)}::uuid`,
      );
      return new Map(rows.map((row) => [row.hold_id, row]));
    },
    countOverdue: (graceMs: number) => count(Date.now() - graceMs),
    countOpen: () => count(Number.MAX_SAFE_INTEGER),
  };
}
