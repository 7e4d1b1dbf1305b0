import { createHash, createHmac } from "node:crypto";

/** The facts of a request that its signature covers. */
export interface SignedRequest {
  readonly method: string;
  /** The raw path, as it came. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Uint8Array;
}

/** What a service knows of the caller whose signature it checks. */
export interface Expected {
  readonly region: string;
  readonly service: string;
  readonly secrets: ReadonlyMap<string, { readonly secret: string; readonly token?: string | undefined }>;
  readonly nowMs: number;
}

const FORM =
  /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/([^/]+)\/aws4_request, SignedHeaders=([a-z0-9;-]+), Signature=([0-9a-f]{64})$/;
const SKEW_MS_MAX = 5 * 60_000;

/**
 * Checks a SigV4 signature by the published algorithm. Returns the name of AWS's exception for a refused one,
 * or `undefined`.
 *
 * @see https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
 */
export function findSignatureProblem(request: SignedRequest, expected: Expected): string | undefined {
  const match = FORM.exec(headerOf(request, "authorization"));
  if (!match) return "MissingAuthenticationTokenException";
  const [, keyId = "", day = "", region = "", service = "", signedHeaders = "", signature = ""] = match;
  const known = expected.secrets.get(keyId);
  if (!known) return "UnrecognizedClientException";
  const names = signedHeaders.split(";");
  const mandatory = ["content-type", "host", "x-amz-content-sha256", "x-amz-date"];
  if (known.token !== undefined) mandatory.push("x-amz-security-token");
  if (mandatory.some((name) => !names.includes(name))) return "IncompleteSignatureException";
  if (known.token !== undefined && headerOf(request, "x-amz-security-token") !== known.token)
    return "UnrecognizedClientException";
  const date = headerOf(request, "x-amz-date");
  if (!date.startsWith(day) || Math.abs(timeOf(date) - expected.nowMs) > SKEW_MS_MAX)
    return "InvalidSignatureException";
  if (region !== expected.region || service !== expected.service) return "InvalidSignatureException";
  const digest = createHash("sha256").update(request.body).digest("hex");
  if (headerOf(request, "x-amz-content-sha256") !== digest) return "InvalidSignatureException";
  const scope = `${day}/${region}/${service}/aws4_request`;
  const canonical = createHash("sha256")
    .update(canonicalOf(request, names, digest))
    .digest("hex");
  const toSign = ["AWS4-HMAC-SHA256", date, scope, canonical].join("\n");
  const key = [day, region, service, "aws4_request"].reduce<Buffer | string>(hmac, `AWS4${known.secret}`);
  return hmac(key, toSign).toString("hex") === signature ? undefined : "InvalidSignatureException";
}

function canonicalOf(request: SignedRequest, names: readonly string[], digest: string): string {
  const headers = names.map((name) => `${name}:${headerOf(request, name).trim().replaceAll(/ +/g, " ")}\n`);
  // The path is encoded once more than it was sent; every service but S3 does so.
  const path = request.path.split("/").map(encode).join("/");
  return [request.method, path, "", headers.join(""), names.join(";"), digest].join("\n");
}

function encode(text: string): string {
  return encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (each) => `%${each.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function hmac(key: Buffer | string, text: string): Buffer {
  return createHmac("sha256", key).update(text).digest();
}

function headerOf({ headers }: SignedRequest, name: string): string {
  return String(headers[name] ?? "");
}

/** Reads "20261122T221500Z". */
function timeOf(date: string): number {
  return Date.parse(date.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, "$1-$2-$3T$4:$5:$6Z"));
}
