import { beforeEach } from "bun:test";
import { openForTests } from "./open-for-tests.ts";
import { startTestGateway, type TestGateway, type TestGatewayOptions } from "./test-gateway.ts";

/**
 * Starts a gateway before the first test of a file and stops it after the last one. Its upstream forgets its
 * scripts and requests before each test. Throws when it is used before the first test.
 */
export function gatewayForTests(options?: TestGatewayOptions): TestGateway {
  const gateway = openForTests(
    () => startTestGateway(options),
    (started) => started.stop(),
  );
  beforeEach(() => gateway.upstream.reset());
  return gateway;
}
