import { describe, expect, test } from "bun:test";
import { findConsoleWarnings } from "../../src/config/console.ts";
import { loadYaml, placesOf, problemsOf } from "./temp-config.ts";

describe("the settings of the console", () => {
  test("are read from the environment and the file", () => {
    const { console, signUp } = loadYaml("console: { sign_up: open }", {
      PUBLIC_URL: "https://tollgate.example.com/",
      TRUSTED_PROXIES: "10.0.0.0/8, 192.0.2.1,::1",
      SMTP_URL: "smtp://u:p%40ss@mail.example.com:587",
      MAIL_FROM: "Tollgate <noreply@example.com>",
      STRIPE_SECRET_KEY: "sk_test_1",
    });
    expect(signUp).toBe("open");
    expect(console).toMatchObject({
      publicUrl: "https://tollgate.example.com",
      trustedProxies: ["10.0.0.0/8", "192.0.2.1", "::1"],
      mail: { from: "Tollgate <noreply@example.com>" },
    });
    expect(findConsoleWarnings(console, { host: "127.0.0.1" })).toHaveLength(1);
  });

  test("have defaults", () => {
    const { console, signUp } = loadYaml("");
    expect(signUp).toBe("invited");
    expect(console).toMatchObject({ publicUrl: undefined, trustedProxies: [], mail: undefined });
    expect(findConsoleWarnings(console, { host: "127.0.0.1" })).toEqual([]);
    expect(findConsoleWarnings(console, { host: "0.0.0.0" })).toHaveLength(1);
  });

  test.each([
    ["PUBLIC_URL", { PUBLIC_URL: "https://h.example/path" }],
    ["PUBLIC_URL", { PUBLIC_URL: "ftp://h.example" }],
    ["PUBLIC_URL", { PUBLIC_URL: "https://s3cr3t:x@h.example" }],
    ["TRUSTED_PROXIES", { TRUSTED_PROXIES: "10.0.0.0/33" }],
    ["TRUSTED_PROXIES", { TRUSTED_PROXIES: "proxy.example" }],
    ["SMTP_URL", { SMTP_URL: "http://s3cr3t.example", MAIL_FROM: "a@e.com" }],
    ["SMTP_URL", { SMTP_URL: "smtp://user@h", MAIL_FROM: "a@e.com" }],
    ["MAIL_FROM", { SMTP_URL: "smtp://h.example" }],
    ["MAIL_FROM", { MAIL_FROM: "a@e.com\r\nBcc: s3cr3t@e.com" }],
    ["STRIPE_SECRET_KEY", { STRIPE_SECRET_KEY: "s3cr3t with spaces" }],
  ])("with a bad %s are a problem that quotes no value: %j", (place, environment) => {
    const problems = problemsOf("", environment);
    expect(placesOf(problems)).toEqual([place]);
    expect(problems.join()).not.toContain("s3cr3t");
  });
});
