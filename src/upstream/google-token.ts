import type { AuthClient } from "google-auth-library";
import { loadPart } from "../program-files.ts";
import { within } from "../time.ts";
import type { AccessToken } from "./access-token.ts";
import type { GooglePlace } from "./upstream.ts";

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
