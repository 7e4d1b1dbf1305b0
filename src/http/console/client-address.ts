import { BlockList, isIP, isIPv6 } from "node:net";

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
