import { rmSync } from "node:fs";
import { join } from "node:path";
import { SQL } from "bun";
import { connectLedger } from "../../src/ledger-grpc/client/client.ts";
import { findOutboxes } from "../../src/settlement-outbox/folder.ts";
import { freePort } from "../support/free-port.ts";
import { startPostgresServer } from "../support/postgres-server.ts";
import { type Cluster, firstIdOf, type StoredHold } from "./cluster.ts";
import { createClusterFolder, fundDemo, isReady, secretOf, TOKEN } from "./cluster-parts.ts";
import { createProgram, runCommand } from "./program.ts";

/** Opens a gateway, a ledger process that it calls over gRPC, and their PostgreSQL server. */
export async function openReplicaCluster(): Promise<Cluster> {
  const { folder, configuration } = createClusterFolder();
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
  const remote = connectLedger({ address, tokens: () => [TOKEN] });
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
    killTargets: [
      { name: "gateway", kill: gateway.kill, start: gateway.start },
      { name: "ledger", kill: ledger.kill, start: ledger.start },
      { name: "postgres", kill: postgres.kill, start: postgres.start },
    ],
    programs: [gateway, ledger],
    ...readStorage(postgres.url),
    countQueued: () => findOutboxes(shared.TOLLGATE_DATA).reduce((sum, { entries }) => sum + entries, 0),
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

/** Reads the database, each query over a new connection, because the server is killed in between. */
function readStorage(url: string) {
  const query = async <Row>(work: (client: SQL) => Promise<Row[]>) => {
    const client = new SQL(url, { max: 1, bigint: true });
    return work(client).finally(() => client.close());
  };
  const count = async (beforeMs: number) => {
    const rows = await query<{ open: bigint }>(
      (client) =>
        client`SELECT count(*) AS open FROM holds WHERE state = 'held' AND expires_at_ms < ${beforeMs}`,
    );
    return Number(rows[0]?.open);
  };
  return {
    async readHolds(sinceMs: number) {
      const rows = await query<StoredHold & { hold_id: string }>(
        (client) => client`SELECT hold_id, state, captured FROM holds
          WHERE hold_id >= ${firstIdOf(sinceMs)}::uuid`,
      );
      return new Map(rows.map((row) => [row.hold_id, row]));
    },
    countOverdue: (graceMs: number) => count(Date.now() - graceMs),
    countOpen: () => count(Number.MAX_SAFE_INTEGER),
  };
}
