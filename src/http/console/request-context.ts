import { BlockList, isIP, isIPv6 } from "node:net";
import type { Visitor } from "../../accounts/people/sign-in.ts";

/** Facts about a request that are found before its routes run. */
interface RequestContext {
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

/**
 * Returns a function that finds the address of a caller: the peer of the connection, or the last address of
 * `x-forwarded-for` that no trusted proxy has. Headers from peers that are no trusted proxies are ignored.
 */
export function createAddressOf(trustedProxies: readonly string[]) {
  const trusted = readNetworks(trustedProxies);
  const isTrusted = (address: string) => trusted.check(address, isIPv6(address) ? "ipv6" : "ipv4");
  return ({ headers }: Request, connected: string | undefined): string | undefined => {
    const peer = connected === undefined ? undefined : plain(connected);
    if (peer === undefined || isIP(peer) === 0 || !isTrusted(peer)) return peer;
    const hops = (headers.get("x-forwarded-for") ?? "").split(",").map((hop) => plain(hop.trim()));
    let address = peer;
    for (const hop of hops.reverse()) {
      // What a proxy could not have written ends the list: everything before it may be made up.
      if (isIP(hop) === 0) return address;
      address = hop;
      if (!isTrusted(hop)) return hop;
    }
    return address;
  };
}

/** Reads addresses and networks in CIDR notation, which the configuration has checked. */
function readNetworks(texts: readonly string[]): BlockList {
  const list = new BlockList();
  for (const text of texts) {
    const [address = "", prefix] = text.split("/");
    const family = isIPv6(address) ? "ipv6" : "ipv4";
    if (prefix === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(prefix), family);
  }
  return list;
}

/** Writes an IPv4 address that a socket of both families shows as IPv6 in its own form. */
function plain(address: string): string {
  return /^::ffff:(\d{1,3}(?:\.\d{1,3}){3})$/i.exec(address)?.[1] ?? address;
}
