import type { Visitor } from "../../accounts/people/sign-in.ts";

/** Facts about a request that are found before its routes run. */
export interface RequestContext {
  readonly requestId: string;
  /** The caller's address; behind a trusted proxy that of its client. */
  readonly address: string | undefined;
  /** The request as Bun received it; its signal aborts when the caller disconnects. */
  readonly received: Request;
}

const contexts = new WeakMap<Request, RequestContext>();

export function setContext(request: Request, context: RequestContext): void {
  contexts.set(request, context);
}

/** Throws for a request that did not come through the console's entry. */
export function contextOf(request: Request): RequestContext {
  const context = contexts.get(request);
  if (!context) throw new Error("The request has no context");
  return context;
}

/** The sender of a request, as the sign-in takes it. */
export function visitorOf(request: Request): Visitor {
  return { address: contextOf(request).address, headers: request.headers };
}
