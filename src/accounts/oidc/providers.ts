// The only file that imports openid-client, which is loaded at the first sign-in at a provider.
import type { ClientAuth, Configuration, CustomFetchOptions } from "openid-client";
import { HOUR_MS } from "../../domain/id-time.ts";
import type { SignInProvider } from "../../domain/sign-in-rules.ts";
import { GatewayError } from "../../errors.ts";
import { loadPart } from "../../program-files.ts";
import { type Claims, needsMore, readClaims } from "./claims.ts";

/** One call of a provider: a slow one must not keep people and connections waiting. */
const CALL_S = 5;
/** The most of one answer. Discovery and keys of known providers have less than 32 KiB. */
const ANSWER_BYTES_MAX = 256 * 1024;
/** Calls of one provider at a time, of all visitors: a slow provider takes no place of another. */
const RUNNING_MAX = 32;
/** Clocks of providers may differ by as much. */
export const CLOCK_SKEW_S = 60;
/** Asks the provider to state when the person gave its proof, which it does where an age is asked for: 30 days. */
const ANY_AGE_S = "2592000";
const KNOWN_MS = HOUR_MS;
/** After a failed sign-in the provider's keys are read again, but not more often. */
const REREAD_MS = 5_000;

/** What binds an answer of a provider to the browser that asked for it. */
export interface Bonds {
  readonly redirectUri: string;
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

/** Calls of providers. Rejects with what the library throws, or with `sign_in_throttled` when too many run. */
export interface Providers {
  /** Returns the address at which the person signs in. `isFresh` asks for a new proof of the person. */
  addressOf(provider: SignInProvider, bonds: Bonds, isFresh: boolean): Promise<string>;
  /** Redeems the code of an answer, and returns the checked claims. */
  redeem(provider: SignInProvider, bonds: Bonds, answer: Answer): Promise<Claims>;
  /** Returns the address at which the person signs out there; `undefined` where the provider has none. */
  signOutAddressOf(provider: SignInProvider, returnTo: string): Promise<string | undefined>;
}

interface Answer {
  /** The query that the provider sent the browser back with. */
  readonly query: string;
  /** Requires that the provider states when the person gave its proof, at most so many seconds ago. */
  readonly maxAgeS?: number | undefined;
}

interface Known {
  readonly provider: SignInProvider;
  readonly atMs: number;
  readonly configuration: Promise<Configuration>;
}

export function createProviders(now: () => number): Providers {
  const known = new Map<string, Known>();
  const running = new Map<string, number>();

  const forget = ({ id }: SignInProvider) => {
    const entry = known.get(id);
    if (entry && now() - entry.atMs >= REREAD_MS) known.delete(id);
  };
  /** One discovery serves all visitors for an hour; a changed entry of the file, or a failure, ends it. */
  const discover = (provider: SignInProvider): Promise<Configuration> => {
    const entry = known.get(provider.id);
    const ageMs = entry ? now() - entry.atMs : KNOWN_MS;
    if (entry?.provider === provider && ageMs >= 0 && ageMs < KNOWN_MS) return entry.configuration;
    const configuration = readConfiguration(provider);
    known.set(provider.id, { provider, atMs: now(), configuration });
    configuration.catch(() => {
      if (known.get(provider.id)?.configuration === configuration) known.delete(provider.id);
    });
    return configuration;
  };
  const counted = async <Result>({ id }: SignInProvider, work: () => Promise<Result>): Promise<Result> => {
    const others = running.get(id) ?? 0;
    if (others >= RUNNING_MAX) throw new GatewayError("sign_in_throttled", { retryAfterS: CALL_S });
    running.set(id, others + 1);
    return work().finally(() => running.set(id, (running.get(id) ?? 1) - 1));
  };

  return {
    addressOf: (provider, bonds, isFresh) =>
      counted(provider, async () => printAddress(await discover(provider), provider, { bonds, isFresh })),
    redeem: (provider, bonds, answer) =>
      counted(provider, async () => redeem(await discover(provider), provider, { bonds, answer })).catch(
        (fault) => {
          forget(provider);
          throw fault;
        },
      ),
    signOutAddressOf: (provider, returnTo) =>
      counted(provider, async () => printSignOutAddress(await discover(provider), returnTo)),
  };
}

const load = () => loadPart(() => import("openid-client"));

async function readConfiguration(provider: SignInProvider): Promise<Configuration> {
  const client = await load();
  const issuer = new URL(provider.issuer);
  const metadata = { [client.clockTolerance]: CLOCK_SKEW_S };
  return client.discovery(issuer, provider.clientId, metadata, authenticate(client, provider), {
    timeout: CALL_S,
    [client.customFetch]: boundedFetch,
    // Signatures are checked although the token comes by TLS: with a key of the issuer, never with our secret.
    execute: [
      client.enableNonRepudiationChecks,
      ...(issuer.protocol === "http:" ? [client.allowInsecureRequests] : []),
    ],
  });
}

/** Sends the client secret by the method of the provider's discovery document; by header where it names none. */
function authenticate(
  client: Awaited<ReturnType<typeof load>>,
  { clientSecret }: SignInProvider,
): ClientAuth {
  if (clientSecret === undefined) return client.None();
  const byBody = client.ClientSecretPost(clientSecret);
  const byHeader = client.ClientSecretBasic(clientSecret);
  return (server, ...rest) => {
    const methods = server.token_endpoint_auth_methods_supported ?? ["client_secret_basic"];
    return (methods.includes("client_secret_basic") ? byHeader : byBody)(server, ...rest);
  };
}

async function printAddress(
  configuration: Configuration,
  { scopes, confirmBy }: SignInProvider,
  { bonds, isFresh }: { readonly bonds: Bonds; readonly isFresh: boolean },
): Promise<string> {
  const client = await load();
  const fresh = confirmBy === "auth_time" ? { prompt: "login", max_age: "0" } : { prompt: "select_account" };
  const address = client.buildAuthorizationUrl(configuration, {
    redirect_uri: bonds.redirectUri,
    scope: scopes.join(" "),
    state: bonds.state,
    nonce: bonds.nonce,
    code_challenge: await client.calculatePKCECodeChallenge(bonds.verifier),
    code_challenge_method: "S256",
    ...(isFresh ? fresh : { max_age: ANY_AGE_S }),
  });
  // The browser goes there: an address of another kind would run in the console.
  if (!/^https?:$/.test(address.protocol)) throw new Error("The provider's page is at no web address");
  return address.href;
}

/** @see https://openid.net/specs/openid-connect-rpinitiated-1_0.html#RPLogout */
async function printSignOutAddress(
  configuration: Configuration,
  returnTo: string,
): Promise<string | undefined> {
  const { issuer, authorization_endpoint: page, end_session_endpoint: end } = configuration.serverMetadata();
  if (end === undefined) return undefined;
  const client = await load();
  const address = client.buildEndSessionUrl(configuration, { post_logout_redirect_uri: returnTo });
  // The browser goes there: an issuer ends sessions at its own address, or where people sign in.
  const isOwn = [issuer, page].some((each) => each && new URL(each).origin === address.origin);
  if (!isOwn || address.protocol !== new URL(issuer).protocol) {
    throw new Error("The provider's sign-out is at a strange address");
  }
  return address.href;
}

async function redeem(
  configuration: Configuration,
  provider: SignInProvider,
  { bonds, answer }: { readonly bonds: Bonds; readonly answer: Answer },
): Promise<Claims> {
  const client = await load();
  const tokens = await client.authorizationCodeGrant(
    configuration,
    new URL(`${bonds.redirectUri}${answer.query}`),
    {
      expectedState: bonds.state,
      expectedNonce: bonds.nonce,
      pkceCodeVerifier: bonds.verifier,
      idTokenExpected: true,
      ...(answer.maxAgeS === undefined ? {} : { maxAge: answer.maxAgeS }),
    },
  );
  const claims = tokens.claims();
  if (!claims) throw new Error("The provider sent no ID token");
  const hasMore = configuration.serverMetadata().userinfo_endpoint !== undefined;
  if (!hasMore || !needsMore(provider, claims)) return readClaims(provider, claims);
  const more = await client.fetchUserInfo(configuration, tokens.access_token, claims.sub);
  return readClaims(provider, { ...more, ...claims });
}

/** Fetches an answer of at most 256 KiB, unpacked, within the time of the call. Follows no redirect. */
async function boundedFetch(url: string, options: CustomFetchOptions): Promise<Response> {
  const { body, headers, method } = options;
  const signal = AbortSignal.timeout(CALL_S * 1_000);
  // The library sends forms alone.
  const sent = body instanceof URLSearchParams ? { body } : {};
  const response = await fetch(url, { headers, method, redirect: "manual", signal, ...sent });
  const bytes = await readBounded(response.body);
  const isBare = response.status === 204 || response.status === 304;
  return new Response(isBare ? null : bytes, { status: response.status, headers: response.headers });
}

async function readBounded(body: ReadableStream<Uint8Array> | null): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let total = 0;
  for await (const chunk of body ?? []) {
    total += chunk.byteLength;
    if (total > ANSWER_BYTES_MAX) throw new Error("An answer of the provider is too large");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
