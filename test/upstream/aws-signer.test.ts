import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAwsSigner } from "../../src/upstream/aws-signer.ts";
import { findSignatureProblem } from "../support/bedrock/sigv4.ts";

const REGION = "us-east-1";
const BODY = Buffer.from('{"a":"ö"}');
const URL_OF_CALL =
  "https://bedrock-runtime.us-east-1.amazonaws.com/model/arn%3Aaws%3Abedrock%2Fx%3A0/converse";
const HEADERS = { "content-type": "application/json" };
const NAMES = [
  "AWS_ACCESS_KEY_ID",
  "AWS_SECRET_ACCESS_KEY",
  "AWS_SESSION_TOKEN",
  "AWS_PROFILE",
  "AWS_CONFIG_FILE",
  "AWS_SHARED_CREDENTIALS_FILE",
  "AWS_CONTAINER_CREDENTIALS_FULL_URI",
  "AWS_EC2_METADATA_DISABLED",
];

let before: Record<string, string | undefined>;
let folder: string;
beforeEach(() => {
  before = Object.fromEntries(NAMES.map((name) => [name, process.env[name]]));
  for (const name of NAMES) delete process.env[name];
  folder = mkdtempSync(join(tmpdir(), "aws-"));
  // Nothing of the machine that runs the test is read.
  process.env.AWS_CONFIG_FILE = join(folder, "config");
  process.env.AWS_SHARED_CREDENTIALS_FILE = join(folder, "credentials");
  process.env.AWS_EC2_METADATA_DISABLED = "true";
});
afterEach(() => {
  for (const name of NAMES) {
    if (before[name] === undefined) delete process.env[name];
    else process.env[name] = before[name];
  }
  rmSync(folder, { recursive: true, force: true });
});

const signerOf = (more: { profile?: string; now?: () => number } = {}) =>
  createAwsSigner({ service: "bedrock", region: REGION, profile: undefined, ...more });

/** Signs a call and returns what an independent check finds wrong with it. */
async function checkCall(
  signer: ReturnType<typeof createAwsSigner>,
  secrets: ReadonlyMap<string, { secret: string; token?: string }>,
  nowMs = Date.now(),
) {
  const signed = await signer.sign({ url: URL_OF_CALL, headers: HEADERS, body: BODY });
  const { host, pathname } = new URL(URL_OF_CALL);
  const request = { method: "POST", path: pathname, headers: { ...signed.toJSON(), host }, body: BODY };
  return findSignatureProblem(request, { region: REGION, service: "bedrock", secrets, nowMs });
}

describe("the signer of AWS", () => {
  test("signs with the session of the environment", async () => {
    Object.assign(process.env, {
      AWS_ACCESS_KEY_ID: "AKA",
      AWS_SECRET_ACCESS_KEY: "sa",
      AWS_SESSION_TOKEN: "ta",
    });
    const signer = signerOf();
    expect(await checkCall(signer, new Map([["AKA", { secret: "sa", token: "ta" }]]))).toBeUndefined();
    expect(await checkCall(signer, new Map([["AKA", { secret: "sb", token: "ta" }]]))).toBe(
      "InvalidSignatureException",
    );
  });

  test("signs with the profile of the shared files that the upstream names", async () => {
    writeFileSync(
      join(folder, "credentials"),
      "[team]\naws_access_key_id = AKB\naws_secret_access_key = sb\n",
    );
    expect(
      await checkCall(signerOf({ profile: "team" }), new Map([["AKB", { secret: "sb" }]])),
    ).toBeUndefined();
  });

  test("fetches the credentials of a container once for all waiting calls, and again when they are refused", async () => {
    let fetches = 0;
    const server = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch() {
        fetches += 1;
        const Expiration = new Date(Date.now() + 3_600_000).toISOString();
        return Response.json({ AccessKeyId: `AK${fetches}`, SecretAccessKey: "s", Token: "t", Expiration });
      },
    });
    process.env.AWS_CONTAINER_CREDENTIALS_FULL_URI = `http://127.0.0.1:${server.port}/credentials`;
    const signer = signerOf();
    const sign = () => signer.sign({ url: URL_OF_CALL, headers: HEADERS, body: BODY });
    await Promise.all(Array.from({ length: 20 }, sign));
    await sign();
    expect(fetches).toBe(1);
    // Refused calls ask for other credentials, at most once in ten seconds.
    expect(signer.correct({ type: "ExpiredTokenException", dateMs: Number.NaN })).toBe(true);
    expect(signer.correct({ type: "ExpiredTokenException", dateMs: Number.NaN })).toBe(true);
    await Promise.all(Array.from({ length: 20 }, sign));
    expect(fetches).toBe(2);
    expect((await sign()).get("authorization")).toContain("Credential=AK2/");
    await server.stop(true);
  });

  test("rejects without credentials, in words of ours", async () => {
    const signer = signerOf();
    await expect(signer.requireCredentials()).rejects.toThrow("AWS credentials are unavailable");
    const fault = await signer
      .sign({ url: URL_OF_CALL, headers: HEADERS, body: BODY })
      .catch((reason: unknown) => reason);
    expect(fault).toMatchObject({ name: "AwsCredentialsError", code: "NO_CREDENTIALS" });
  });

  test("finds shared files that were missing at the first look-up", async () => {
    const signer = signerOf({ profile: "team" });
    await expect(signer.requireCredentials()).rejects.toThrow("AWS credentials are unavailable");
    writeFileSync(
      join(folder, "credentials"),
      "[team]\naws_access_key_id = AKB\naws_secret_access_key = sb\n",
    );
    expect(await checkCall(signer, new Map([["AKB", { secret: "sb" }]]))).toBeUndefined();
  });

  test("corrects its clock by an answer that refused the signature, and by no other", async () => {
    Object.assign(process.env, { AWS_ACCESS_KEY_ID: "AKA", AWS_SECRET_ACCESS_KEY: "sa" });
    const secrets = new Map([["AKA", { secret: "sa" }]]);
    const hourAgo = Date.now() - 3_600_000;
    const signer = signerOf();
    expect(signer.correct({ type: "AccessDeniedException", dateMs: hourAgo })).toBe(false);
    expect(signer.correct({ type: "InvalidSignatureException", dateMs: Number.NaN })).toBe(false);
    expect(signer.correct({ type: "InvalidSignatureException", dateMs: Date.now() })).toBe(false);
    expect(await checkCall(signer, secrets)).toBeUndefined();
    expect(signer.correct({ type: "InvalidSignatureException", dateMs: hourAgo })).toBe(true);
    expect(await checkCall(signer, secrets, hourAgo)).toBeUndefined();
  });

  test("hashes a body of 30 MiB once, in its header", async () => {
    Object.assign(process.env, { AWS_ACCESS_KEY_ID: "AKA", AWS_SECRET_ACCESS_KEY: "sa" });
    const body = Buffer.alloc(30 * 1024 * 1024, "a");
    const signed = await signerOf().sign({ url: URL_OF_CALL, headers: HEADERS, body });
    expect(signed.get("x-amz-content-sha256")).toBe(createHash("sha256").update(body).digest("hex"));
  });
});
