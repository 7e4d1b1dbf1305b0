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
 * The contract of {@link import("../../../src/limiter/limiter.ts").Limiter}, as tests that know nothing but
 * that interface, with numbers that a pencil can check. What is shared by replicas has leases too.
 */
export function describeLimiter(name: string, open: OpenLimiter, { isShared }: { isShared: boolean }): void {
  describe(name, () => {
    const callers = useLimiter(open);
    describeRequests(callers);
    describeTokens(callers);
    describeConcurrency(callers);
    describeEndings(callers);
    describeSimultaneous(callers);
    describeIsolation(callers);
    describeState(callers);
    describeHostile(callers);
    describeClock(callers);
    if (isShared) describeLeases(callers);
  });
}
