import { expect, test } from "bun:test";
import { createProviders } from "../../../src/accounts/oidc/providers.ts";
import type { SignInProvider } from "../../../src/domain/sign-in-rules.ts";
import { type Lies, type LyingIssuer, startLyingIssuer } from "../../support/lying-issuer.ts";
import { openForTests } from "../../support/open-for-tests.ts";

const CLIENT = { id: "tollgate", secret: "the secret of the client, which is long" };
const BONDS = {
  redirectUri: "http://console.test/console/api/oidc/liar/callback",
  state: "s".repeat(64),
  nonce: "n".repeat(64),
  verifier: "v".repeat(64),
};

const liar: LyingIssuer = openForTests(
  async () => startLyingIssuer(CLIENT),
  (issuer) => issuer.stop(),
  "test",
);

function providerOf(more: Partial<SignInProvider> = {}): SignInProvider {
  return {
    id: "liar",
    name: "Liar",
    issuer: liar.issuer,
    clientId: CLIENT.id,
    clientSecret: CLIENT.secret,
    scopes: ["openid"],
    groupsClaim: undefined,
    rights: [],
    domains: undefined,
    sessionMs: 1,
    rightsMs: undefined,
    confirmBy: "auth_time",
    rpInitiatedLogout: false,
    ...more,
  };
}

/** Signs in at the issuer, and returns the claims that were believed. */
async function redeem(lies: Lies = {}, maxAgeS?: number, providers = createProviders(Date.now)) {
  liar.lie(lies);
  const provider = providerOf();
  const location = await providers.addressOf(provider, BONDS, maxAgeS !== undefined);
  const query = new URL(liar.comeBack(location)).search;
  return providers.redeem(provider, BONDS, { query, maxAgeS });
}

const nowS = () => Math.floor(Date.now() / 1_000);
const claim = (claims: Record<string, unknown>): Lies => ({
  token: ({ header, claims: before }) => ({ header, claims: { ...before, ...claims } }),
});

test("a true token is believed, and its code is redeemed with the verifier of PKCE and the secret", async () => {
  expect(await redeem()).toMatchObject({ issuer: liar.issuer, subject: "ada", email: "ada@lies.example" });
  const [form] = liar.forms;
  expect(form?.get("code_verifier")).toBe(BONDS.verifier);
  expect(form?.get("client_secret")).toBe(CLIENT.secret);
});

test("the address has state, nonce, and the challenge of PKCE by S256", async () => {
  const location = await createProviders(Date.now).addressOf(providerOf(), BONDS, false);
  const { searchParams } = new URL(location);
  const challenge = new Bun.CryptoHasher("sha256").update(BONDS.verifier).digest("base64url");
  expect(searchParams.get("code_challenge")).toBe(challenge);
  expect(searchParams.get("code_challenge_method")).toBe("S256");
  expect(searchParams.get("state")).toBe(BONDS.state);
  expect(searchParams.get("nonce")).toBe(BONDS.nonce);
});

const COMPARED = "OAUTH_JWT_CLAIM_COMPARISON_FAILED";
const INVALID = "OAUTH_INVALID_RESPONSE";
const TIMED = "OAUTH_JWT_TIMESTAMP_CHECK_FAILED";
const ALGORITHM = "OAUTH_UNSUPPORTED_OPERATION";

test.each<[string, string, Lies]>([
  ["another nonce", COMPARED, claim({ nonce: "x" })],
  ["no nonce", INVALID, claim({ nonce: undefined })],
  ["another audience", COMPARED, claim({ aud: "another-client" })],
  ["two audiences, authorised for another", COMPARED, claim({ aud: ["tollgate", "other"], azp: "other" })],
  ["another issuer", COMPARED, claim({ iss: "https://evil.example" })],
  ["no subject", INVALID, claim({ sub: undefined })],
  ["an end that has passed", TIMED, claim({ iat: nowS() - 700, exp: nowS() - 300 })],
  ["a begin that has not come", TIMED, claim({ nbf: nowS() + 3_600 })],
  ["no signature", ALGORITHM, { signature: "none" }],
  ["the public key as a secret", ALGORITHM, { signature: "public-key-as-secret" }],
  ["the client's secret as a key", ALGORITHM, { signature: "client-secret" }],
  ["a key that the issuer does not publish", INVALID, { signature: "other-key" }],
])("a token with %s is not believed", async (_, code, lies) => {
  await expect(redeem(lies)).rejects.toMatchObject({ code });
});

test.each([
  ["of 256 characters", "x".repeat(256)],
  ["with a null character", "ada\0"],
  ["with half of a character", "ada\ud800"],
])("a subject %s is no identity", async (_, sub) => {
  await expect(redeem(claim({ sub }))).rejects.toThrow("a subject that no identity can be");
  expect((await redeem(claim({ sub: "\u0430da".padEnd(255, " ") }))).subject).toHaveLength(255);
});

