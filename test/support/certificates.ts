import { readFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../ledger/samples.ts";

/** PEM texts. */
interface Certified {
  readonly cert: string;
  readonly key: string;
}

/** What a server and its caller need to trust each other, made for one test. */
export interface Certificates extends Disposable {
  /** The authority's own certificate, as PEM. */
  readonly authority: string;
  /** For 127.0.0.1 and localhost. */
  readonly server: Certified;
  readonly caller: Certified;
}

const CURVE = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"];
const NAMES = "subjectAltName=DNS:localhost,IP:127.0.0.1";

/** A new authority each time: certificates of two do not trust each other. */
export function makeCertificates(): Certificates {
  const folder = temporaryFolder();
  const openssl = (...options: readonly string[]) => {
    const { exitCode, stderr } = Bun.spawnSync(["openssl", ...options], { cwd: folder.path, stderr: "pipe" });
    if (exitCode !== 0) throw new Error(`openssl failed: ${stderr}`);
  };
  const read = (name: string) => readFileSync(join(folder.path, name), "utf8");
  const issue = (name: string) => {
    const signed = ["-CA", "ca.pem", "-CAkey", "ca.key", "-subj", `/CN=${name}`, "-addext", NAMES];
    openssl("req", "-x509", ...CURVE, ...signed, "-keyout", `${name}.key`, "-out", `${name}.pem`);
    return { cert: read(`${name}.pem`), key: read(`${name}.key`) };
  };

  openssl("req", "-x509", ...CURVE, "-keyout", "ca.key", "-out", "ca.pem", "-subj", "/CN=authority");
  return {
    authority: read("ca.pem"),
    server: issue("server"),
    caller: issue("caller"),
    [Symbol.dispose]: folder.remove,
  };
}
