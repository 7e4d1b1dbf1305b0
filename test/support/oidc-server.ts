import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import Provider, { type JWKS } from "oidc-provider";

/** A person at the provider. */
export interface Subject {
  readonly sub: string;
  readonly email?: string;
  readonly email_verified?: boolean;
  readonly name?: string;
  readonly groups?: readonly string[];
}

/** A real OpenID provider on this machine, at which the person who was chosen last signs in without a page. */
export interface OidcServer {
  readonly issuer: string;
  /** Who signs in from now on; `undefined` to refuse. */
  subject: Subject | undefined;
  /**
   * Goes to an address as a browser that keeps the provider's cookies, and says yes to a sign-out. Returns where the
   * gateway's address begins.
   */
  visit(address: string): Promise<string>;
  stop(): Promise<void>;
}

export const CLIENT_ID = "tollgate";
export const CLIENT_SECRET = "a-secret-of-the-client-with-32-bytes";

export async function startOidcServer(redirectUris: readonly string[]): Promise<OidcServer> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  // Safe because the server listens on a port.
  const { port } = server.address() as AddressInfo;
  const issuer = `http://127.0.0.1:${port}`;
  const subjects = new Map<string, Subject>();
  const state: { subject: Subject | undefined } = { subject: undefined };
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: CLIENT_ID,
        client_secret: CLIENT_SECRET,
        redirect_uris: [...redirectUris],
        post_logout_redirect_uris: redirectUris.map((uri) => new URL("/console/sign-in", uri).href),
        grant_types: ["authorization_code"],
        response_types: ["code"],
      },
    ],
    pkce: { required: () => true },
    claims: { openid: ["sub", "groups"], email: ["email", "email_verified"], profile: ["name"] },
    findAccount: (_, sub) => ({
      accountId: sub,
      claims: async () => ({ ...subjects.get(sub), sub }),
    }),
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_, { uid }) => `/interaction/${uid}` },
    cookies: { keys: ["test"] },
    jwks: await newKeys(),
  });
  provider.on("server_error", (_, error) => console.error(error));
  const handle = provider.callback();
  server.on("request", async (request, response) => {
    if (!request.url?.startsWith("/interaction/")) return handle(request, response);
    const { subject } = state;
    const details = await provider.interactionDetails(request, response);
    if (!subject) {
      const refused = { error: "access_denied", error_description: "no <b>entry</b>" };
      return provider.interactionFinished(request, response, refused);
    }
    subjects.set(subject.sub, subject);
    const grant = new provider.Grant({ accountId: subject.sub, clientId: CLIENT_ID });
    grant.addOIDCScope("openid email profile");
    const consent = { grantId: await grant.save() };
    const isLogin = details.prompt.name === "login";
    const result = isLogin ? { login: { accountId: subject.sub }, consent } : { consent };
    return provider.interactionFinished(request, response, result);
  });
  const cookies = new Map<string, string>();
  return {
    issuer,
    get subject() {
      return state.subject;
    },
    set subject(subject) {
      state.subject = subject;
      cookies.clear();
    },
    async visit(address) {
      let at = address;
      let form: URLSearchParams | undefined;
      for (let hop = 0; hop < 10 && at.startsWith(issuer); hop += 1) {
        const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
        const sent = form ? { method: "POST", body: form } : {};
        const answer = await fetch(at, { redirect: "manual", headers: { cookie }, ...sent });
        for (const set of answer.headers.getSetCookie()) {
          const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(set) ?? [];
          cookies.set(name, value);
        }
        const text = await answer.text();
        // The page of the sign-out asks the person.
        const [, action, xsrf = ""] = /action="([^"]+)"[\s\S]*name="xsrf" value="([^"]+)"/.exec(text) ?? [];
        form = action === undefined ? undefined : new URLSearchParams({ xsrf, logout: "yes" });
        const next = answer.headers.get("location") ?? action;
        if (!next) throw new Error(`The provider answered ${answer.status}: ${text}`);
        at = new URL(next, at).href;
      }
      return at;
    },
    stop: () => new Promise((resolve) => void server.close(() => resolve())),
  };
}

async function newKeys(): Promise<JWKS> {
  const algorithm = {
    name: "RSASSA-PKCS1-v1_5",
    hash: "SHA-256",
    modulusLength: 2_048,
    publicExponent: new Uint8Array([1, 0, 1]),
  };
  const { privateKey } = await crypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
  // Without its uses: the provider would publish the one of signing with the public key.
  const { key_ops: _, ext: __, ...jwk } = await crypto.subtle.exportKey("jwk", privateKey);
  // Safe because an exported RSA key has every member of one.
  return { keys: [{ ...jwk, kid: "real", use: "sig", alg: "RS256" }] } as unknown as JWKS;
}
