import { join } from "node:path";
import { pathOf } from "../identity.ts";
import { chooseCoding } from "./compress.ts";

/** Files of the built console on disk. */
export interface ConsoleBuild {
  readonly folder: string;
  /** The page of every path: the browser's router reads the path. */
  readonly html: string;
  /** Names of the files below `/console/assets/`. */
  readonly assets: readonly string[];
  /** Names of the assets that also exist with `.gz` and `.zst` at their end. */
  readonly compressed: readonly string[];
}

interface Asset {
  readonly path: string;
  readonly type: string;
  readonly isCompressed: boolean;
}

const ASSETS = "/console/assets/";
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join("; ");
const HEADERS = {
  "content-security-policy": POLICY,
  "cross-origin-opener-policy": "same-origin",
  "permissions-policy": "",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
};
const TYPES: Readonly<Record<string, string>> = {
  css: "text/css; charset=utf-8",
  js: "text/javascript; charset=utf-8",
};
const NOT_YET = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta http-equiv="refresh" content="1"><title>Tollgate</title></head>
<body><p>The console is being built. This page reloads by itself.</p></body></html>
`;
const FAILED = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Tollgate</title></head>
<body><p>The console could not be built: the log says why. Reload this page to try again.</p></body></html>
`;

/** What is known of the build when a page is asked for. */
export type BuildState = ConsoleBuild | "building" | "failed";

/**
 * Answers the console's page and its assets. `build` is asked at each request. A path of a client is looked
 * up among the names of the build and is never a path of a file.
 */
export function createPages(build: () => Promise<BuildState>): (request: Request) => Promise<Response> {
  let known: { readonly of: ConsoleBuild; readonly assets: ReadonlyMap<string, Asset> } | undefined;
  const assetsOf = (built: ConsoleBuild) => {
    if (known?.of !== built) known = { of: built, assets: listAssets(built) };
    return known.assets;
  };
  return async (request) => {
    if (request.method !== "GET" && request.method !== "HEAD") return answerText("Not found.\n", 404);
    const path = pathOf(request);
    const built = await build();
    if (built === "building") return answerPage(NOT_YET, 503, { "retry-after": "1" });
    if (built === "failed") return answerPage(FAILED, 503);
    if (!path.startsWith(ASSETS)) return answerPage(built.html, 200);
    const asset = assetsOf(built).get(path.slice(ASSETS.length));
    return asset ? answerAsset(asset, request) : answerText("Not found.\n", 404);
  };
}

function listAssets({ folder, assets, compressed }: ConsoleBuild): ReadonlyMap<string, Asset> {
  const small = new Set(compressed);
  return new Map(
    assets.map((name) => {
      const type = TYPES[name.split(".").at(-1) ?? ""] ?? "application/octet-stream";
      return [name, { path: join(folder, name), type, isCompressed: small.has(name) }];
    }),
  );
}

function answerAsset({ path, type, isCompressed }: Asset, { headers }: Request): Response {
  const coding = isCompressed ? chooseCoding(headers.get("accept-encoding") ?? "") : undefined;
  const file = Bun.file(coding ? `${path}.${coding.suffix}` : path);
  return new Response(file, {
    headers: {
      ...HEADERS,
      "content-type": type,
      "cache-control": "public, max-age=31536000, immutable",
      ...(isCompressed ? { vary: "accept-encoding" } : {}),
      ...(coding ? { "content-encoding": coding.name } : {}),
    },
  });
}

function answerPage(html: string, status: number, more: Record<string, string> = {}): Response {
  const type = "text/html; charset=utf-8";
  return new Response(html, {
    status,
    headers: { ...HEADERS, ...more, "content-type": type, "cache-control": "no-store" },
  });
}

function answerText(text: string, status: number): Response {
  return new Response(text, { status, headers: { ...HEADERS, "cache-control": "no-store" } });
}
