import { join } from "node:path";
import type { Config } from "../../src/config/config.ts";
import type { DatabaseLocation } from "../../src/db/location.ts";
import { createLocation } from "../accounts/temp-storage.ts";
import { startDatabaseClock } from "../support/database-clock.ts";
import { startRedisServer } from "../support/redis-server.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { scriptedModel, scriptedRoute, scriptedUpstream } from "../support/test-catalog.ts";
import { startTestGateway, type TestGateway, type TestGatewayOptions } from "../support/test-gateway.ts";
import { type Company, foundCompany } from "./company.ts";
import { type LedgerClient, startLedgerClient } from "./ledger-client.ts";
import type { Desk } from "./places.ts";
import { type Stage, scriptUpstream } from "./play.ts";
import { PICOS, PREPARED_AT_MS } from "./script.ts";
import { type ScriptedClock, startScriptedClock } from "./scripted-clock.ts";

const TOKEN = "a-token-of-the-scripted-month-000";

/** The product with the accounts of the month, before its first request. */
export interface Month {
  readonly stage: Stage & { readonly company: Company; readonly grpc: LedgerClient };
  readonly desk: Desk;
  /** The file that an export writes. */
  readonly exportPath: string;
  /** Stops the gateways. Throws when the audit of their ledger finds a problem. */
  close(): Promise<void>;
}

/** Starts one gateway on SQLite, or two gateways on one PostgreSQL and one Redis, and founds the accounts. */
export async function startMonth(dialect: "sqlite" | "postgres"): Promise<Month> {
  const clock = startScriptedClock(PREPARED_AT_MS);
  const storage = await (dialect === "sqlite" ? openOwn() : openShared(clock));
  const { location } = storage;
  const folder = tempFolder();
  const exportPath = join(folder, "usage.jsonl");
  const gateways: TestGateway[] = [];
  for (let count = storage.gateways; count > 0; count -= 1)
    gateways.push(await startTestGateway(optionsOf(storage, exportPath)));
  const [first] = gateways;
  if (!first) throw new Error("no gateway");
  for (const { upstream } of gateways) scriptUpstream(upstream);
  const grpc = startLedgerClient(first.tollgate.ledgerAddress ?? "", TOKEN);
  const DATABASE_URL = location.dialect === "sqlite" ? `sqlite:${location.path}` : location.url;
  const desk = { folder, environment: { DATABASE_URL } };
  const company = await foundCompany({ url: first.url, ...desk, grpc });
  return {
    stage: { urls: gateways.map(({ url }) => url), clock, company, grpc },
    desk,
    exportPath,
    async close() {
      clock.end();
      await grpc.close();
      for (const gateway of gateways) await gateway.stop();
      await storage.close();
    },
  };
}

/** What the gateways of a month keep their state in. */
interface Storage {
  readonly gateways: number;
  readonly location: DatabaseLocation;
  readonly config: Partial<Config>;
  close(): Promise<void>;
}

async function openOwn(): Promise<Storage> {
  const { location, drop } = await createLocation("sqlite");
  return { gateways: 1, location, config: {}, close: drop };
}

/** Limits that no crowd meets: Redis must count each request, and a request that it cannot count is refused. */
const COUNTED = { requestsPerMinute: 1_000_000, tokensPerMinute: 1_000_000_000, concurrentRequests: 10_000 };

/** The ledger takes its time from PostgreSQL, whose clock follows the script. Redis keeps the machine's time. */
async function openShared(clock: ScriptedClock): Promise<Storage> {
  const [{ location, drop }, redis] = await Promise.all([createLocation("postgres"), startRedisServer()]);
  if (location.dialect !== "postgres") throw new Error("no PostgreSQL");
  const databaseClock = await startDatabaseClock(location.url);
  await clock.follow(databaseClock.passTo);
  const limiter = { redis: redis.location, onFailure: "deny", replicas: 2 } as const;
  return {
    gateways: 2,
    location,
    config: { limiter, keyLimits: COUNTED, accountLimits: COUNTED },
    async close() {
      await databaseClock.close();
      await drop();
      await redis.stop();
    },
  };
}

function optionsOf({ location, config }: Storage, exportPath: string): TestGatewayOptions {
  return {
    database: location,
    models: [modelOf("chat", "openai"), modelOf("claude", "anthropic")],
    upstreams: ({ openaiUrl, anthropicUrl }) => [
      scriptedUpstream("scripted-openai", "openai", { baseUrl: openaiUrl, hasResponses: true }),
      scriptedUpstream("scripted-anthropic", "anthropic", { baseUrl: anthropicUrl }),
    ],
    config: {
      ...config,
      ledger: {
        listen: { host: "127.0.0.1", port: 0 },
        remote: undefined,
        tokens: [TOKEN],
        tls: { cert: undefined, key: undefined, ca: undefined },
      },
      exports: [
        {
          ...{ kind: "file", name: "warehouse", path: exportPath, start: "beginning" },
          ...{ batchLines: 2_000, rotate: "size", rotateBytes: 2 ** 30 },
        },
      ],
    },
  };
}

function modelOf(id: string, protocol: "openai" | "anthropic") {
  const { input, output } = PICOS;
  const price = { input, output, cachedInput: input, cacheWrite: input, cacheWrite1h: input };
  const routes = [scriptedRoute(`scripted-${protocol}`, id, { price })];
  return scriptedModel(id, protocol, { price, routes });
}
