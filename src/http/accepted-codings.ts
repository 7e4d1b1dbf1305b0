/** Reads the codings that an `accept-encoding` names. One with `q=0` is refused by the client. */
export function acceptedCodings(header: string): ReadonlySet<string> {
  const named = header
    .toLowerCase()
    .split(",")
    .map((each) => each.trim().split(";"))
    .filter(([, weight]) => !/^\s*q=0(\.0*)?$/.test(weight ?? ""));
  return new Set(named.map(([name = ""]) => name.trim()));
}
