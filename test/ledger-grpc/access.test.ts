import { describe, expect, test } from "bun:test";
import { credentials, Metadata } from "@grpc/grpc-js";
import { LedgerError } from "../../src/ledger/ledger.ts";
import { LedgerListenError } from "../../src/ledger-grpc/server/server.ts";
import { makeCertificates } from "../support/certificates.ts";
import { createCaller, TOKEN, tokenOf } from "./caller.ts";
import { connectHealth } from "./health-client.ts";
import { askReflection } from "./reflection-client.ts";
import { failureOf, serve } from "./served.ts";
import { standInLedger } from "./stand-in-ledger.ts";

describe("the token", () => {
  test.each([
    ["is missing", new Metadata()],
    ["is another", tokenOf("another-token-of-test")],
    ["is a part of the right one", tokenOf(TOKEN.slice(0, -1))],
    ["is longer than the right one", tokenOf(`${TOKEN}x`)],
    ["comes without its scheme", withHeader(TOKEN)],
    ["comes under another scheme", withHeader(`Basic ${TOKEN}`)],
    ["comes with another behind it", withHeader(`Bearer ${TOKEN}, Bearer x`)],
  ])("that %s opens nothing", async (_, metadata) => {
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

  test("may name its scheme in lower case", async () => {
    await using served = await serve();
    expect(await served.call("Ping", {}, {}, withHeader(`bearer ${TOKEN}`))).toEqual({});
  });

  test("is asked of reflection, not of health", async () => {
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
  test("is that of the books, of the whole server and of the ledger service", async () => {
    let isUp = false;
    const ledger = standInLedger({
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

  test("of another service is NOT_FOUND", async () => {
    await using served = await serve();
    using health = connectHealth(served.server.address);
    expect(await failureOf(health.check("somebody.Else"))).toMatchObject({ code: "NOT_FOUND" });
  });

  test("is NOT_SERVING while the server stops, and a watcher does not hold it up", async () => {
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
  test("is spoken to who trusts the authority", async () => {
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

  test("with an authority of callers lets in who shows a certificate and the token", async () => {
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

  test("without a certificate to show is a named error", async () => {
    const error = await serve({ tls: { cert: undefined, key: undefined, ca: undefined } }).catch(
      (reason) => reason,
    );
    expect(error).toBeInstanceOf(LedgerListenError);
  });

  test("with a certificate that cannot be read is a named error", async () => {
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

/** The client library does no TLS to a bare IP address. */
function nameOf(address: string): string {
  return address.replace("127.0.0.1", "localhost");
}
