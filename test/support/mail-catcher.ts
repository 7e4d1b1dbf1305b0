import type { AddressInfo } from "node:net";
import { SMTPServer, type SMTPServerOptions } from "smtp-server";

/** A mail that the catcher accepted. */
interface CaughtMail {
  /** The sender and the recipients of the SMTP conversation, which decide where a mail goes. */
  readonly from: string;
  readonly to: readonly string[];
  /** Headers and body, decoded from quoted-printable. */
  readonly text: string;
}

/** A real SMTP server that keeps what it is sent. */
export interface MailCatcher {
  /** "smtp://127.0.0.1:PORT" */
  readonly url: string;
  readonly port: number;
  readonly mails: CaughtMail[];
  /** Resolves with the first mail that matches. Rejects after two minutes. */
  until(matches: (mail: CaughtMail) => boolean): Promise<CaughtMail>;
  stop(): Promise<void>;
}

export async function startMailCatcher(
  options: SMTPServerOptions = {},
  host = "127.0.0.1",
): Promise<MailCatcher> {
  const mails: CaughtMail[] = [];
  const server = new SMTPServer({
    authOptional: true,
    allowInsecureAuth: true,
    disabledCommands: ["STARTTLS"],
    async onData(stream, { envelope }, callback) {
      const text = decode(Buffer.concat(await Array.fromAsync(stream)).toString("latin1"));
      const from = envelope.mailFrom ? envelope.mailFrom.address : "";
      mails.push({ from, to: envelope.rcptTo.map(({ address }) => address), text });
      callback();
    },
    ...options,
  });
  server.on("error", () => undefined);
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  const { port } = server.server.address() as AddressInfo;
  return {
    url: `smtp://127.0.0.1:${port}`,
    port,
    mails,
    async until(matches) {
      const deadline = performance.now() + 120_000;
      for (;;) {
        const found = mails.find(matches);
        if (found) return found;
        if (performance.now() > deadline) throw new Error("The mail did not arrive");
        await Bun.sleep(10);
      }
    },
    stop: () => new Promise((resolve) => server.close(resolve)),
  };
}

function decode(text: string): string {
  const joined = text.replace(/=\r\n/g, "");
  const bytes = joined.replace(/=([\dA-F]{2})/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, "latin1").toString("utf8");
}
