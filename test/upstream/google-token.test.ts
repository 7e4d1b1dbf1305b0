import { expect, test } from "bun:test";
import { createVerify, generateKeyPairSync } from "node:crypto";
import { join } from "node:path";
import { createGoogleTokenFetch } from "../../src/upstream/vertex-transport.ts";
import { SUBJECT_TOKEN, startScriptedGoogle, TOKEN } from "../support/scripted-google.ts";
import { tempFolder } from "../support/temp-folder.ts";

const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
const ACCOUNT = {
  type: "service_account",
  project_id: "acme-prod",
  private_key_id: "k1",
  private_key: privateKey.export({ type: "pkcs8", format: "pem" }),
  client_email: "gateway@acme-prod.iam.gserviceaccount.com",
};

const PLACE = { project: "acme-prod", credentials: JSON.stringify(ACCOUNT) };

/** Returns the claims of a JWT. Throws unless the key of the account signed it. */
function readSigned(jwt: string): Record<string, unknown> {
  const [head = "", claims = "", signature = ""] = jwt.split(".");
  const verify = createVerify("RSA-SHA256").update(`${head}.${claims}`);
  if (!verify.verify(publicKey, signature, "base64url")) throw new Error("The signature is wrong");
  return JSON.parse(Buffer.from(claims, "base64url").toString());
}

test("a service account signs its request for a token of Google Cloud", async () => {
  const requests: { url: string; body: URLSearchParams }[] = [];
  const fetchImplementation = async (url: string | URL | Request, init?: RequestInit) => {
    requests.push({ url: String(url), body: new URLSearchParams(String(init?.body)) });
    return Response.json({ access_token: "ya29.a", expires_in: 3_600, token_type: "Bearer" });
  };
  const fetchToken = createGoogleTokenFetch(PLACE, fetchImplementation);
  const { token, expiresAtMs } = await fetchToken();
  expect(token).toBe("ya29.a");
  expect(expiresAtMs).toBeWithin(Date.now() + 3_000_000, Date.now() + 3_700_000);
  expect(requests.map(({ url }) => url)).toEqual(["https://oauth2.googleapis.com/token"]);
  const body = requests[0]?.body;
  expect(body?.get("grant_type")).toBe("urn:ietf:params:oauth:grant-type:jwt-bearer");
  expect(readSigned(body?.get("assertion") ?? "")).toMatchObject({
    iss: ACCOUNT.client_email,
    scope: "https://www.googleapis.com/auth/cloud-platform",
    aud: "https://oauth2.googleapis.com/token",
  });
});

test("a refused service account is a fault", async () => {
  const refusing = async () => Response.json({ error: "invalid_grant" }, { status: 400 });
  const fetchToken = createGoogleTokenFetch(PLACE, refusing);
  await expect(fetchToken()).rejects.toThrow();
});

/** Returns the tokens that a process with this environment gets, before and after `between`. */
async function tokensIn(
  environment: Readonly<Record<string, string>>,
  between?: () => void,
): Promise<readonly string[]> {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "google-token-child.ts")], {
    env: { PATH: process.env.PATH ?? "", HOME: tempFolder(), ...environment },
    stdin: "pipe",
    stdout: "pipe",
  });
  const lines = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  const ask = async () => {
    child.stdin.write("\n");
    child.stdin.flush();
    return ((await lines.read()).value ?? "").trim();
  };
  const first = await ask();
  between?.();
  const tokens = between ? [first, await ask()] : [first];
  child.stdin.end();
  await child.exited;
  return tokens;
}

/** A metadata server of Google Cloud, which fails while `isAway` says so. */
function startMetadata(isAway = () => false) {
  return Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: ({ url, headers }) =>
      isAway()
        ? new Response("", { status: 404 })
        : headers.get("metadata-flavor") !== "Google"
          ? new Response("", { status: 403 })
          : url.includes("/token")
            ? Response.json({ access_token: "ya29.machine", expires_in: 3_600, token_type: "Bearer" }, FLAVOR)
            : new Response("", FLAVOR),
  });
}

test("the machine's credentials are those of a file, else those of the metadata server", async () => {
  const google = startScriptedGoogle();
  const subjectFile = join(tempFolder(), "subject.jwt");
  const file = join(tempFolder(), "credentials.json");
  await Bun.write(subjectFile, SUBJECT_TOKEN);
  await Bun.write(file, google.credentials(subjectFile));
  const metadata = startMetadata();
  const GCE_METADATA_HOST = `127.0.0.1:${metadata.port}`;
  const tokens = await Promise.all([
    tokensIn({ GOOGLE_APPLICATION_CREDENTIALS: file, GCE_METADATA_HOST }),
    tokensIn({ GCE_METADATA_HOST }),
  ]);
  expect(tokens).toEqual([[TOKEN], ["ya29.machine"]]);
  await Promise.all([google.stop(), metadata.stop(true)]);
});

test("a machine whose metadata server did not answer once gets a token by the next look-up", async () => {
  let isAway = true;
  const metadata = startMetadata(() => isAway);
  const tokens = await tokensIn({ GCE_METADATA_HOST: `127.0.0.1:${metadata.port}` }, () => {
    isAway = false;
  });
  expect(tokens).toEqual(["none", "ya29.machine"]);
  await metadata.stop(true);
});

const FLAVOR = { headers: { "metadata-flavor": "Google" } };