test("a discovery that names no web page sends no browser anywhere", async () => {
  const metadata = { issuer: liar.issuer, authorization_endpoint: "javascript:alert(1)//" };
  liar.lie({
    answer: (path) => (path.includes("openid-configuration") ? Response.json(metadata) : undefined),
  });
  await expect(createProviders(Date.now).addressOf(providerOf(), BONDS, false)).rejects.toThrow();
});

test.each<[string, string | undefined, string | undefined]>([
  ["none", undefined, undefined],
  [
    "its own",
    "/end?a=b",
    "/end?a=b&post_logout_redirect_uri=http%3A%2F%2Fconsole.test%2F&client_id=tollgate",
  ],
  ["that of another host", "http://127.0.0.1:1/end", "rejected"],
  ["that of another host behind a name", "http://127.0.0.1:1@evil.example/end", "rejected"],
  ["one with another protocol", "https:", "rejected"],
  ["a script", "javascript:alert(1)//", "rejected"],
  ["no address", "end", "rejected"],
])(
  "a provider whose sign-out is at %s leads the browser to its own address or nowhere",
  async (_, end, leads) => {
    const own = (path: string) => (path.startsWith("/") ? liar.issuer + path : path);
    const lied = end === "https:" ? liar.issuer.replace("http:", end) : end && own(end);
    const metadata = {
      issuer: liar.issuer,
      authorization_endpoint: own("/page"),
      end_session_endpoint: lied,
    };
    liar.lie({
      answer: (path) => (path.includes("openid-configuration") ? Response.json(metadata) : undefined),
    });
    const address = createProviders(Date.now).signOutAddressOf(providerOf(), "http://console.test/");
    if (leads === "rejected") await expect(address).rejects.toThrow();
    else expect(await address).toBe(leads && own(leads));
  },
);

test("clocks may differ by a minute", async () => {
  expect(await redeem(claim({ iat: nowS() + 40, exp: nowS() + 340, nbf: nowS() + 40 }))).toBeDefined();
  expect(await redeem(claim({ exp: nowS() - 40 }))).toBeDefined();
});

test("a proof that was asked for must be stated, and new", async () => {
  await expect(redeem({}, 600)).rejects.toThrow();
  await expect(redeem(claim({ auth_time: nowS() - 900 }), 600)).rejects.toThrow();
  expect(await redeem(claim({ auth_time: nowS() }), 600)).toMatchObject({ subject: "ada" });
});

test("after a rotation the new key is believed at once", async () => {
  const providers = createProviders(Date.now);
  await redeem({}, undefined, providers);
  liar.rotate();
  expect(await redeem({}, undefined, providers)).toMatchObject({ subject: "ada" });
});

test("a discovery of another issuer is not believed", async () => {
  const described = { issuer: "https://evil.example", authorization_endpoint: "https://evil.example/" };
  const answer = (path: string) => (path.includes("well-known") ? Response.json(described) : undefined);
  await expect(redeem({ answer })).rejects.toThrow();
});

test.each(["/.well-known/openid-configuration", "/jwks", "/token"])(
  "an endless answer of %p ends",
  async (at) => {
    let sent = 0;
    const endless = () =>
      new ReadableStream({
        async pull(controller) {
          sent += 65_536;
          controller.enqueue(new Uint8Array(65_536).fill(32));
          await Bun.sleep(0);
        },
      });
    const headers = { "content-type": "application/json" };
    const answer = (path: string) => (path === at ? new Response(endless(), { headers }) : undefined);
    await expect(redeem({ answer })).rejects.toThrow();
    expect(sent).toBeLessThan(16 * 1024 * 1024);
  },
);

test("a redirect of the issuer is not followed", async () => {
  const answer = (path: string) =>
    path === "/token" ? Response.redirect(`${liar.issuer}/elsewhere`, 307) : undefined;
  await expect(redeem({ answer })).rejects.toThrow();
  expect(liar.forms).toHaveLength(0);
});

test("while 32 visitors wait for a slow issuer, a further one is refused at once, and none of another issuer", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  liar.lie({ answer: async () => void (await promise) });
  const other = startLyingIssuer(CLIENT);
  const { issuer } = other;
  const providers = createProviders(Date.now);
  const begin = () => providers.addressOf(providerOf(), BONDS, false);
  const waiting = Array.from({ length: 32 }, begin);
  await expect(begin()).rejects.toMatchObject({ kind: "sign_in_throttled" });
  const elsewhere = providers.addressOf(providerOf({ id: "other", issuer }), BONDS, false);
  expect(await elsewhere.finally(() => other.stop())).toContain(issuer);
  resolve();
  // On a busy machine they may have waited for longer than the 5 s of a call.
  await Promise.allSettled(waiting);
  expect(await begin()).toContain(liar.issuer);
});
