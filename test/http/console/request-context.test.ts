import { describe, expect, test } from "bun:test";
import { createAddressOf } from "../../../src/http/console/request-context.ts";

const addressOf = createAddressOf(["10.0.0.0/8", "192.0.2.1", "2001:db8::/32"]);

function seen(peer: string | undefined, forwarded?: string): string | undefined {
  const headers = forwarded === undefined ? {} : { "x-forwarded-for": forwarded };
  return addressOf(new Request("http://console.test/", { headers }), peer);
}

describe("createAddressOf", () => {
  test.each([
    [
      "a peer that is no proxy is the caller, whatever it says",
      "198.51.100.7",
      "203.0.113.9",
      "198.51.100.7",
    ],
    ["the last address that no proxy has is the caller", "10.1.2.3", "203.0.113.9, 192.0.2.1", "203.0.113.9"],
    ["what a caller wrote itself does not count", "10.1.2.3", "127.0.0.1, 203.0.113.9", "203.0.113.9"],
    ["a text that is no address ends the list", "10.1.2.3", "203.0.113.9, unknown, 10.9.9.9", "10.9.9.9"],
    ["a proxy that forwards nothing is the caller", "10.1.2.3", undefined, "10.1.2.3"],
    ["an empty header names nobody", "10.1.2.3", "", "10.1.2.3"],
    ["IPv4 written as IPv6 is the same address", "::ffff:10.1.2.3", "::ffff:203.0.113.9", "203.0.113.9"],
    ["IPv6 proxies are known by their network", "2001:db8::5", "2001:db9::1", "2001:db9::1"],
    ["an unknown peer stays unknown", undefined, "203.0.113.9", undefined],
  ])("%s", (_name, peer, forwarded, address) => expect(seen(peer, forwarded)).toBe(address));

  test("trusts nobody when no proxy is configured", () => {
    const untrusting = createAddressOf([]);
    const request = new Request("http://console.test/", { headers: { "x-forwarded-for": "203.0.113.9" } });
    expect(untrusting(request, "127.0.0.1")).toBe("127.0.0.1");
  });
});
