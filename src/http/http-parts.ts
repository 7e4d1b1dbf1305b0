import type { Gateway } from "../gateway/gateway.ts";
import type { BodyBudget } from "./body-budget.ts";
import type { ConnectionIdle } from "./connection-idle.ts";
import type { CorsOrigins } from "./cors.ts";
import type { IncomingBodies } from "./incoming-bodies.ts";
import type { RunningRequests } from "./running-requests.ts";

/** What the routes need: the gateway, and the state of this process's HTTP side. */
export interface HttpParts {
  /** As it is configured now; a request keeps the one that it came in with. */
  gateway(): Gateway;
  readonly bodyBudget: BodyBudget;
  readonly incomingBodies: IncomingBodies;
  readonly running: RunningRequests;
  /** As they are configured now; `undefined` where no page of a browser may read an answer. */
  corsOrigins(): CorsOrigins | undefined;
  /** False while draining, and while something that requests need does not answer. */
  isReady(): Promise<boolean>;
  readonly connectionIdle: ConnectionIdle;
}
