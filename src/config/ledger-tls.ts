import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import type { Environment } from "./placeholders.ts";
import type { Problems } from "./problems.ts";

/**
 * Certificates of the ledger's gRPC, as PEM text; `cert` and `key` are there together or not at all. A
 * server with `ca` demands certificates of its clients; a client with `ca` trusts no other authority.
 */
export interface LedgerTls {
  readonly cert: string | undefined;
  readonly key: string | undefined;
  readonly ca: string | undefined;
}

/** Reads the files that `LEDGER_TLS_CERT`, `LEDGER_TLS_KEY` and `LEDGER_TLS_CA` name. */
export function readLedgerTls(environment: Environment, folder: string, problems: Problems): LedgerTls {
  const read = (name: string) => readPem(name, environment[name], { folder, problems });
  const { LEDGER_TLS_CERT: certPath, LEDGER_TLS_KEY: keyPath } = environment;
  if (certPath && !keyPath) problems.add(["LEDGER_TLS_KEY"], "is not set", "the key of LEDGER_TLS_CERT");
  if (keyPath && !certPath) {
    problems.add(["LEDGER_TLS_CERT"], "is not set", "the certificate of LEDGER_TLS_KEY");
  }
  const tls = { cert: read("LEDGER_TLS_CERT"), key: read("LEDGER_TLS_KEY"), ca: read("LEDGER_TLS_CA") };
  if (tls.cert && tls.key && !isPair(tls.cert, tls.key)) {
    problems.add(["LEDGER_TLS_KEY"], "is not the key of LEDGER_TLS_CERT", "a certificate and its own key");
  }
  return tls;
}

function isPair(cert: string, key: string): boolean {
  try {
    return new X509Certificate(cert).checkPrivateKey(createPrivateKey(key));
  } catch {
    return false;
  }
}

function readPem(
  name: string,
  path: string | undefined,
  { folder, problems }: { readonly folder: string; readonly problems: Problems },
): string | undefined {
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
