// Imports the AWS packages at its top, and is itself imported at the first call of an upstream that signs.
import { createHash, createHmac } from "node:crypto";
import { defaultProvider } from "@aws-sdk/credential-provider-node";
import { SignatureV4 } from "@smithy/signature-v4";
import { within } from "../platform.ts";

/** Signs requests to one AWS service in one region. */
export interface AwsSigner {
  /** Returns the headers of a signed POST request, without `host`. Rejects without credentials. */
  sign(request: UnsignedRequest): Promise<Headers>;
  /** Rejects when there are no credentials. */
  requireCredentials(): Promise<void>;
  /**
   * Corrects clock and credentials by an answer that refused the signature. Returns whether another signature
   * may be accepted.
   */
  correct(answer: AwsRefusal): boolean;
}

interface UnsignedRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array | string;
}

/** An answer that refused a signature. */
interface AwsRefusal {
  /** The name of the exception, such as "ExpiredTokenException". */
  readonly type: string;
  /** The host's clock in Unix milliseconds; NaN if unknown. */
  readonly dateMs: number;
}

interface SignerOptions {
  readonly service: string;
  readonly region: string;
  /** Profile of the shared files; `undefined` for the default chain. */
  readonly profile: string | undefined;
  /** Unix milliseconds. */
  readonly now?: () => number;
}

/** AWS refuses a signature whose clock is five minutes off. */
const SKEW_MS_MAX = 4 * 60_000;
/** Longest wait for credentials; those of an instance or a container take milliseconds. */
const CREDENTIALS_MS_MAX = 10_000;
/** Shortest time between two refreshes that were asked for by refused calls. */
const REFRESH_EVERY_MS = 10_000;

const SIGNATURE_REFUSED =
  /^(?:InvalidSignature|SignatureDoesNotMatch|RequestTimeTooSkewed|RequestExpired|AuthFailure)/;
const CREDENTIALS_REFUSED = /^(?:ExpiredToken|UnrecognizedClient|InvalidClientTokenId)/;

/**
 * Creates a signer with the credentials of the SDK's default chain: environment, shared files, SSO, web
 * identity, container and instance. They are kept, refreshed before they expire, and fetched once for all
 * waiting calls.
 *
 * @see https://docs.aws.amazon.com/sdkref/latest/guide/standardized-credentials.html
 * @see https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv.html
 */
export function createAwsSigner({ service, region, profile, now = Date.now }: SignerOptions): AwsSigner {
  const provide = defaultProvider({
    ...(profile && { profile }),
    clientConfig: { region },
    logger: SILENT,
    // Else shared files that were missing or have changed would be read as they were the first time.
    ignoreCache: true,
  });
  /** Added to the own clock. */
  let skewMs = 0;
  let refreshedAtMs = Number.NEGATIVE_INFINITY;
  let isStale = false;

  const credentials = async () => {
    const identity = provide(isStale ? { forceRefresh: true } : undefined).catch((reason: unknown) => {
      throw new AwsCredentialsError(reason);
    });
    const found = await within(CREDENTIALS_MS_MAX, identity, () => {
      throw new AwsCredentialsError();
    });
    isStale = false;
    return found;
  };
  const signer = new SignatureV4({ service, region, credentials, sha256: Sha256 });

  return {
    async sign({ url, headers, body }) {
      const { hostname, host, pathname, protocol } = new URL(url);
      const digest = createHash("sha256").update(body).digest("hex");
      const request = {
        method: "POST",
        protocol,
        hostname,
        path: pathname,
        query: {},
        headers: { ...headers, host, "x-amz-content-sha256": digest },
      };
      const signed = await signer.sign(request, { signingDate: new Date(now() + skewMs) });
      const { host: _, ...sent } = signed.headers;
      return new Headers(sent);
    },
    async requireCredentials() {
      await credentials();
    },
    correct({ type, dateMs }) {
      if (CREDENTIALS_REFUSED.test(type)) {
        const isDue = now() - refreshedAtMs > REFRESH_EVERY_MS;
        if (isDue) refreshedAtMs = now();
        isStale ||= isDue;
        return true;
      }
      const offMs = dateMs - now() - skewMs;
      if (!SIGNATURE_REFUSED.test(type) || !(Math.abs(offMs) > SKEW_MS_MAX)) return false;
      skewMs += offMs;
      return true;
    },
  };
}

/** No credentials were found, or they could not be refreshed. Its message holds no text of a provider. */
class AwsCredentialsError extends Error {
  override readonly name = "AwsCredentialsError";
  readonly code = "NO_CREDENTIALS";

  constructor(cause?: unknown) {
    super("AWS credentials are unavailable", { cause });
  }
}

/** The chain's notes name files and profiles, and some go to stderr. */
const SILENT = { trace() {}, debug() {}, info() {}, warn() {}, error() {} };

/** SHA-256, or HMAC with a secret, in the form that the signer takes. */
class Sha256 {
  readonly #hash: ReturnType<typeof createHash> | ReturnType<typeof createHmac>;

  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    this.#hash = secret === undefined ? createHash("sha256") : createHmac("sha256", bytesOf(secret));
  }

  update(data: string | ArrayBuffer | ArrayBufferView): void {
    this.#hash.update(bytesOf(data));
  }

  digest(): Promise<Uint8Array> {
    return Promise.resolve(this.#hash.digest());
  }

  reset(): never {
    throw new Error("A hash is used once");
  }
}

function bytesOf(data: string | ArrayBuffer | ArrayBufferView): Uint8Array {
  if (typeof data === "string") return Buffer.from(data);
  return ArrayBuffer.isView(data)
    ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
    : new Uint8Array(data);
}
