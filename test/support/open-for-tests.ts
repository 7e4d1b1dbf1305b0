import { afterAll, afterEach, beforeAll, beforeEach } from "bun:test";

/**
 * Opens something before the first test of a suite, or before each test, and closes it afterwards. Returns a
 * stand-in whose members are those of what is open. Throws when it is used before.
 */
export function openForTests<Opened extends object>(
  open: () => Promise<Opened>,
  close: (opened: Opened) => Promise<unknown>,
  span: "suite" | "test" = "suite",
): Opened {
  const [before, after] = span === "suite" ? [beforeAll, afterAll] : [beforeEach, afterEach];
  let opened: Opened | undefined;
  const current = (): Opened => {
    if (!opened) throw new Error("It is not open yet: use it in a hook or a test");
    return opened;
  };
  before(async () => {
    opened = await open();
  });
  after(() => close(current()));
  return new Proxy({} as Opened, {
    get(_, name) {
      const member: unknown = Reflect.get(current(), name);
      return typeof member === "function" ? member.bind(current()) : member;
    },
    // Both let the stand-in be spread.
    ownKeys: () => Reflect.ownKeys(current()),
    getOwnPropertyDescriptor: (_, name) => {
      const descriptor = Reflect.getOwnPropertyDescriptor(current(), name);
      return descriptor && { ...descriptor, configurable: true };
    },
  });
}
