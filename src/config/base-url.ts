import { BlockList, isIP } from "node:net";

const PRIVATE = new BlockList();
PRIVATE.addSubnet("127.0.0.0", 8, "ipv4");
PRIVATE.addSubnet("10.0.0.0", 8, "ipv4");
PRIVATE.addSubnet("172.16.0.0", 12, "ipv4");
PRIVATE.addSubnet("192.168.0.0", 16, "ipv4");
PRIVATE.addAddress("::1", "ipv6");
PRIVATE.addSubnet("fc00::", 7, "ipv6");

/** Returns what is wrong with an upstream's base URL and what is expected. Neither text quotes the URL. */
export function findBaseUrlProblem(text: string): readonly [wrong: string, expected: string] | undefined {
  const url = URL.parse(text);
  if (!url) return ["is not a URL", "one such as https://api.openai.com/v1"];
  if (url.username || url.password) return ["contains credentials", "them in api_key"];
  // Also an empty query or fragment, which is not in `search` or `hash`: it would swallow an appended path.
  if (/[?#]/.test(url.href)) return ["has a query or a fragment", "a URL that ends with its path"];
  if (url.protocol === "https:") return undefined;
  if (url.protocol === "http:" && isPrivateHost(url.hostname)) return undefined;
  return ["is not encrypted", "https, or http on a loopback or private address"];
}

/** Removes slashes from the end of a base URL, so that paths can be appended. */
export function normaliseBaseUrl(text: string): string {
  return new URL(text).href.replace(/\/+$/, "");
}

function isPrivateHost(hostname: string): boolean {
  if (hostname === "localhost" || hostname.endsWith(".localhost")) return true;
  const address = hostname.replace(/^\[|\]$/g, "");
  const version = isIP(address);
  return version !== 0 && PRIVATE.check(address, version === 6 ? "ipv6" : "ipv4");
}
