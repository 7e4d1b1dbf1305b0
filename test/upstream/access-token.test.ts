import { describe, expect, test } from "bun:test";
import type { AccessToken } from "../../src/upstream/access-tokens.ts";
import { CredentialsUnavailable, createGoogleTokens } from "../../src/upstream/vertex-transport.ts";

const MINUTE = 60_000;

/** A source of numbered tokens that live for an hour, and a clock of minutes. */
function createSource() {
  let minute = 0;
  let fetched = 0;
  let isDown = false;
  const fetchToken = async (): Promise<AccessToken> => {
    fetched += 1;
    if (isDown) throw new Error("secret text of the provider");
    return { token: `token-${fetched}`, expiresAtMs: (minute + 60) * MINUTE };
  };
  return {
    tokens: createGoogleTokens(fetchToken, () => minute * MINUTE),
    at(to: number) {
      minute = to;
    },
    setDown(down: boolean) {
      isDown = down;
    },
    fetched: () => fetched,
  };
}

describe("an access token", () => {
  test("is fetched once for all who wait, and then read without a promise", async () => {
    const { tokens, fetched } = createSource();
    expect(await Promise.all([tokens.read(), tokens.read(), tokens.read()])).toEqual([
      "token-1",
      "token-1",
      "token-1",
    ]);
    expect([tokens.read(), fetched()]).toEqual(["token-1", 1]);
  });

  test("is renewed in the background before it expires", async () => {
    const { tokens, at } = createSource();
    await tokens.read();
    at(56);
    expect(tokens.read()).toBe("token-1");
    await Bun.sleep(0);
    expect(tokens.read()).toBe("token-2");
  });

  test("is not sent after its end", async () => {
    const { tokens, at } = createSource();
    await tokens.read();
    at(60);
    expect(await tokens.read()).toBe("token-2");
  });

  test("is kept while its renewal fails, which is tried again after ten seconds", async () => {
    const { tokens, at, setDown, fetched } = createSource();
    await tokens.read();
    at(56);
    setDown(true);
    for (const _ of [1, 2, 3]) {
      expect(tokens.read()).toBe("token-1");
      await Bun.sleep(0);
    }
    expect(fetched()).toBe(2);
    at(57);
    setDown(false);
    expect(tokens.read()).toBe("token-1");
    await Bun.sleep(0);
    expect(tokens.read()).toBe("token-3");
  });

  test("is fetched again after the provider rejected it, unless it is younger than a minute", async () => {
    const { tokens, at } = createSource();
    await tokens.read();
    tokens.reject();
    expect(tokens.read()).toBe("token-1");
    at(2);
    tokens.reject();
    expect(await tokens.read()).toBe("token-2");
  });

  test("that cannot be had is a fault without the provider's text, and is tried again", async () => {
    const { tokens, setDown } = createSource();
    setDown(true);
    const fault = await Promise.resolve(tokens.read()).catch((error: unknown) => error);
    expect(fault).toBeInstanceOf(CredentialsUnavailable);
    expect(String(fault)).not.toContain("secret");
    setDown(false);
    expect(await tokens.read()).toBe("token-2");
  });
});
