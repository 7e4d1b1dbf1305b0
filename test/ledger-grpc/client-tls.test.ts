import { afterAll, afterEach, beforeEach, describe, expect, test } from "bun:test";
import { LedgerError } from "../../src/ledger/ledger.ts";
import { connectLedger } from "../../src/ledger-grpc/client/client.ts";
import type { ClientTls } from "../../src/ledger-grpc/client/link.ts";
import { LedgerLinkError } from "../../src/ledger-grpc/client/link-error.ts";
import { type LedgerServer, serveLedger } from "../../src/ledger-grpc/server/server.ts";
import { type OpenLedger, openLedger, WALLET } from "../ledger/samples.ts";
import { createCapturedLog } from "../support/captured-log.ts";
import { makeCertificates } from "../support/certificates.ts";
import { until } from "../support/until.ts";
import { PATIENT, TOKEN } from "./served.ts";

const ours = makeCertificates();
const others = makeCertificates();

let storage: OpenLedger;
let served: LedgerServer;

beforeEach(async () => {
  storage = await openLedger(7n);
});

afterEach(async () => {
  await served.stop();
  await storage.close();
});

afterAll(() => {
  ours[Symbol.dispose]();
  others[Symbol.dispose]();
});

async function serve(ca: string | undefined): Promise<void> {
  const listen = { host: "0.0.0.0", port: 0 };
  const tls = { ...ours.server, ca };
  served = await serveLedger({
    ledger: storage.ledger,
    listen,
    tokens: () => [TOKEN],
    tls,
    log: createCapturedLog(),
  });
}

/** A client that is refused tries again for as long. */
const IMPATIENT = { answerMaxMs: 5_000, outageMaxMs: 2_000, connectMaxMs: 2_000 };

/** Returns the posted balance, or the code of the link error. */
async function readPosted(
  tls: ClientTls | undefined,
  { host = "127.0.0.1", bounds = IMPATIENT } = {},
): Promise<unknown> {
  const address = served.address.replace("0.0.0.0", host);
  const ledger = connectLedger({ address, tokens: () => [TOKEN], tls, ...bounds });
  try {
    return (await ledger.balances(WALLET)).posted;
  } catch (error) {
    if (!(error instanceof LedgerError && error.cause instanceof LedgerLinkError)) throw error;
    return error.cause.code;
  } finally {
    await ledger.close();
  }
}

/** A slow machine may end the first attempt before the server has refused it. */
async function expectRefused(tls: ClientTls | undefined, host?: string): Promise<void> {
  await until(async () => {
    const posted = await readPosted(tls, { host });
    expect(posted).toBeOneOf(["lost", "silent"]);
    return posted === "lost";
  });
}

describe("a ledger behind TLS", () => {
  test("is reached by a client that trusts its authority", async () => {
    await serve(undefined);
    expect(await readPosted({ ca: ours.authority }, { bounds: PATIENT })).toBe(7n);
    expect(await readPosted({ ca: ours.authority }, { bounds: PATIENT, host: "localhost" })).toBe(7n);
  });

  test("is not reached under an address that its certificate lacks", async () => {
    await serve(undefined);
    await expectRefused({ ca: ours.authority }, "127.0.0.2");
  });

  test("is not reached by a client that trusts another authority, or without TLS", async () => {
    await serve(undefined);
    await expectRefused({ ca: others.authority });
    await expectRefused({});
    await expectRefused(undefined);
  });

  test("that requires client certificates accepts only those of its authority", async () => {
    await serve(ours.authority);
    expect(await readPosted({ ca: ours.authority, ...ours.caller }, { bounds: PATIENT })).toBe(7n);
    await expectRefused({ ca: ours.authority });
    await expectRefused({ ca: ours.authority, ...others.caller });
  });
});
