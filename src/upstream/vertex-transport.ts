import type { AuthClient } from "google-auth-library";
import { loadPart } from "../program-files.ts";
import { within } from "../time.ts";
import { createCallHeaders } from "./call-headers.ts";
import { readGoogleAnswer } from "./google-errors.ts";
import { vertexHost } from "./messages-hosts.ts";
import type { Transport } from "./transport.ts";
import type { GooglePlace, UpstreamCall, UpstreamConfig } from "./upstream.ts";

const MODEL_OF_COUNTS = "count-tokens";

/**
 * Google's Vertex AI: Anthropic's models by their own format, and all others by Gemini's.
 *
 * @see https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/inference
 * @see https://cloud.google.com/vertex-ai/generative-ai/docs/partner-models/claude/use-claude
 */
export function createVertexTransport(config: UpstreamConfig): Transport {
  const { baseUrl, google } = config;
  if (!google) throw new Error("An upstream on Vertex AI has a project");
  const place = `projects/${google.project}/locations/${google.location}`;
  const tokens = createAccessTokens(createGoogleTokenFetch(google));
  const headersOf = createTokenHeaders();

  function urlOf({ surface, model, path, stream }: UpstreamCall): string {
    if (surface !== "messages") {
      const method = path.slice(path.lastIndexOf(":"));
      return `${baseUrl}/v1beta1/${place}/${resourceOf(model)}${method}`;
    }
    const name = path.endsWith("/count_tokens") ? MODEL_OF_COUNTS : encodeModel(model);
    const method = stream ? "streamRawPredict" : "rawPredict";
    return `${baseUrl}/v1/${place}/publishers/anthropic/models/${name}:${method}`;
  }

  return {
    surfacesOf: (model) => [isClaude(model) ? "messages" : "gemini"],
    messagesHost: vertexHost(config),
    request(call) {
      const token = tokens.read();
      const url = urlOf(call);
      return typeof token === "string"
        ? { url, headers: headersOf(token, call) }
        : token.then((fetched) => ({ url, headers: headersOf(fetched, call) }));
    },
    mayRepeat({ status }) {
      if (status !== 401) return false;
      tokens.reject();
      return true;
    },
    readAnswer: readGoogleAnswer,
    // @see https://cloud.google.com/vertex-ai/docs/reference/rest/v1beta1/publishers.models/list
    async probe() {
      const headers = { authorization: `Bearer ${await tokens.read()}` };
      return { url: `${baseUrl}/v1beta1/publishers/google/models?pageSize=1`, headers };
    },
  };
}

/** Returns whether a model is one of Anthropic's, such as "claude-sonnet-4-5@20250929". */
function isClaude(model: string): boolean {
  return model.startsWith("claude");
}

/** Returns the resource of a model; a name with a slash is one already, such as "endpoints/1234". */
function resourceOf(model: string): string {
  return model.includes("/")
    ? model.split("/").map(encodeModel).join("/")
    : `publishers/google/models/${encodeModel(model)}`;
}

function encodeModel(model: string): string {
  return encodeURIComponent(model).replaceAll("%40", "@");
}

/** Prepares the headers of a call again only when the token has changed. */
function createTokenHeaders() {
  let prepared: { readonly token: string; readonly headersOf: ReturnType<typeof createCallHeaders> };
  return (token: string, call: UpstreamCall): Headers => {
    if (prepared?.token !== token) {
      prepared = { token, headersOf: createCallHeaders({ authorization: `Bearer ${token}` }) };
    }
    return prepared.headersOf(call);
  };
}

const SCOPE = "https://www.googleapis.com/auth/cloud-platform";
const FETCH_MS_MAX = 10_000;
/** Assumed of a token without an expiry. */
const LIFE_MS = 10 * 60_000;

type GoogleIdentity = Pick<GooglePlace, "project" | "credentials">;
type Fetch = (url: string | URL | Request, init?: RequestInit) => Promise<Response>;

/**
 * Returns a function that fetches a token for Google Cloud. Without configured credentials, the machine's own are
 * used: the file of `GOOGLE_APPLICATION_CREDENTIALS`, else the metadata server. The first call loads the library.
 *
 * @see https://cloud.google.com/docs/authentication/application-default-credentials
 */
