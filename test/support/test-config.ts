import { join } from "node:path";
import type { Config } from "../../src/config/config.ts";

/** The configuration of a gateway over SQLite in a folder: no models, no limits, nothing that listens beside it. */
export function testConfig(folder: string, more: Partial<Config>): Config {
  return {
    host: "127.0.0.1",
    port: 0,
    metricsListen: undefined,
    database: { dialect: "sqlite", path: join(folder, "tollgate.db") },
    dataFolder: folder,
    ledger: {
      listen: undefined,
      remote: undefined,
      tokens: [],
      tls: { cert: undefined, key: undefined, ca: undefined },
    },
    walletsPerBatch: undefined,
    logLevel: "info",
    traces: undefined,
    isDemoOnly: false,
    upstreams: [],
    models: [],
    keyLimits: {},
    accountLimits: {},
    console: {
      publicUrl: undefined,
      trustedProxies: [],
      mail: undefined,
      stripe: { secretKey: undefined, webhookSecret: undefined },
    },
    limiter: { redis: undefined, onFailure: "local", replicas: 1 },
    bodyBytesInFlightMax: 512 * 1024 * 1024,
    clientDisconnect: "charge_input",
    accountBodyBytesMax: undefined,
    idleS: undefined,
    sockets: {
      ...{ total: 10_000, perAccount: 10_000, perKey: 10_000 },
      ...{ memoryBytes: 256 * 1024 * 1024, accountMemoryBytes: 64 * 1024 * 1024 },
    },
    recordings: { accountBytes: 1024 * 1024, totalBytes: 4 * 1024 * 1024 },
    holdTtlMs: 60_000,
    drainMs: 2_000,
    ...more,
  };
}
