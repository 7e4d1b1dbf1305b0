import { BlockList, isIP } from "node:net";

/** Loopback and private addresses, on which a base URL may be unencrypted. */
const PRIVATE = listOf("127.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "::1/128", "fc00::/7");

/** Addresses of IPv4 that are not on the public internet. @see https://www.iana.org/assignments/iana-ipv4-special-registry */
const SPECIAL_IPV4 = listOf(
  ...["0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12"],
  ...["192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15"],
  ...["198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4"],
);

/** The public addresses of IPv6, and those among them that lead elsewhere or nowhere: Teredo, 6to4, examples. */
const GLOBAL_IPV6 = listOf("2000::/3");
const SPECIAL_IPV6 = listOf("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20");

function listOf(...networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [address = "", bits] = network.split("/");
    list.addSubnet(address, Number(bits), isIP(address) === 6 ? "ipv6" : "ipv4");
  }
  return list;
}

/** Whether a host name, or an address without brackets, is this machine alone. */
export function isLoopbackHost(host: string): boolean {
  if (host === "localhost" || host.endsWith(".localhost") || host === "::1") return true;
  return isIP(host) === 4 && host.startsWith("127.");
}

const ANY_ADDRESS: Readonly<Record<string, string>> = { "0.0.0.0": "127.0.0.1", "::": "::1" };

/** Returns the host at which a server on `host` is reached from this machine, without brackets. */
export function reachableHost(host: string): string {
  return ANY_ADDRESS[host] ?? host;
}

/** Prints the address of a port, with brackets around one of IPv6. */
export function printAddress(host: string, port: number): string {
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}

/** Whether a host of a URL is this machine or an address of a private network. */
export function isPrivateHost(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, "");
  const version = isIP(host);
  return isLoopbackHost(host) || (version !== 0 && PRIVATE.check(host, version === 6 ? "ipv6" : "ipv4"));
}

/** Whether a text is an address on the public internet, to which webhooks may be sent. */
export function isPublicAddress(address: string): boolean {
  if (isIP(address) === 4) return !SPECIAL_IPV4.check(address, "ipv4");
  if (isIP(address) !== 6 || address.includes("%")) return false;
  return GLOBAL_IPV6.check(address, "ipv6") && !SPECIAL_IPV6.check(address, "ipv6");
}
