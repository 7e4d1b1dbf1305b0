import type { ConsoleParts } from "../../../src/http/console/console-parts.ts";
import { createLocation, type DIALECTS } from "../../accounts/temp-storage.ts";
import { openForTests } from "../../support/open-for-tests.ts";
import { openTestConsole, type TestConsole } from "../../support/test-console.ts";
import type { TestGatewayOptions } from "../../support/test-gateway.ts";

/** Opens a console on a database of its own, of either dialect. */
export async function openConsoleOn(
  dialect: (typeof DIALECTS)[number],
  overrides: Partial<ConsoleParts> = {},
  options: TestGatewayOptions = {},
): Promise<TestConsole> {
  const { location, drop } = await createLocation(dialect);
  const console = await openTestConsole({ ...options, database: location }, overrides);
  return {
    ...console,
    async stop() {
      await console.stop();
      await drop();
    },
  };
}

/** Opens a console of either dialect before a suite, or before each test, and stops it afterwards. */
export function consoleForTests(
  dialect: (typeof DIALECTS)[number],
  span: "suite" | "test" = "suite",
): TestConsole {
  return openForTests(
    () => openConsoleOn(dialect),
    (console) => console.stop(),
    span,
  );
}
