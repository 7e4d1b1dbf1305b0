import { afterAll, afterEach, beforeEach, describe, expect, test } from "bun:test";
import { LedgerError } from "../../src/ledger/ledger.ts";
import { connectLedger } from "../../src/ledger-grpc/client.ts";
import { LedgerLinkError } from "../../src/ledger-grpc/client-link-error.ts";
import type { ClientTls } from "../../src/ledger-grpc/client-tls.ts";
import { type LedgerServer, serveLedger } from "../../src/ledger-grpc/server.ts";
import { type OpenLedger, openLedger, WALLET } from "../ledger/samples.ts";
import { createCapturedLog } from "../support/captured-log.ts";
import { makeCertificates } from "../support/certificates.ts";
import { TOKEN } from "./served-process.ts";

const ours = makeCertificates();
const strangers = makeCertificates();

let books: OpenLedger;
let served: LedgerServer;

beforeEach(async () => {
  books = await openLedger(7n);
});

afterEach(async () => {
  await served.stop();
  await books.close();
});

afterAll(() => {
  ours[Symbol.dispose]();
  strangers[Symbol.dispose]();
});

async function serve(ca: string | undefined): Promise<void> {
  const listen = { host: "0.0.0.0", port: 0 };
  const tls = { ...ours.server, ca };
  served = await serveLedger({ ledger: books.ledger, listen, token: TOKEN, tls, log: createCapturedLog() });
}

/** What the wallet has, or why that cannot be asked. */
async function ask(tls: ClientTls | undefined, host = "127.0.0.1"): Promise<unknown> {
  const bounds = { outageMaxMs: 800, connectMaxMs: 600 };
  const address = served.address.replace("0.0.0.0", host);
  const ledger = connectLedger({ address, token: TOKEN, tls, ...bounds });
  try {
    return (await ledger.balances(WALLET)).posted;
  } catch (error) {
    if (!(error instanceof LedgerError && error.cause instanceof LedgerLinkError)) throw error;
    return error.cause.code;
  } finally {
    await ledger.close();
  }
}

describe("a ledger behind TLS", () => {
  test("is reached by who trusts its authority", async () => {
    await serve(undefined);
    expect(await ask({ ca: ours.authority })).toBe(7n);
    expect(await ask({ ca: ours.authority }, "localhost")).toBe(7n);
  });

  test("is not asked under an address that its certificate does not have", async () => {
    await serve(undefined);
    expect(await ask({ ca: ours.authority }, "127.0.0.2")).toBe("lost");
  });

  test("is not asked by who trusts another, nor without TLS", async () => {
    await serve(undefined);
    expect(await ask({ ca: strangers.authority })).toBe("lost");
    expect(await ask({})).toBe("lost");
    expect(await ask(undefined)).toBe("lost");
  });

  test("that wants to see certificates answers its own authority's alone", async () => {
    await serve(ours.authority);
    expect(await ask({ ca: ours.authority, ...ours.caller })).toBe(7n);
    expect(await ask({ ca: ours.authority })).toBe("lost");
    expect(await ask({ ca: ours.authority, ...strangers.caller })).toBe("lost");
  });
});
