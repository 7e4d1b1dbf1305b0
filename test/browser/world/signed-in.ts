/** A person's session at the API of a running gateway, called as a browser on its page does. */
export interface SignedIn {
  /** The value of the `cookie` header. */
  readonly cookie: string;
  /** Calls a route: `call("POST", "/accounts/1/keys", { name })`. Throws for a status of 400 or above. */
  // biome-ignore lint/suspicious/noExplicitAny: a test checks what it reads.
  call(method: string, path: string, body?: unknown): Promise<any>;
}

/** Signs a person in, and replaces a one-time password by `newPassword`. */
export async function signIn(
  url: string,
  { email, password, newPassword }: { email: string; password: string; newPassword?: string },
): Promise<SignedIn> {
  const answer = await send(url, "", { method: "POST", path: "/sign-in", body: { email, password } });
  const session = createSession(url, cookieOf(answer));
  if (newPassword === undefined) return session;
  const body = { current: password, password: newPassword };
  const changed = await send(url, session.cookie, { method: "POST", path: "/me/password", body });
  return createSession(url, cookieOf(changed) || session.cookie);
}

function createSession(url: string, cookie: string): SignedIn {
  return {
    cookie,
    async call(method, path, body) {
      const answer = await send(url, cookie, { method, path, body });
      const isJson = answer.headers.get("content-type")?.startsWith("application/json") ?? false;
      return isJson ? answer.json() : answer.text();
    },
  };
}

async function send(
  url: string,
  cookie: string,
  { method, path, body }: { readonly method: string; readonly path: string; readonly body?: unknown },
): Promise<Response> {
  const answer = await fetch(`${url}/console/api${path}`, {
    method,
    headers: { "sec-fetch-site": "same-origin", "content-type": "application/json", cookie },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (answer.status >= 400) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
  return answer;
}

function cookieOf(answer: Response): string {
  return answer.headers.getSetCookie()[0]?.split(";", 1)[0] ?? "";
}
