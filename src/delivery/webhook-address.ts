import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import { isLoopbackHost, isPublicAddress } from "../domain/addresses.ts";

interface AddressRules {
  /** For tests: this machine is a receiver too, without TLS. */
  readonly allowsLoopback: boolean;
}

const URL_LENGTH_MAX = 2_048;

/** Returns what is wrong with the URL of a webhook, to follow "webhook_url"; `undefined` when nothing is. */
export function findUrlProblem(text: string, { allowsLoopback }: AddressRules): string | undefined {
  const url = URL.parse(text);
  if (!url || text.length > URL_LENGTH_MAX) return "is not a URL";
  if (url.username || url.password) return "contains credentials";
  if (url.hash) return "has a fragment";
  const host = hostOf(url);
  if (allowsLoopback && isLoopbackHost(host) && /^https?:$/.test(url.protocol)) return undefined;
  if (url.protocol !== "https:") return "must begin with https";
  if (isIP(host) !== 0) return isPublicAddress(host) ? undefined : "names an address that is not public";
  const isName = /^[a-z\d_-]+(\.[a-z\d_-]+)*\.[a-z][a-z\d-]*\.?$/.test(host);
  return isName && !/\.(localhost|local|internal)\.?$/.test(host)
    ? undefined
    : "names a host that is not public";
}

/** The host of a URL, an IPv6 address without its brackets. */
export function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, "");
}

/**
 * Returns the address to connect to: of a name, one that was looked up now. Rejects when any address of the
 * name is not public. The connection must use this address: another look-up could answer differently.
 */
export async function findReceiver(url: URL, { allowsLoopback }: AddressRules): Promise<string> {
  const host = hostOf(url);
  const found = isIP(host) !== 0 ? [host] : (await lookup(host, { all: true })).map(({ address }) => address);
  const isAllowed = (address: string) =>
    isPublicAddress(address) || (allowsLoopback && isLoopbackHost(host) && isLoopbackHost(address));
  const [first] = found;
  if (first === undefined || !found.every(isAllowed)) throw new Error("The receiver is not public");
  return first;
}
