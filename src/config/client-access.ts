import { readPublicUrl } from "./console.ts";
import { type HttpAddress, readHttpAddress } from "./environment.ts";
import type { Environment } from "./placeholders.ts";
import { ConfigError, createProblems } from "./problems.ts";

/** How a client on this machine reaches a gateway. */
interface ClientAccess {
  /** Where people reach the gateway; `undefined` when it is not set. */
  readonly publicUrl: string | undefined;
  readonly address: HttpAddress;
  /** The secret of a key; `undefined` when it is not set. */
  readonly key: string | undefined;
}

/** Reads `PUBLIC_URL`, `HOST`, `PORT` and `TOLLGATE_KEY`. Throws {@link ConfigError}. */
export function loadClientAccess(environment: Environment = Bun.env): ClientAccess {
  const problems = createProblems();
  const access = {
    publicUrl: readPublicUrl(environment.PUBLIC_URL, problems),
    address: readHttpAddress(environment, problems),
    key: environment.TOLLGATE_KEY || undefined,
  };
  const all = problems.list();
  if (all.length > 0) throw new ConfigError(all);
  return access;
}
