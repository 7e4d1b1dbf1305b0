import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type BuildState, createPages } from "../../../src/http/console/pages.ts";

const folder = mkdtempSync(join(tmpdir(), "pages-"));
const SCRIPT = "console.log(1);";
for (const [name, bytes] of [
  ["main-1.js", SCRIPT],
  ["main-1.js.gz", Bun.gzipSync(SCRIPT)],
  ["main-1.js.zst", Bun.zstdCompressSync(SCRIPT)],
  ["small-1.css", "a{}"],
  ["manifest.json", "{}"],
] as const) {
  writeFileSync(join(folder, name), bytes);
}
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const BUILT: BuildState = {
  folder,
  html: "<!doctype html><title>Tollgate</title>",
  assets: ["main-1.js", "small-1.css"],
  compressed: ["main-1.js"],
};
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; " +
  "connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

const get = (path: string, options: { state?: BuildState; method?: string; accept?: string } = {}) => {
  const { state = BUILT, method = "GET", accept = "identity" } = options;
  const headers = { "accept-encoding": accept };
  return createPages(async () => state)(new Request(`http://console.test${path}`, { method, headers }));
};

describe("the pages of the console", () => {
  test.each(["/console", "/console/", "/console/accounts/1/keys", "/console/no/such/page"])(
    "%s is the page of the console, which the browser's router reads",
    async (path) => {
      const response = await get(path);
      expect(response.status).toBe(200);
      expect(await response.text()).toBe("<!doctype html><title>Tollgate</title>");
      expect(response.headers.get("cache-control")).toBe("no-store");
      expect(response.headers.get("content-type")).toBe("text/html; charset=utf-8");
    },
  );

  test.each(["/console", "/console/assets/main-1.js", "/console/assets/none.js"])(
    "%s carries the policy and the other headers of security",
    async (path) => {
      const { headers } = await get(path);
      expect(headers.get("content-security-policy")).toBe(POLICY);
      expect(headers.get("x-content-type-options")).toBe("nosniff");
      expect(headers.get("cross-origin-opener-policy")).toBe("same-origin");
      expect(headers.get("referrer-policy")).toBe("no-referrer");
      expect(headers.get("permissions-policy")).toBe("");
    },
  );

  test("an asset may be kept for ever, because its name changes with its content", async () => {
    const response = await get("/console/assets/main-1.js");
    expect(response.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
    expect(response.headers.get("content-type")).toBe("text/javascript; charset=utf-8");
    expect(await response.text()).toBe(SCRIPT);
  });

  test.each([
    ["gzip, deflate, br, zstd", "zstd"],
    ["gzip, deflate", "gzip"],
    ["zstd;q=0, gzip", "gzip"],
    ["GZIP;q=0.5", "gzip"],
    ["gzip;q=0", null],
    ["identity", null],
    ["", null],
  ])("accept-encoding %p is answered with %p", async (accept, coding) => {
    const { headers } = await get("/console/assets/main-1.js", { accept });
    expect(headers.get("content-encoding")).toBe(coding);
    expect(headers.get("vary")).toBe("accept-encoding");
  });

  test("a small asset is sent as it is", async () => {
    const { headers } = await get("/console/assets/small-1.css", { accept: "gzip" });
    expect(headers.get("content-encoding")).toBeNull();
    expect(headers.get("content-type")).toBe("text/css; charset=utf-8");
  });

  test.each([
    "/console/assets/",
    "/console/assets/none.js",
    "/console/assets/manifest.json",
    "/console/assets/main-1.js.gz",
    "/console/assets/..%2fmanifest.json",
    "/console/assets/..%5cmanifest.json",
    "/console/assets/%2e%2e%2f%2e%2e%2fetc%2fpasswd",
    "/console/assets//etc/passwd",
    "/console/assets/constructor",
    "/console/assets/__proto__",
  ])("%s is no asset: a client's path is never the path of a file", async (path) => {
    const response = await get(path);
    expect(response.status).toBe(404);
    expect(await response.text()).toBe("Not found.\n");
  });

  test("a page that is asked for while the console is built reloads itself", async () => {
    const response = await get("/console", { state: "building" });
    expect(response.status).toBe(503);
    expect(response.headers.get("retry-after")).toBe("1");
    expect(await response.text()).toContain('http-equiv="refresh"');
  });

  test("a failed build is said so, without its reason", async () => {
    const response = await get("/console", { state: "failed" });
    expect(response.status).toBe(503);
    expect(await response.text()).toContain("could not be built");
  });

  test("a page takes no other method", async () => {
    expect((await get("/console", { method: "POST" })).status).toBe(404);
    expect((await get("/console", { method: "HEAD" })).status).toBe(200);
  });
});
