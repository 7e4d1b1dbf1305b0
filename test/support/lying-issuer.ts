import { createHmac, createPublicKey, generateKeyPairSync, type KeyObject, sign } from "node:crypto";

interface Token {
  readonly header: Readonly<Record<string, unknown>>;
  readonly claims: Readonly<Record<string, unknown>>;
}

/** What the issuer does instead of the truth. */
export interface Lies {
  /** Changes an ID token before it is signed. */
  token?: (token: Token) => Token;
  /** Signs otherwise than with the published key: not at all, with the public key as a secret, or with another key. */
  signature?: "none" | "public-key-as-secret" | "client-secret" | "other-key";
  /** Answers a path otherwise. */
  answer?: (path: string) => Response | undefined | Promise<Response | undefined>;
}

/** An issuer of this machine that signs whatever a test wants. */
export interface LyingIssuer {
  readonly issuer: string;
  /** Tells these lies from now on. */
  lie(lies: Lies): void;
  /** Forms that its token endpoint received. */
  readonly forms: URLSearchParams[];
  /** Publishes a new key and signs with it. */
  rotate(): void;
  /** The address to which it sends a browser back. */
  comeBack(location: string): string;
  stop(): Promise<void>;
}

interface Key {
  readonly kid: string;
  readonly privateKey: KeyObject;
}

export function startLyingIssuer(client: { readonly id: string; readonly secret: string }): LyingIssuer {
  let keys = [newKey("1")];
  let lies: Lies = {};
  const nonces = new Map<string, string>();
  const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: (request) => answer(request) });
  const issuer = `http://127.0.0.1:${server.port}`;
  const lying: LyingIssuer = {
    issuer,
    lie: (next) => {
      lies = next;
    },
    forms: [],
    rotate: () => {
      keys = [newKey(String(Number(keys[0]?.kid) + 1))];
    },
    comeBack(location) {
      const { searchParams } = new URL(location);
      const code = Bun.randomUUIDv7();
      nonces.set(code, searchParams.get("nonce") ?? "");
      const back = new URL(searchParams.get("redirect_uri") ?? "");
      back.search = new URLSearchParams({ code, state: searchParams.get("state") ?? "" }).toString();
      return back.href;
    },
    stop: () => server.stop(true),
  };

  const answer = async (request: Request): Promise<Response> => {
    const { pathname } = new URL(request.url);
    const lie = await lies.answer?.(pathname);
    if (lie) return lie;
    if (pathname === "/.well-known/openid-configuration") return Response.json(describe(issuer));
    if (pathname === "/jwks") return Response.json({ keys: keys.map(publish) });
    if (pathname !== "/token") return new Response("", { status: 404 });
    const form = new URLSearchParams(await request.text());
    lying.forms.push(form);
    return Response.json({ access_token: "a", token_type: "Bearer", id_token: mint(form) });
  };
  const mint = (form: URLSearchParams): string => {
    const nowS = Math.floor(Date.now() / 1_000);
    const times = { iat: nowS, exp: nowS + 300 };
    const nonce = nonces.get(form.get("code") ?? "");
    const claims = { iss: issuer, aud: client.id, sub: "ada", nonce, email: "ada@lies.example", ...times };
    const [key = newKey("none")] = keys;
    const token = { header: { alg: "RS256", kid: key.kid }, claims };
    return print(lies.token?.(token) ?? token, key, lies.signature, client.secret);
  };
  return lying;
}

function describe(issuer: string) {
  return {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    jwks_uri: `${issuer}/jwks`,
    response_types_supported: ["code"],
    id_token_signing_alg_values_supported: ["RS256", "HS256", "none"],
    token_endpoint_auth_methods_supported: ["client_secret_post"],
  };
}

function newKey(kid: string): Key {
  return { kid, privateKey: generateKeyPairSync("rsa", { modulusLength: 2_048 }).privateKey };
}

function publish({ kid, privateKey }: Key) {
  return { ...createPublicKey(privateKey).export({ format: "jwk" }), kid, alg: "RS256", use: "sig" };
}

function print({ header, claims }: Token, key: Key, signature: Lies["signature"], secret: string): string {
  const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const alg = signature === "none" ? "none" : /secret/.test(signature ?? "") ? "HS256" : header.alg;
  const signed = `${encode({ ...header, alg })}.${encode(claims)}`;
  const publicKey = createPublicKey(key.privateKey).export({ type: "spki", format: "pem" }).toString();
  const hmac = (by: string) => createHmac("sha256", by).update(signed).digest("base64url");
  const rsa = (by: Key) => sign("sha256", Buffer.from(signed), by.privateKey).toString("base64url");
  switch (signature) {
    case "none":
      return `${signed}.`;
    case "public-key-as-secret":
      return `${signed}.${hmac(publicKey)}`;
    case "client-secret":
      return `${signed}.${hmac(secret)}`;
    case "other-key":
      return `${signed}.${rsa(newKey(key.kid))}`;
    default:
      return `${signed}.${rsa(key)}`;
  }
}
