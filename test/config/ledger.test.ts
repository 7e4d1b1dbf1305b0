import { afterAll, describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { loadStorageConfig } from "../../src/config/config.ts";
import { ConfigError } from "../../src/config/problems.ts";
import { makeCertificates } from "../support/certificates.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { placesOf } from "./temp-config.ts";

const TOKEN = "a-token-of-16-ch";
const REMOTE = { LEDGER_URL: "grpc://ledger:50051", LEDGER_TOKEN: TOKEN };

function loadLedger(environment: Record<string, string>, folder = tempFolder()) {
  return loadStorageConfig(environment, { folder }).ledger;
}

function placesIn(environment: Record<string, string>, folder = tempFolder()): readonly string[] {
  try {
    loadLedger(environment, folder);
    return [];
  } catch (thrown) {
    if (thrown instanceof ConfigError) return placesOf(thrown.problems);
    throw thrown;
  }
}

/** Creates a folder with these files. */
function folderWith(files: Record<string, string>): string {
  const folder = tempFolder();
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return folder;
}

const certificates = makeCertificates();
const { authority, server, caller } = certificates;
afterAll(() => certificates[Symbol.dispose]());
const PEM_FILES = { "cert.pem": server.cert, "key.pem": server.key, "ca.pem": authority };
const CERT_AND_KEY = { LEDGER_TLS_CERT: "cert.pem", LEDGER_TLS_KEY: "./key.pem" };
const CA = { LEDGER_TLS_CA: "ca.pem" };

describe("LEDGER_LISTEN", () => {
  test.each([
    ["127.0.0.1:50051", { host: "127.0.0.1", port: 50051 }],
    ["0.0.0.0:0", { host: "0.0.0.0", port: 0 }],
    ["[::1]:65535", { host: "::1", port: 65535 }],
    ["ledger.internal:1", { host: "ledger.internal", port: 1 }],
    ["off", undefined],
  ])("accepts %p", (text, listen) => expect(loadLedger({ LEDGER_LISTEN: text }).listen).toEqual(listen));

  test.each([
    "50051",
    ":50051",
    "h",
    "h:",
    "h:65536",
    "h:1:2",
    "::1:50051",
    "grpc://h:1",
    "h:1/",
    "h :1",
    "on",
  ])("rejects %p", (text) => expect(placesIn({ LEDGER_LISTEN: text })).toEqual(["LEDGER_LISTEN"]));
});

describe("LEDGER_URL", () => {
  test.each([
    ["grpc://ledger:50051", { address: "ledger:50051", isEncrypted: false }],
    ["grpcs://[::1]:443/", { address: "[::1]:443", isEncrypted: true }],
  ])("accepts %p, and serves no ledger unless LEDGER_LISTEN is set", (url, remote) => {
    expect(loadLedger({ ...REMOTE, LEDGER_URL: url })).toMatchObject({ remote, listen: undefined });
    const listen = { host: "127.0.0.1", port: 1 };
    expect(loadLedger({ ...REMOTE, LEDGER_URL: url, LEDGER_LISTEN: "127.0.0.1:1" })).toMatchObject({
      listen,
    });
  });

  test.each([
    "ledger:50051",
    "grpc://ledger",
    "grpc://u:p@h:1",
    "grpc://h:0",
    "grpc://h:1/x",
    "grpc://h:1?x",
    "http://h:1",
  ])("rejects %p", (url) => expect(placesIn({ ...REMOTE, LEDGER_URL: url })).toEqual(["LEDGER_URL"]));
});

describe("LEDGER_TOKEN", () => {
  test("is used unchanged", () => expect(loadLedger({ LEDGER_TOKEN: TOKEN }).tokens).toEqual([TOKEN]));

  test("is none when it is not set, so that serving the ledger creates it", () =>
    expect(loadLedger({}).tokens).toEqual([]));

  test.each(["x".repeat(15), "with a space in it", "line\nbreak-in-the-token", "ümlaut-in-the-token"])(
    "rejects %p",
    (token) => expect(placesIn({ LEDGER_TOKEN: token })).toEqual(["LEDGER_TOKEN"]),
  );

  test("is required for a remote ledger, as a variable or in the data folder", () => {
    const environment = { LEDGER_URL: "grpc://h:1", DATABASE_URL: "sqlite:x.db" };
    expect(placesIn(environment)).toEqual(["LEDGER_TOKEN"]);
    expect(loadLedger(environment, folderWith({ "ledger-token": `${TOKEN}\n` })).tokens).toEqual([TOKEN]);
    expect(placesIn(environment, folderWith({ "ledger-token": "short\n" }))).toEqual(["LEDGER_TOKEN"]);
  });
});

describe("LEDGER_TLS_CERT, _KEY and _CA", () => {
  test("are read from their files", () => {
    const { tls } = loadLedger({ ...CERT_AND_KEY, ...CA }, folderWith(PEM_FILES));
    expect(tls).toEqual({ ...server, ca: authority });
  });

  test("are a problem when the key does not belong to the certificate", () => {
    const folder = folderWith({ ...PEM_FILES, "key.pem": caller.key });
    expect(placesIn(CERT_AND_KEY, folder)).toEqual(["LEDGER_TLS_KEY"]);
  });

  test("are problems when a file is missing or not PEM, or certificate or key is not set", () => {
    const folder = folderWith({ ...PEM_FILES, "key.pem": "hello" });
    expect(placesIn({ ...CERT_AND_KEY, LEDGER_TLS_CERT: "gone.pem" }, folder)).toEqual([
      "LEDGER_TLS_CERT",
      "LEDGER_TLS_KEY",
    ]);
    expect(placesIn({ LEDGER_TLS_CERT: "cert.pem" }, folder)).toEqual(["LEDGER_TLS_KEY"]);
    expect(placesIn({ LEDGER_TLS_KEY: "ca.pem" }, folder)).toEqual(["LEDGER_TLS_CERT"]);
  });

  test("are problems when the connection would be in plain text in spite of them", () => {
    const folder = folderWith(PEM_FILES);
    expect(placesIn(CA, folder)).toEqual(["LEDGER_TLS_CA"]);
    expect(placesIn({ ...REMOTE, ...CA }, folder)).toEqual(["LEDGER_TLS_CA", "LEDGER_URL"]);
    expect(placesIn({ ...REMOTE, ...CERT_AND_KEY }, folder)).toEqual(["LEDGER_URL"]);
    const encrypted = { ...REMOTE, LEDGER_URL: "grpcs://h:1" };
    expect(placesIn({ ...encrypted, ...CA }, folder)).toEqual([]);
    expect(placesIn({ ...encrypted, ...CA, LEDGER_LISTEN: "h:1" }, folder)).toEqual(["LEDGER_TLS_CA"]);
  });
});
