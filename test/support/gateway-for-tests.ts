import { afterAll, beforeAll, beforeEach } from "bun:test";
import { startTestGateway, type TestGateway, type TestGatewayOptions } from "./test-gateway.ts";

/**
 * Starts a gateway before the first test of a file and stops it after the last one. Its upstream forgets its
 * scripts and requests before each test. Throws when it is used before the first test.
 */
export function gatewayForTests(options?: TestGatewayOptions): TestGateway {
  let started: TestGateway | undefined;
  const running = (): TestGateway => {
    if (!started) throw new Error("The gateway has not started");
    return started;
  };
  beforeAll(async () => {
    started = await startTestGateway(options);
  });
  beforeEach(() => running().upstream.reset());
  afterAll(() => running().stop());

  return {
    get url() {
      return running().url;
    },
    get upstream() {
      return running().upstream;
    },
    get tollgate() {
      return running().tollgate;
    },
    get sqlite() {
      return running().sqlite;
    },
    get log() {
      return running().log;
    },
    get accountId() {
      return running().accountId;
    },
    get secret() {
      return running().secret;
    },
    newKey: (more) => running().newKey(more),
    newPayer: (usd, more) => running().newPayer(usd, more),
    balances: (accountId) => running().balances(accountId),
    receiptOf: (response, accountId) => running().receiptOf(response, accountId),
    nothingIsHeld: (accountId) => running().nothingIsHeld(accountId),
    stop: () => running().stop(),
  };
}
