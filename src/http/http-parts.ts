import type { Gateway } from "../gateway/gateway.ts";
import type { BodyBudget } from "./body-budget.ts";
import type { RunningRequests } from "./running-requests.ts";

/** What the routes need: the gateway, and the state of this process's HTTP side. */
export interface HttpParts {
  /** As it is configured now; a request keeps the one that it came in with. */
  gateway(): Gateway;
  readonly bodyBudget: BodyBudget;
  readonly running: RunningRequests;
  /** False while draining, and while something that requests need does not answer. */
  isReady(): Promise<boolean>;
  /** Lets the connection of a request be closed as idle again; to be said before its last byte goes out. */
  letIdle(request: Request): void;
}
