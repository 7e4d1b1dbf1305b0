import { readFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../ledger/samples.ts";

/** A certificate and its key, as PEM. */
interface Certified {
  readonly cert: string;
  readonly key: string;
}

/** A certificate authority with a server and a client certificate, for one test. */
export interface Certificates extends Disposable {
  /** The certificate of the authority, as PEM. */
  readonly authority: string;
  /** Valid for 127.0.0.1 and localhost. */
  readonly server: Certified;
  readonly caller: Certified;
}

const CURVE = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"];
const NAMES = "subjectAltName=DNS:localhost,IP:127.0.0.1";

/** Creates a new authority each time. Certificates of two authorities do not trust each other. */
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
