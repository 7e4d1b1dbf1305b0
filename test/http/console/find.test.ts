import { describe, expect, test } from "bun:test";
import type { Actor } from "../../../src/accounts/audit-trail.ts";
import { DIALECTS } from "../../accounts/temp-storage.ts";
import { CHAT, post } from "../../support/client.ts";
import { consoleForTests } from "./open-consoles.ts";

describe.each(DIALECTS)("find on %s", (dialect) => {
  const console = consoleForTests(dialect);

  const payer = async (name = "test") => {
    const { key, secret } = await console.gateway.newPayer("5", { name });
    return {
      accountId: key.accountId,
      key,
      secret,
      viewer: await console.newMember(key.accountId, "viewer"),
    };
  };
  const find = async (actor: Actor, text: string) => {
    const answer = await console.call(actor, "GET", `/find?q=${encodeURIComponent(text)}`);
    expect(answer.status).toBe(200);
    return answer.json.items.map(({ kind, account_id, id }: Record<string, unknown>) => [
      kind,
      account_id,
      id,
    ]);
  };
  const idOf = (response: Response) => response.headers.get("x-request-id") ?? "";

  test("finds a request by its id, in accounts of the caller and for operators", async () => {
    const { secret, viewer, accountId } = await payer();
    const { viewer: stranger } = await payer();
    const id = idOf(await post(console.gateway, CHAT, { secret }));
    const found = [["request", accountId, id]];
    expect(await find(viewer, id)).toEqual(found);
    expect(await find(viewer, `  ${id.toUpperCase()} `)).toEqual(found);
    expect(await find(console.newOperator(), id)).toEqual(found);
    expect(await find(stranger, id)).toEqual([]);
    expect(await find(viewer, id.slice(0, 30))).toEqual([]);
  });

  test("finds a refused request by its id, and nothing of another account", async () => {
    const { secret, viewer, accountId } = await payer();
    const { viewer: stranger } = await payer();
    const refused = await post(console.gateway, CHAT, { secret, raw: "{" });
    const found = [["refusal", accountId, idOf(refused)]];
    expect(await find(viewer, idOf(refused))).toEqual(found);
    expect(await find(console.newOperator(), idOf(refused))).toEqual(found);
    expect(await find(stranger, idOf(refused))).toEqual([]);
    expect(await find(viewer, Bun.randomUUIDv7())).toEqual([]);
  });

  test("finds keys by id, hint, secret and a part of the name, but not those of others", async () => {
    const name = `Batch_${crypto.randomUUID()}%`;
    const { viewer, accountId, key, secret } = await payer(name);
    const { viewer: stranger } = await payer();
    const found = [["key", accountId, key.id]];
    for (const text of [key.id, key.hint, secret, name.toLowerCase().slice(2, 30), name]) {
      expect([text, await find(viewer, text)]).toEqual([text, found]);
      expect(await find(stranger, text)).toEqual([]);
    }
    expect(await find(viewer, "%")).toEqual(found);
    expect(await find(stranger, "%")).toEqual([]);
    expect(await find(viewer, "' OR 1=1 --")).toEqual([]);
    expect(await find(viewer, "\\")).toEqual([]);
  });

  test("finds models of the catalog, and accounts by name", async () => {
    const { viewer, accountId } = await payer();
    expect(await find(viewer, "laud")).toEqual([["model", null, "claude"]]);
    const { name } = (await console.call(viewer, "GET", `/accounts/${accountId}`)).json;
    expect(await find(viewer, name)).toEqual([["account", accountId, accountId]]);
    expect(await find((await payer()).viewer, name)).toEqual([]);
  });

  test("needs a session, and a person who has chosen a password", async () => {
    expect((await console.call(undefined, "GET", "/find?q=x")).status).toBe(401);
    const session = { id: "s", mustChangePassword: true, confirmedAtMs: undefined };
    expect((await console.call(console.newOperator({ session }), "GET", "/find?q=x")).status).toBe(403);
    expect((await console.call(console.newOperator(), "GET", "/find?q=")).status).toBe(422);
    expect((await console.call(console.newOperator(), "GET", "/find?q=%00")).status).toBe(422);
  });

  test("finds for a management key what is in its account, and for that of the platform everything", async () => {
    const { secret, accountId } = await payer();
    const other = await payer();
    const id = idOf(await post(console.gateway, CHAT, { secret }));
    const managed = (account: string) =>
      console.newOperator({
        kind: "management_key",
        isOperator: false,
        session: undefined,
        role: { accountId: account, role: "viewer" },
      });
    expect(await find(managed(accountId), id)).toHaveLength(1);
    expect(await find(managed(other.accountId), id)).toEqual([]);
    const platform = console.newOperator({ kind: "management_key", session: undefined });
    expect(await find(platform, id)).toHaveLength(1);
  });
});
