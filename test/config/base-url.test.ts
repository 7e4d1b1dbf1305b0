import { describe, expect, test } from "bun:test";
import { normaliseBaseUrl } from "../../src/config/settings.ts";
import { findBaseUrlProblem } from "../../src/config/upstream-rules.ts";

describe("findBaseUrlProblem", () => {
  test.each([
    "https://api.openai.com/v1",
    "https://8.8.8.8",
    "http://localhost:8000",
    "http://LOCALHOST/v1",
    "http://models.localhost",
    "http://127.0.0.1:1",
    "http://127.255.255.254",
    "http://10.1.2.3",
    "http://172.16.0.1",
    "http://172.31.255.255",
    "http://192.168.0.10:11434/v1",
    "http://[::1]:8000",
    "http://[fd12::1]",
    "http://[::ffff:127.0.0.1]",
    "http://2130706433",
    "http://127.0.0.1.",
    "http://１２７.0.0.1",
  ])("accepts %p", (url) => expect(findBaseUrlProblem(url)).toBeUndefined());

  test.each([
    ["http://api.openai.com/v1", "is not encrypted"],
    ["http://127.0.0.1.example.com", "is not encrypted"],
    ["http://localhost.example.com", "is not encrypted"],
    ["http://notlocalhost", "is not encrypted"],
    ["http://172.32.0.1", "is not encrypted"],
    ["http://192.169.0.1", "is not encrypted"],
    ["http://169.254.169.254", "is not encrypted"],
    ["http://0.0.0.0", "is not encrypted"],
    ["http://[2001:db8::1]", "is not encrypted"],
    ["http://134744072", "is not encrypted"],
    ["http://0x08080808", "is not encrypted"],
    ["http://localhost.", "is not encrypted"],
    ["http://evil.example\\@localhost", "is not encrypted"],
    ["http://localhost%2eevil.example", "is not encrypted"],
    ["http://127.0.0.1。evil.example", "is not encrypted"],
    ["http://[::ffff:8.8.8.8]", "is not encrypted"],
    ["http://[::ffff:169.254.169.254]", "is not encrypted"],
    ["http://[::]", "is not encrypted"],
    ["http://[::127.0.0.1]", "is not encrypted"],
    ["http://[fe80::1]", "is not encrypted"],
    ["http://[64:ff9b::7f00:1]", "is not encrypted"],
    ["http://100.64.0.1", "is not encrypted"],
    ["ftp://127.0.0.1", "has a scheme other than https and http"],
    ["file:///etc/passwd", "has a scheme other than https and http"],
    ["htp://api.openai.com/v1", "has a scheme other than https and http"],
    ["https://user@api.example", "contains credentials"],
    ["https://user:pass@api.example", "contains credentials"],
    ["http://localhost@evil.example", "contains credentials"],
    ["https://api.example/v1?key=1", "has a query or a fragment"],
    ["https://api.example/v1#x", "has a query or a fragment"],
    ["https://api.example/v1?", "has a query or a fragment"],
    ["https://api.example/v1#", "has a query or a fragment"],
    ["http://evil.example#@localhost", "has a query or a fragment"],
    ["api.example/v1", "is not a URL"],
    ["https://", "is not a URL"],
  ])("reports that %p %s", (url, wrong) => expect(findBaseUrlProblem(url)?.[0]).toBe(wrong));

  test("normaliseBaseUrl removes every slash at the end", () => {
    expect(normaliseBaseUrl("https://API.example/v1//")).toBe("https://api.example/v1");
    expect(normaliseBaseUrl("https://api.example")).toBe("https://api.example");
  });
});
