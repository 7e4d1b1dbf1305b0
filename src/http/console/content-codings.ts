/** A coding of answers, and the end of a file's name that has it. */
export interface ContentCoding {
  readonly name: "zstd" | "gzip";
  readonly suffix: "zst" | "gz";
}

/** Chooses the best coding that an `accept-encoding` names. One with `q=0` is refused by the client. */
export function chooseCoding(accepted: string): ContentCoding | undefined {
  const names = accepted
    .toLowerCase()
    .split(",")
    .map((each) => each.trim().split(";"))
    .filter(([, weight]) => !/^\s*q=0(\.0*)?$/.test(weight ?? ""))
    .map(([name]) => name);
  if (names.includes("zstd")) return { name: "zstd", suffix: "zst" };
  if (names.includes("gzip")) return { name: "gzip", suffix: "gz" };
  return undefined;
}