export function createGoogleTokenFetch(
  place: GoogleIdentity,
  fetchImplementation: Fetch = fetch,
): () => Promise<AccessToken> {
  async function fetchToken(): Promise<AccessToken> {
    // New for each token, so that a credentials file that was replaced is read again.
    const client = await createClient(place, { fetchImplementation });
    const { token } = await client.getAccessToken();
    if (!token) throw new Error("Google returned no token");
    return { token, expiresAtMs: client.credentials.expiry_date ?? Date.now() + LIFE_MS };
  }
  return () =>
    within(FETCH_MS_MAX, fetchToken(), () => {
      throw new Error("Google returned no token in time");
    });
}

/** Each kind of credentials has a constructor: the library prints a warning for a JSON of any kind. */
async function createClient(
  { project: projectId, credentials }: GoogleIdentity,
  transporterOptions: { readonly fetchImplementation: Fetch },
): Promise<AuthClient> {
  const library = await loadPart(() => import("google-auth-library"));
  const { AwsClient, GoogleAuth, IdentityPoolClient, JWT } = library;
  if (credentials === undefined) {
    // The library remembers for ever that no metadata server answered, also when it had only just started.
    library.gcpMetadata.resetIsAvailableCache();
    // Without the project, the library would ask another service for it.
    return new GoogleAuth({ projectId, scopes: SCOPE, clientOptions: { transporterOptions } }).getClient();
  }
  const json = JSON.parse(credentials);
  if (json.type === "service_account") {
    const { client_email: email, private_key: key, private_key_id: keyId } = json;
    return new JWT({ email, key, keyId, scopes: [SCOPE], transporterOptions });
  }
  const Client = json.credential_source?.environment_id ? AwsClient : IdentityPoolClient;
  return new Client({ ...json, scopes: [SCOPE], transporterOptions });
}

/** A short-lived credential of a cloud. */
export interface AccessToken {
  readonly token: string;
  /** Unix milliseconds. */
  readonly expiresAtMs: number;
}

/** The current token of one upstream. */
interface AccessTokens {
  /** Returns the token, or a promise while there is no valid one. Rejects with {@link CredentialsUnavailable}. */
  read(): string | Promise<string>;
  /** Discards the token after the provider rejected it; one that is younger than a minute is kept. */
  reject(): void;
}

/** No token could be had. The message and the code hold nothing that the provider sent. */
export class CredentialsUnavailable extends Error {
  override readonly name = "CredentialsUnavailable";
  readonly code = "NO_CREDENTIALS";

  constructor(cause: unknown) {
    super("No access token could be had", { cause });
  }
}

/** A token is renewed in the background this long before it expires. */
const RENEW_MS = 5 * 60_000;
/** A token is no longer sent this long before it expires. */
const UNUSABLE_MS = 30_000;
/** Time between two renewals in the background after one failed. */
const RETRY_MS = 10_000;
const YOUNG_MS = 60_000;

/** A token with the time at which it was fetched, in Unix milliseconds. */
interface Held extends AccessToken {
  readonly fetchedAtMs: number;
}

/**
 * Keeps one token, and fetches the next one before it expires. All calls share one fetch, so that a burst asks
 * the provider once. `now` returns Unix milliseconds.
 */
export function createAccessTokens(fetchToken: () => Promise<AccessToken>, now = Date.now): AccessTokens {
  let held: Held | undefined;
  let pending: Promise<string> | undefined;
  let failedAtMs = Number.NEGATIVE_INFINITY;

  function renew(): Promise<string> {
    pending ??= fetchToken()
      .then(
        (fetched) => {
          held = { ...fetched, fetchedAtMs: now() };
          return fetched.token;
        },
        (fault: unknown) => {
          failedAtMs = now();
          throw new CredentialsUnavailable(fault);
        },
      )
      .finally(() => {
        pending = undefined;
      });
    return pending;
  }

  function renewInBackground(): void {
    if (!pending && Math.abs(now() - failedAtMs) >= RETRY_MS) renew().catch(() => undefined);
  }

  return {
    read() {
      const leftMs = held ? held.expiresAtMs - now() : 0;
      if (!held || leftMs <= UNUSABLE_MS) return renew();
      if (leftMs <= RENEW_MS) renewInBackground();
      return held.token;
    },
    reject() {
      if (held && Math.abs(now() - held.fetchedAtMs) >= YOUNG_MS) held = undefined;
    },
  };
}
