import { describe, expect, test } from "bun:test";
import { credentials, Metadata } from "@grpc/grpc-js";
import { LedgerError } from "../../src/ledger/ledger.ts";
import { LedgerListenError } from "../../src/ledger-grpc/server/server.ts";
import { makeCertificates } from "../support/certificates.ts";
import { createCaller, failureOf, serve, stubLedger, TOKEN, tokenOf } from "./served.ts";
import { askReflection, connectHealth } from "./service-clients.ts";

describe("a token", () => {
  test.each([
    ["is missing", new Metadata()],
    ["is wrong", tokenOf("another-token-of-test")],
    ["is the right one without its last character", tokenOf(TOKEN.slice(0, -1))],
    ["is the right one and a character more", tokenOf(`${TOKEN}x`)],
    ["has no scheme", withHeader(TOKEN)],
    ["has another scheme", withHeader(`Basic ${TOKEN}`)],
    ["is followed by another", withHeader(`Bearer ${TOKEN}, Bearer x`)],
  ])("that %s is denied with UNAUTHENTICATED", async (_, metadata) => {
    await using served = await serve();
    const failure = await failureOf(served.call("Ping", {}, {}, metadata));
    expect(failure).toMatchObject({ code: "UNAUTHENTICATED", reason: "UNAUTHENTICATED" });
    const stream = served.stream(metadata);
    const ended = Promise.withResolvers<number>();
    stream.on("error", () => undefined);
    stream.on("data", () => undefined);
    stream.on("status", ({ code }) => ended.resolve(code));
    expect(await ended.promise).toBe(16);
    expect(served.logged).toEqual(["ledger call without the token"]);
  });

  test("with its scheme in lower case is accepted", async () => {
    await using served = await serve();
    expect(await served.call("Ping", {}, {}, withHeader(`bearer ${TOKEN}`))).toEqual({});
  });

  test("is required by reflection but not by health", async () => {
    await using served = await serve();
    const { address } = served.server;
    expect(await failureOf(askReflection(address, new Metadata()))).toMatchObject({
      code: "UNAUTHENTICATED",
    });
    using health = connectHealth(address);
    expect(await health.check("")).toBe("SERVING");
  });
});

describe("health", () => {
  test("of the server and of the ledger service follows the database", async () => {
    let isUp = false;
    const ledger = stubLedger({
      ping: () => (isUp ? Promise.resolve() : Promise.reject(new LedgerError("unavailable"))),
    });
    await using served = await serve({ ledger });
    using health = connectHealth(served.server.address);
    expect(await health.check("")).toBe("NOT_SERVING");
    using watch = health.watch("tollgate.ledger.v1.LedgerService");
    expect(await watch.next()).toBe("NOT_SERVING");
    isUp = true;
    expect(await watch.next()).toBe("SERVING");
    isUp = false;
    expect(await watch.next()).toBe("NOT_SERVING");
  });

  test("of an unknown service is NOT_FOUND", async () => {
    await using served = await serve();
    using health = connectHealth(served.server.address);
    expect(await failureOf(health.check("other.Service"))).toMatchObject({ code: "NOT_FOUND" });
  });

  test("is NOT_SERVING while the server stops, and a watcher does not delay the stop", async () => {
    await using served = await serve();
    using health = connectHealth(served.server.address);
    using watch = health.watch("");
    expect(await watch.next()).toBe("SERVING");
    const stopped = served.server.stop();
    expect(await watch.next()).toBe("NOT_SERVING");
    expect(await watch.ended).toBe("UNAVAILABLE");
    await stopped;
  });
});

describe("reflection", () => {
  test.each(["v1", "v1alpha"] as const)("%s lists the ledger service", async (version) => {
    await using served = await serve();
    expect(await askReflection(served.server.address, tokenOf(TOKEN), version)).toEqual([
      "tollgate.ledger.v1.LedgerService",
    ]);
  });
});

describe("TLS", () => {
  test("serves clients that trust the authority, and no others", async () => {
    using made = makeCertificates();
    const { server, authority } = made;
    await using served = await serve({ tls: { ...server, ca: undefined } });
    const address = nameOf(served.server.address);
    const trusting = createCaller(address, credentials.createSsl(Buffer.from(authority)));
    expect(await trusting.call("Ping", {})).toEqual({});
    const distrusting = createCaller(address, credentials.createSsl());
    expect(await failureOf(distrusting.call("Ping", {}))).toMatchObject({ code: "UNAVAILABLE" });
    trusting.client.close();
    distrusting.client.close();
  });

  test("with a client authority admits clients with a certificate and the token", async () => {
    using made = makeCertificates();
    const { server, caller, authority } = made;
    await using served = await serve({ tls: { ...server, ca: authority } });
    const address = nameOf(served.server.address);
    const ca = Buffer.from(authority);
    const known = createCaller(
      address,
      credentials.createSsl(ca, Buffer.from(caller.key), Buffer.from(caller.cert)),
    );
    expect(await known.call("Ping", {})).toEqual({});
    expect(await failureOf(known.call("Ping", {}, {}, new Metadata()))).toMatchObject({
      code: "UNAUTHENTICATED",
    });
    const unknown = createCaller(address, credentials.createSsl(ca));
    expect(await failureOf(unknown.call("Ping", {}))).toMatchObject({ code: "UNAVAILABLE" });
    known.client.close();
    unknown.client.close();
  });

  test("without a certificate and key throws LedgerListenError", async () => {
    const error = await serve({ tls: { cert: undefined, key: undefined, ca: undefined } }).catch(
      (reason) => reason,
    );
    expect(error).toBeInstanceOf(LedgerListenError);
  });

  test("with an invalid certificate throws LedgerListenError", async () => {
    const error = await serve({ tls: { cert: "no PEM", key: "no PEM", ca: undefined } }).catch(
      (reason) => reason,
    );
    expect(error).toBeInstanceOf(LedgerListenError);
  });
});

function withHeader(value: string): Metadata {
  const metadata = new Metadata();
  metadata.set("authorization", value);
  return metadata;
}

/** The client library cannot verify the certificate of a bare IP address. */
function nameOf(address: string): string {
  return address.replace("127.0.0.1", "localhost");
}
