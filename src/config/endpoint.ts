import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import type { Environment } from "./placeholders.ts";
import type { Problems } from "./problems.ts";

/** An address to listen on. */
export interface Endpoint {
  /** Host name or address; an IPv6 address has no brackets. */
  readonly host: string;
  readonly port: number;
}

const HOST_AND_PORT = /^(?:\[([\da-fA-F:.]+)\]|([\w.-]+)):(\d{1,5})$/;

/** Parses "host:port" and "[address]:port". Returns `undefined` for any other text. */
export function parseEndpoint(text: string): Endpoint | undefined {
  const [, address, name, digits] = HOST_AND_PORT.exec(text) ?? [];
  const host = address ?? name;
  const port = Number(digits);
  return host !== undefined && port <= 65_535 ? { host, port } : undefined;
}

/** Reads a variable that holds an endpoint, or "off", for which it returns `undefined`. */
export function readListen(name: string, text: string, problems: Problems): Endpoint | undefined {
  if (text === "off") return undefined;
  const endpoint = parseEndpoint(text);
  if (!endpoint) problems.add([name], "is not an address to listen on", "HOST:PORT or off");
  return endpoint;
}

/**
 * Certificates of one connection, as PEM text. `cert` and `key` are set together or not at all. A server with
 * `ca` requires client certificates; a client with `ca` trusts no other authority.
 */
export interface TlsFiles {
  readonly cert: string | undefined;
  readonly key: string | undefined;
  readonly ca: string | undefined;
}

/** Prefix of the variables: `LEDGER` for `LEDGER_TLS_CERT`, `LEDGER_TLS_KEY` and `LEDGER_TLS_CA`. */
type TlsOwner = "LEDGER" | "REDIS";

interface Place {
  readonly environment: Environment;
  /** Base of relative paths. */
  readonly folder: string;
}

/** Returns the names of the variables for certificate, key and authority. */
export function nameTlsVariables(owner: TlsOwner) {
  return { cert: `${owner}_TLS_CERT`, key: `${owner}_TLS_KEY`, ca: `${owner}_TLS_CA` };
}

/** Reads the PEM files that the variables name. */
export function readTlsFiles(owner: TlsOwner, place: Place, problems: Problems): TlsFiles {
  const names = nameTlsVariables(owner);
  const { [names.cert]: certPath, [names.key]: keyPath } = place.environment;
  if (certPath && !keyPath) problems.add([names.key], "is not set", `the key of ${names.cert}`);
  if (keyPath && !certPath) problems.add([names.cert], "is not set", `the certificate of ${names.key}`);
  const read = (name: string) => readPem(name, place, problems);
  const files = { cert: read(names.cert), key: read(names.key), ca: read(names.ca) };
  if (files.cert && files.key && !isPair(files.cert, files.key)) {
    problems.add([names.key], `is not the key of ${names.cert}`, "a certificate and its own key");
  }
  return files;
}

function isPair(cert: string, key: string): boolean {
  try {
    return new X509Certificate(cert).checkPrivateKey(createPrivateKey(key));
  } catch {
    return false;
  }
}

function readPem(name: string, { environment, folder }: Place, problems: Problems): string | undefined {
  const path = environment[name];
  if (!path) return undefined;
  try {
    const text = readFileSync(resolve(folder, path), "utf8");
    if (!text.includes("-----BEGIN ")) problems.add([name], "names a file that is not PEM", "a PEM file");
    return text;
  } catch {
    problems.add([name], "names a file that cannot be read", "a PEM file");
    return undefined;
  }
}
