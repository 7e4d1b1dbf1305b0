import { join } from "node:path";
import { createLocation } from "../accounts/temp-storage.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { scriptedModel, scriptedRoute, scriptedUpstream } from "../support/test-catalog.ts";
import { startTestGateway, type TestGateway, type TestGatewayOptions } from "../support/test-gateway.ts";
import { type Company, foundCompany } from "./company.ts";
import { type LedgerClient, startLedgerClient } from "./ledger-client.ts";
import type { Desk } from "./places.ts";
import { type Stage, scriptUpstream } from "./play.ts";
import { PICOS, PREPARED_AT_MS } from "./script.ts";
import { startScriptedClock } from "./scripted-clock.ts";

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

/** Starts one gateway on SQLite, or two gateways on one PostgreSQL, and founds the accounts. */
export async function startMonth(dialect: "sqlite" | "postgres"): Promise<Month> {
  const clock = startScriptedClock(PREPARED_AT_MS);
  const books = await createLocation(dialect);
  const { location } = books;
  const folder = tempFolder();
  const exportPath = join(folder, "usage.jsonl");
  const gateways: TestGateway[] = [];
  for (let count = dialect === "postgres" ? 2 : 1; count > 0; count -= 1)
    gateways.push(await startTestGateway(optionsOf(location, exportPath)));
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
      await books.drop();
    },
  };
}

function optionsOf(database: TestGatewayOptions["database"], exportPath: string): TestGatewayOptions {
  return {
    ...(database && { database }),
    models: [modelOf("chat", "openai"), modelOf("claude", "anthropic")],
    upstreams: ({ openaiUrl, anthropicUrl }) => [
      scriptedUpstream("scripted-openai", "openai", { baseUrl: openaiUrl, hasResponses: true }),
      scriptedUpstream("scripted-anthropic", "anthropic", { baseUrl: anthropicUrl }),
    ],
    config: {
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
