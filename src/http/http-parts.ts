import type { Gateway } from "../gateway/gateway.ts";
import type { BodyBudget } from "./body-budget.ts";
import type { ConnectionIdle } from "./connection-idle.ts";
import type { CorsOrigins } from "./cors.ts";
import type { IncomingBodies } from "./incoming-bodies.ts";
import type { RunningRequests } from "./running-requests.ts";

/** The dependencies of the routes: the gateway, and the HTTP state of this process. */
export interface HttpParts {
  /** Returns the gateway under the latest configuration. A request keeps the one that it began with. */
  gateway(): Gateway;
  readonly bodyBudget: BodyBudget;
  readonly incomingBodies: IncomingBodies;
  readonly running: RunningRequests;
  /** Returns the allowed origins of the latest configuration; `undefined` when pages may read no response. */
  corsOrigins(): CorsOrigins | undefined;
  /** Resolves with `false` while draining, and while a dependency does not answer. */
  isReady(): Promise<boolean>;
  readonly connectionIdle: ConnectionIdle;
}
