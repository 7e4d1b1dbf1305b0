import type { ConsoleParts } from "../../src/http/console/console-parts.ts";
import { createConsole } from "../../src/http/console/entry.ts";
import type { ConsoleAnswer } from "./test-console.ts";

/** A browser on the console's API: it keeps cookies and sends the headers of a page of the same origin. */
export interface ConsoleBrowser {
  call(
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<ConsoleAnswer>;
  /** The value of the session's cookie; "" without one. */
  cookie: string;
  /** The last `set-cookie` header of the session. */
  readonly lastSetCookie: string;
  readonly address: string;
}

const NAME = "tollgate.session";

/** Opens browsers on one console, each with an address of its own unless given. */
export function createBrowsers(parts: ConsoleParts) {
  const entry = createConsole(parts);
  let count = 0;
  const newAddress = () => {
    count += 1;
    return `198.51.${Math.floor(count / 250)}.${count % 250}`;
  };
  return (address = newAddress()): ConsoleBrowser => {
    const others = new Map<string, string>();
    const browser = {
      cookie: "",
      lastSetCookie: "",
      address,
      async call(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
        const { publicUrl } = parts.settings;
        const form = cookieName(publicUrl);
        const sent = body === undefined ? {} : { body: JSON.stringify(body) };
        const response = await entry(
          new Request(`${publicUrl}/console/api${path}`, {
            method,
            headers: {
              "sec-fetch-site": "same-origin",
              "user-agent": "Test browser",
              ...printCookies(
                new Map([...others, ...(browser.cookie ? [[form, browser.cookie] as const] : [])]),
              ),
              ...(body === undefined ? {} : { "content-type": "application/json" }),
              ...headers,
            },
            ...sent,
          }),
          address,
        );
        for (const cookie of response.headers.getSetCookie()) {
          if (!cookie.startsWith(`${form}=`)) {
            const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
            if (KEPT.test(name)) others.set(name, value);
            continue;
          }
          browser.lastSetCookie = cookie;
          browser.cookie = cookie.slice(form.length + 1).split(";", 1)[0] ?? "";
        }
        const text = await response.text();
        const isJson = response.headers.get("content-type")?.startsWith("application/json") ?? false;
        const json = isJson ? JSON.parse(text) : undefined;
        return { status: response.status, headers: response.headers, text, json };
      },
    };
    return browser;
  };
}

/** The cookie of a begun sign-in. That of known devices is not kept: tests of throttles send it themselves. */
const KEPT = /tollgate\.oidc$/;

function printCookies(cookies: ReadonlyMap<string, string>): { cookie?: string } {
  const pairs = [...cookies].filter(([, value]) => value !== "").map(([name, value]) => `${name}=${value}`);
  return pairs.length === 0 ? {} : { cookie: pairs.join("; ") };
}

function cookieName(publicUrl: string): string {
  return publicUrl.startsWith("https://") ? `__Secure-${NAME}` : NAME;
}
