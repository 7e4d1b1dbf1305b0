import { describeFault, type Log } from "../../telemetry/log.ts";
import { checkMailServer, type MailServer, type SendMail } from "./transport.ts";

/** Why a mail server cannot be used. */
export type MailProblem = "login_refused" | "no_answer";

/** What is known of the mail server. */
export interface MailServerState {
  /** `undefined` for a server that accepts connection and login, and before the first check. */
  readonly problem: MailProblem | undefined;
  readonly checkedAtMs: number | undefined;
}

/** Connects and signs in, and sends no mail. Resolves with `undefined` when the server accepts both. */
export async function findMailProblem({ url }: Pick<MailServer, "url">): Promise<MailProblem | undefined> {
  try {
    await checkMailServer(url);
    return undefined;
  } catch (error) {
    const isRefused = error instanceof Error && "code" in error && error.code === "EAUTH";
    return isRefused ? "login_refused" : "no_answer";
  }
}

interface WatchOptions {
  readonly server: MailServer;
  readonly log: Log;
  readonly now?: () => number;
  /** Default: 2 s, when the process has started and its first requests are answered. */
  readonly firstMs?: number;
  /** Time to the next check while there is a problem. Default: 60 s. */
  readonly againMs?: number;
}

/** Watches whether the mail server can be used. */
export interface MailServerWatch {
  state(): MailServerState;
  /** Sends, and checks the server after a mail that it did not take. */
  guard(send: SendMail): SendMail;
  close(): Promise<void>;
}

/**
 * Checks the mail server after the start, after a failed mail, and every minute while there is a problem. A
 * server that works is not asked again. Logs changes only.
 */
export function watchMailServer({ server, log, ...options }: WatchOptions): MailServerWatch {
  const { now = Date.now, firstMs = 2_000, againMs = 60_000 } = options;
  let state: MailServerState = { problem: undefined, checkedAtMs: undefined };
  let timer: Timer | undefined;
  let isChecking = false;
  let isClosed = false;

  async function check(): Promise<void> {
    const problem = await findMailProblem(server);
    if (isClosed) return;
    if (problem && problem !== state.problem) log.warn({ problem }, "mail server unusable: see SMTP_URL");
    if (!problem && state.problem) log.info({}, "mail server usable again");
    state = { problem, checkedAtMs: now() };
    if (problem) schedule(againMs);
  }

  function schedule(ms: number): void {
    if (isClosed) return;
    clearTimeout(timer);
    timer = setTimeout(begin, ms);
    timer.unref();
  }

  function begin(): void {
    if (isChecking || isClosed) return;
    isChecking = true;
    void check()
      .catch((fault) => log.error(describeFault(fault), "mail server not checked"))
      .finally(() => {
        isChecking = false;
      });
  }

  schedule(firstMs);
  return {
    state: () => state,
    guard: (send) => async (letter) => {
      try {
        await send(letter);
      } catch (fault) {
        begin();
        throw fault;
      }
    },
    async close() {
      isClosed = true;
      clearTimeout(timer);
    },
  };
}
