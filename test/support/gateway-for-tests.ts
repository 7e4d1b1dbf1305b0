import { afterAll, beforeAll, beforeEach } from "bun:test";
import { startTestGateway, type TestGateway, type TestGatewayOptions } from "./test-gateway.ts";

/**
 * The gateway of one test file: starts before the first test, stops after the last one, and forgets the scripts and
 * requests of its upstream before each. Throws when it is used before the first test.
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
