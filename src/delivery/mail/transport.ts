import { Socket } from "node:net";
import { isLoopbackHost } from "../../domain/addresses.ts";
import { parseSender } from "../../domain/mail-address.ts";
import { within } from "../../platform.ts";
import { loadPart } from "../../program-files.ts";
import type { MailText } from "./mails.ts";

/** A mail server, and the sender of every mail. */
export interface MailServer {
  /** `smtp://USER:PASSWORD@HOST:PORT`, or `smtps://…` for TLS from the first byte. */
  readonly url: string;
  /** `NAME <ADDRESS>`, or an address. */
  readonly from: string;
}

/** One mail to one address. */
interface Letter extends MailText {
  /** Equal for all tries, so that a mail program can drop a repetition. */
  readonly id: string;
  readonly address: string;
}

/** Sends a mail. Rejects when the server did not accept it within a minute. */
export type SendMail = (letter: Letter) => Promise<void>;

const CONNECT_MS = 10_000;
const SILENCE_MS = 20_000;
/** For the whole conversation: a server that sends a byte now and then is never silent. */
export const SEND_MS_MAX = 60_000;

/** Creates the sender of a mail server. The library is loaded at the first mail. */
export function createSmtpTransport(server: MailServer): SendMail {
  const from = parseSender(server.from);
  return async ({ id, address, subject, text, html }) => {
    if (!from) throw new Error("The sender is no e-mail address");
    const domain = from.address.slice(from.address.indexOf("@") + 1);
    await converse(server.url, (transport) =>
      transport.sendMail({
        from,
        to: { name: "", address },
        subject,
        text,
        html,
        messageId: `<${id}@${domain}>`,
        headers: { "auto-submitted": "auto-generated" },
        disableFileAccess: true,
        disableUrlAccess: true,
      }),
    );
  };
}

/** Resolves when the server accepts a connection and the login, within a minute. Sends no mail. */
export async function checkMailServer(url: string): Promise<void> {
  await converse(url, (transport) => transport.verify());
}

/**
 * Runs one conversation with a mail server. Its socket is ours: at the time limit the library would leave the
 * connection to a server that never ends its answer, and it would keep the process alive.
 */
async function converse(
  url: string,
  talk: (transport: Awaited<ReturnType<typeof createTransport>>) => Promise<unknown>,
): Promise<void> {
  const socket = new Socket();
  try {
    const transport = await createTransport(url, socket);
    await within(SEND_MS_MAX, talk(transport), () => {
      throw new Error("The mail server took too long");
    });
  } finally {
    socket.destroy();
  }
}

/** Requires TLS for a password that leaves the machine: a stranger could remove the offer of STARTTLS. */
async function createTransport(url: string, socket: Socket) {
  const { createTransport } = await loadPart(() => import("nodemailer"));
  const { protocol, hostname, port, username, password } = new URL(url);
  const isEncrypted = protocol === "smtps:";
  const host = hostname.replace(/^\[|\]$/g, "");
  const login = username && { user: decodeURIComponent(username), pass: decodeURIComponent(password) };
  return createTransport({
    socket,
    host,
    port: Number(port) || (isEncrypted ? 465 : 587),
    secure: isEncrypted,
    requireTLS: !isEncrypted && Boolean(login) && !isLoopbackHost(host),
    ...(login ? { auth: login } : {}),
    connectionTimeout: CONNECT_MS,
    greetingTimeout: CONNECT_MS,
    dnsTimeout: CONNECT_MS,
    socketTimeout: SILENCE_MS,
  });
}

/** Prints mails on stderr, so that a lone operator can follow their links. Stdout is the log. */
export function createPrinter(
  write: (text: string) => void = (text) => process.stderr.write(text),
): SendMail {
  return async ({ address, subject, text }) => {
    const lines = text.trimEnd().replaceAll("\n", "\n  ");
    write(`\nMail to ${address}, printed because SMTP_URL is not set: ${subject}\n\n  ${lines}\n\n`);
  };
}
