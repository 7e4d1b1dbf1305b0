import { describe } from "bun:test";
import { useLimiter } from "./clients.ts";
import { describeClock } from "./clock.ts";
import { describeConcurrency } from "./concurrency.ts";
import { describeEndings } from "./endings.ts";
import type { OpenLimiter } from "./harness.ts";
import { describeHostile } from "./hostile.ts";
import { describeIsolation } from "./isolation.ts";
import { describeLeases } from "./leases.ts";
import { describeRequests } from "./requests.ts";
import { describeSimultaneous } from "./simultaneous.ts";
import { describeState } from "./state.ts";
import { describeTokens } from "./tokens.ts";

/**
 * Tests of the contract of {@link import("../../../src/limiter/limiter.ts").Limiter}. They use only the
 * interface, with numbers that can be checked by hand. `isShared` adds the tests of leases between replicas.
 */
export function describeLimiter(name: string, open: OpenLimiter, { isShared }: { isShared: boolean }): void {
  describe(name, () => {
    const clients = useLimiter(open);
    describeRequests(clients);
    describeTokens(clients);
    describeConcurrency(clients);
    describeEndings(clients);
    describeSimultaneous(clients);
    describeIsolation(clients);
    describeState(clients);
    describeHostile(clients);
    describeClock(clients);
    if (isShared) describeLeases(clients);
  });
}
