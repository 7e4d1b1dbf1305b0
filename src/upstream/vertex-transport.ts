import type { AuthClient } from "google-auth-library";
import { loadPart } from "../program-files.ts";
import { type AccessToken, type AccessTokens, createAccessTokens } from "./access-tokens.ts";
import { createTokenHeaders } from "./call-headers.ts";
import { readGoogleAnswer } from "./google-errors.ts";
import { vertexHost } from "./messages-hosts.ts";
import type { Transport } from "./transport.ts";
import type { GooglePlace, UpstreamCall, VertexConfig } from "./upstream.ts";

const CLAUDE = ["messages"] as const;
const GOOGLE = ["gemini", "vertex_embeddings"] as const;
const MODEL_OF_COUNTS = "count-tokens";

/**
 * Google's Vertex AI: Anthropic's models by their own format, and all others by Gemini's.
 *
 * @see https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/inference
 * @see https://cloud.google.com/vertex-ai/generative-ai/docs/partner-models/claude/use-claude
 */
export function createVertexTransport(config: VertexConfig): Transport {
  const { baseUrl, google } = config;
  const place = `projects/${google.project}/locations/${google.location}`;
  const tokens = createGoogleTokens(createGoogleTokenFetch(google));
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
    surfacesOf: (model) => (isClaude(model) ? CLAUDE : GOOGLE),
    messagesHost: vertexHost(config.betaNames),
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

const SCOPE = "https://www.googleapis.com/auth/cloud-platform";
/** How long the identity provider may take. */
const FETCH_MS_MAX = 10_000;
const UNUSABLE_MS = 30_000;
/** Assumed of a token without an expiry. */
const LIFE_MS = 10 * 60_000;

/** No token could be had. The message and the code hold nothing that the provider sent. */
export class CredentialsUnavailable extends Error {
  override readonly name = "CredentialsUnavailable";
  readonly code = "NO_CREDENTIALS";

  constructor(cause: unknown) {
    super("No access token could be had", { cause });
  }
}

/** Keeps a token of Google Cloud. `now` returns Unix milliseconds. */
export function createGoogleTokens(fetchToken: () => Promise<AccessToken>, now = Date.now): AccessTokens {
  const toFault = (cause: unknown) => new CredentialsUnavailable(cause);
  return createAccessTokens({ fetchToken, fetchMsMax: FETCH_MS_MAX, unusableMs: UNUSABLE_MS, toFault, now });
}

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
  return fetchToken;
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
