import type { Gateway } from "../gateway/gateway.ts";
import type { BodyBudget } from "./body-budget.ts";
import type { ConnectionIdle } from "./connection-idle.ts";
import type { CorsOrigins } from "./cors.ts";
import type { IncomingBodies } from "./incoming-bodies.ts";
import type { Readiness } from "./readiness.ts";

/** The dependencies of the routes: the gateway, and the HTTP state of this process. */
export interface HttpParts {
  /** Returns the gateway under the latest configuration. A request keeps the one that it began with. */
  gateway(): Gateway;
  readonly bodyBudget: BodyBudget;
  readonly incomingBodies: IncomingBodies;
  readonly running: RunningRequests;
  /** Returns the allowed origins of the latest configuration; `undefined` when pages may read no response. */
  corsOrigins(): CorsOrigins | undefined;
  /** Resolves with the latest result of each check. */
  readiness(): Promise<Readiness>;
  isDraining(): boolean;
  readonly connectionIdle: ConnectionIdle;
  /** Answers `/console` and everything below it. `peer` is the address of the connection. */
  console(request: Request, peer: string | undefined): Promise<Response>;
}

/** Counts the model requests that are not settled, for which a shutdown waits. */
export interface RunningRequests {
  begin(): void;
  end(): void;
  /** Resolves when no request is running. */
  idle(): Promise<void>;
}

export function createRunningRequests(): RunningRequests {
  let count = 0;
  let waiting: (() => void)[] = [];
  return {
    begin: () => {
      count += 1;
    },
    end: () => {
      count -= 1;
      if (count > 0) return;
      for (const resolve of waiting) resolve();
      waiting = [];
    },
    idle: () => (count === 0 ? Promise.resolve() : new Promise((resolve) => waiting.push(resolve))),
  };
}
