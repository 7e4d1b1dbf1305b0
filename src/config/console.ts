import { isIP } from "node:net";
import { isLoopbackHost } from "../domain/addresses.ts";
import { parseSender } from "../domain/mail-address.ts";
import type { Environment } from "./placeholders.ts";
import type { Problems } from "./problems.ts";
import { readMasterKeys } from "./recordings.ts";

/** Settings of the console from the environment. */
export interface ConsoleConfig {
  /** Origin of the console, without a slash at its end; `undefined` for http://HOST:PORT. */
  readonly publicUrl: string | undefined;
  /** Addresses, and networks such as "10.0.0.0/8", whose `x-forwarded-for` names the caller. */
  readonly trustedProxies: readonly string[];
  /** `undefined` to print mails on stderr. */
  readonly mail: MailConfig | undefined;
  readonly stripe: StripeConfig;
  /** Keys that encrypt the bodies of requests, in base64: the first one encrypts. Without any, none is kept. */
  readonly recordingKeys?: readonly string[] | undefined;
  /** For tests, which no variable sets: webhooks may be sent to this machine, without TLS. */
  readonly allowsLoopbackWebhooks?: boolean;
}

/** The mail server and the sender of every mail. */
interface MailConfig {
  /** `smtp://USER:PASSWORD@HOST:PORT`, or `smtps://…` for TLS from the first byte. */
  readonly url: string;
  /** `NAME <ADDRESS>`, or an address. */
  readonly from: string;
}

/** The secrets of Stripe. Without both, payments are refused. */
interface StripeConfig {
  readonly secretKey: string | undefined;
  readonly webhookSecret: string | undefined;
}

/** Reads the variables of the console. No problem quotes a value, because some hold secrets. */
export function readConsole(environment: Environment, problems: Problems): ConsoleConfig {
  return {
    publicUrl: readPublicUrl(environment.PUBLIC_URL, problems),
    trustedProxies: readProxies(environment.TRUSTED_PROXIES, problems),
    mail: readMail(environment, problems),
    stripe: {
      secretKey: readSecret("STRIPE_SECRET_KEY", environment, problems),
      webhookSecret: readSecret("STRIPE_WEBHOOK_SECRET", environment, problems),
    },
    recordingKeys: readMasterKeys("RECORDING_KEYS", environment, problems),
  };
}

/** Accepts an origin alone: the console is served below `/console` of every host. */
export function readPublicUrl(text: string | undefined, problems: Problems): string | undefined {
  if (!text) return undefined;
  const url = URL.parse(text);
  const isHttp = url?.protocol === "https:" || url?.protocol === "http:";
  if (isHttp && [url.origin, `${url.origin}/`].includes(text)) return url.origin;
  const expected = "scheme, host and port alone, such as https://tollgate.example.com";
  problems.add(["PUBLIC_URL"], "is not an origin", expected);
  return undefined;
}

function readProxies(text: string | undefined, problems: Problems): readonly string[] {
  const proxies = (text ?? "").split(",").map((proxy) => proxy.trim());
  const named = proxies.filter((proxy) => proxy !== "");
  if (!named.every(isNetwork)) {
    const expected = "addresses or networks between commas, such as 10.0.0.0/8,192.0.2.1";
    problems.add(["TRUSTED_PROXIES"], "has an entry that is no address", expected);
  }
  return named;
}

function isNetwork(text: string): boolean {
  const [, address = "", bits] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const version = isIP(address);
  return version !== 0 && (bits === undefined || Number(bits) <= (version === 4 ? 32 : 128));
}

/** Reads `SMTP_URL` and `MAIL_FROM`. A sender without a server is ignored. */
function readMail(environment: Environment, problems: Problems): MailConfig | undefined {
  const { SMTP_URL: url, MAIL_FROM: from } = environment;
  if (from && !parseSender(from)) {
    problems.add(["MAIL_FROM"], "is not a sender", "an e-mail address, or NAME <ADDRESS>");
  }
  if (!url) return undefined;
  if (!isSmtpUrl(url)) {
    problems.add(
      ["SMTP_URL"],
      "is not the URL of a mail server",
      "smtp://USER:PASSWORD@HOST:PORT or smtps://…",
    );
  }
  if (!from) problems.add(["MAIL_FROM"], "is missing beside SMTP_URL", "the sender of mails");
  return { url, from: from ?? "" };
}

function isSmtpUrl(text: string): boolean {
  const url = URL.parse(text);
  if (!url || !/^smtps?:$/.test(url.protocol) || url.hostname === "") return false;
  const hasBothOrNone = (url.username === "") === (url.password === "");
  return hasBothOrNone && ["", "/"].includes(url.pathname) && !/[?#]/.test(text) && isDecodable(url);
}

function isDecodable({ username, password }: URL): boolean {
  try {
    return !/\p{Cc}/u.test(decodeURIComponent(username + password));
  } catch {
    return false;
  }
}

function readSecret(name: string, environment: Environment, problems: Problems): string | undefined {
  const secret = environment[name];
  if (!secret) return undefined;
  if (!/^[\x21-\x7e]+$/.test(secret)) {
    problems.add([name], "has a character that no secret has", "a secret without spaces or line breaks");
  }
  return secret;
}

/** Returns what a start warns of: settings that are valid, but unsafe or of no effect. */
export function findConsoleWarnings(
  { publicUrl, stripe }: ConsoleConfig,
  { host }: { readonly host: string },
): readonly string[] {
  const isPlain = publicUrl === undefined || publicUrl.startsWith("http://");
  const hasOneSecret = (stripe.secretKey === undefined) !== (stripe.webhookSecret === undefined);
  return [
    ...(isPlain && !isLoopbackHost(host)
      ? ["PUBLIC_URL is not https, though HOST is no loopback address"]
      : []),
    ...(hasOneSecret
      ? ["payments are refused, STRIPE_SECRET_KEY and STRIPE_WEBHOOK_SECRET go together"]
      : []),
  ];
}
