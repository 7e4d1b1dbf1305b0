import { startServedProcess } from "../../support/served-process.ts";
import { tempFolder } from "../../support/temp-folder.ts";
import { until } from "../../support/until.ts";

/** A gateway with the demo model, as a first start in an empty folder leaves it. */
export interface FirstStart {
  readonly url: string;
  readonly email: string;
  /** Printed once, and to be replaced at the first sign-in. */
  readonly oneTimePassword: string;
  /** Secret of the demo account's key. */
  readonly secret: string;
  close(): Promise<void>;
}

/** Starts a gateway in an empty folder and reads the notice that it prints. */
export async function startForTheFirstTime(
  environment: Readonly<Record<string, string>> = {},
): Promise<FirstStart> {
  const served = await startServedProcess({ folder: tempFolder(), environment });
  const read = (pattern: RegExp) => pattern.exec(served.stderr())?.[1] ?? "";
  await until(() => read(/^ {2}password (\S+)$/m) !== "");
  return {
    url: served.url,
    email: read(/^ {2}sign in +(\S+)$/m),
    oneTimePassword: read(/^ {2}password (\S+)$/m),
    secret: read(/(sk-tg-[\w-]{43})/),
    async close() {
      served.signal("SIGKILL");
      await served.exitCode;
    },
  };
}
