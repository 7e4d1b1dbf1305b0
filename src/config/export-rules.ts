import { resolve } from "node:path";
import { isPrivateHost } from "../domain/addresses.ts";
import type { Path, Problems } from "./problems.ts";
import type { ConfigFile, ExportEntry, Partly } from "./schema.ts";

type Entries = NonNullable<Partly<ConfigFile>["exports"]>;

/** The keys of one kind of export, and of no other. */
const KEYS = {
  file: ["path", "rotate", "rotate_bytes"],
  http: ["url", "secret", "headers", "gzip", "batch_bytes", "timeout_ms"],
  otlp: ["url", "headers", "gzip", "batch_bytes", "timeout_ms"],
} as const;

/** Reports problems of exports beyond the schema: names, keys of another kind, addresses, paths used twice. */
export function checkExports(exports: Entries, problems: Problems): void {
  const paths = new Set<string>();
  for (const [name, entry = {}] of Object.entries(exports)) {
    const path = ["exports", name];
    if (!/^[a-z\d][a-z\d_-]{0,31}$/.test(name)) {
      const expected = "1 to 32 lower-case letters, digits, dashes and underscores";
      problems.add(path, "is not a valid name of an export", expected);
    }
    checkKeys(path, entry, problems);
    checkUrl(path, entry, problems);
    checkHeaders(path, entry, problems);
    if (entry.path === undefined) continue;
    const file = resolve(entry.path);
    if (paths.has(file)) problems.add([...path, "path"], "is the file of another export", "another path");
    paths.add(file);
  }
}

function checkKeys(path: Path, entry: Partly<ExportEntry>, problems: Problems): void {
  const { kind } = entry;
  if (kind === undefined) return;
  const known: readonly string[] = ["kind", "start", "batch_lines", ...KEYS[kind]];
  for (const [key, value] of Object.entries(entry)) {
    if (value === undefined || known.includes(key)) continue;
    problems.add([...path, key], `is not a key of kind ${kind}`, `one of ${known.join(", ")}`);
  }
  const required = kind === "file" ? "path" : "url";
  if (!Object.hasOwn(entry, required)) {
    problems.add([...path, required], "is missing", kind === "file" ? "the path of a file" : "an https URL");
  }
}

/** No text quotes the URL, which may hold a secret. */
function checkUrl(path: Path, { url: text }: Partly<ExportEntry>, problems: Problems): void {
  if (text === undefined) return;
  const at = [...path, "url"];
  const url = URL.parse(text);
  if (!url) problems.add(at, "is not a URL", "one such as https://usage.example.com/lines");
  else if (url.username || url.password) problems.add(at, "contains credentials", "them in headers");
  else if (url.hash) problems.add(at, "has a fragment", "a URL without #");
  else if (url.protocol !== "https:" && !(url.protocol === "http:" && isInternal(url.hostname))) {
    const wrong = url.protocol === "http:" ? "is not encrypted" : "has a scheme other than https and http";
    problems.add(at, wrong, "https, or http on a loopback, private or internal host");
  }
}

/** Private addresses, and names that are none on the public internet: one label, as in a container network. */
function isInternal(hostname: string): boolean {
  return isPrivateHost(hostname) || /^[a-z\d_-]+$|\.(local|internal|svc)$/.test(hostname);
}

const RESERVED = /^(host|connection|transfer-encoding|content-(length|type|encoding)|tollgate-.*)$/i;

function checkHeaders(path: Path, { headers = {} }: Partly<ExportEntry>, problems: Problems): void {
  for (const name of Object.keys(headers)) {
    if (/^[A-Za-z\d-]{1,64}$/.test(name) && !RESERVED.test(name)) continue;
    problems.add(
      [...path, "headers", name],
      "is not a header that can be set",
      "a name such as authorization",
    );
  }
}
