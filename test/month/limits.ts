import type { Company } from "./company.ts";
import type { Month } from "./month.ts";
import type { Reckoning } from "./reckoning.ts";
import { KEYS, type KeyName, type Scripted } from "./script.ts";
import { nanosOf } from "./sums.ts";

/** A request that nobody sends: it asks what would bind it. */
export function questionOf(key: KeyName, atMs: number): Scripted {
  return {
    ...{ index: 0, atMs, key, surface: "chat", user: "regular-1", isInBody: false, costMax: undefined },
    ...{ tags: { feature: "index" }, run: { id: "night-1" }, usage: undefined, outputMax: 1 },
    isRefunded: false,
  };
}

/** What the limits of a key have left, in one order. */
export type Left = readonly bigint[];

const inOrder = (left: readonly bigint[]): Left => left.toSorted((one, other) => (one < other ? -1 : 1));

export function reckonedLeft(reckoning: Reckoning, question: Scripted, isTagged: boolean): Left {
  const bound = reckoning.bind(question).filter(({ limit }) => isTagged || !limit.on?.startsWith("tag "));
  return inOrder(bound.map(({ left }) => left));
}

/** What the gRPC service says. */
export async function serviceLeft({ grpc, company }: Month["stage"], question: Scripted): Promise<Left> {
  const { key } = question;
  const { account } = KEYS[key];
  const walletId = company.accountIds[account];
  const keyId = company.ids.get(`${account} key ${key}`);
  const { limits } = await grpc.call("ListSpendLimits", {
    walletId,
    keyId,
    scopes: scopesOf(company, question),
  });
  return inOrder(
    limits.map(
      (each: { limit: { amountNanos: string }; usedNanos: string; heldNanos: string }) =>
        BigInt(each.limit.amountNanos) - BigInt(each.usedNanos) - BigInt(each.heldNanos),
    ),
  );
}

function scopesOf({ ids }: Pick<Company, "ids">, { key, user }: Scripted): readonly object[] {
  const { account, project, member } = KEYS[key];
  const idOf = (kind: string, name: string) => ids.get(`${account} ${kind} ${name}`);
  const above: object[] = [];
  for (let { under } = KEYS[key]; under; under = KEYS[under].under)
    above.push({ kind: "SCOPE_KIND_PARENT_KEY", id: idOf("key", under) });
  return [
    ...above,
    { kind: "SCOPE_KIND_PROJECT", id: idOf("project", project) },
    ...(member ? [{ kind: "SCOPE_KIND_MEMBER", id: idOf("member", member) }] : []),
    { kind: "SCOPE_KIND_END_USER", id: user },
    { kind: "SCOPE_KIND_TAG", id: "feature=index" },
    { kind: "SCOPE_KIND_RUN", id: `${idOf("key", key)}:night-1` },
  ];
}

/** What `GET /v1/key` says, which knows no tags. It shows nothing below 0. */
export async function keyLeft(
  url: string,
  { company }: Month["stage"],
  { key, user }: Scripted,
): Promise<Left> {
  const answer = await fetch(`${url}/v1/key`, {
    headers: {
      authorization: `Bearer ${company.secrets.get(key)}`,
      "x-tollgate-user": user ?? "",
      "x-tollgate-run": "night-1",
    },
  });
  const { spending_limits } = (await answer.json()) as {
    readonly spending_limits: readonly { readonly remaining_usd: string }[];
  };
  return inOrder(spending_limits.map(({ remaining_usd }) => nanosOf(remaining_usd)));
}
