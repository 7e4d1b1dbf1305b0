import { beforeEach, describe, expect, test } from "bun:test";
import { createAuthenticate } from "../../src/accounts/keys/authenticate.ts";
import { createMakeChild } from "../../src/accounts/keys/child-keys.ts";
import { runKeyCreate, runKeyList } from "../../src/cli/key.ts";
import { runKeyUpdate } from "../../src/cli/key-changes.ts";
import {
  runMemberLimit,
  runProjectArchive,
  runProjectCreate,
  runProjectLimit,
  runProjectList,
  runProjectRename,
} from "../../src/cli/project.ts";
import { addMember } from "../accounts/actors.ts";
import { storageForTests } from "../accounts/temp-storage.ts";

const storage = storageForTests();
let account: { readonly id: string };
beforeEach(async () => {
  account = await storage.newAccount("acme");
});

const ACME = { account: "acme" };
const create = (options = {}) => runProjectCreate(storage, { ...ACME, name: "Search", ...options });

describe("project", () => {
  test("create, rename, archive and restore name a project by its id or name", async () => {
    const { json } = await create({ spendingLimit: 5_000_000_000n, reset: "5h" });
    expect(json).toMatchObject({
      name: "Search",
      keys: 0,
      spending_limit: { amount_usd: "5.00", reset: "5h" },
    });
    await expect(create()).rejects.toThrow("The account has a project of this name.");
    const renamed = await runProjectRename(storage, String(json.id), { ...ACME, name: "Find" });
    expect(renamed).toMatchObject({ json: { name: "Find", version: 2 }, text: "Renamed project Find." });
    await runProjectArchive(storage, "Find", ACME);
    const key = { ...ACME, name: "k", project: "Find" };
    await expect(runKeyCreate(storage, key)).rejects.toThrow("Project Find is archived");
    await runProjectArchive(storage, "Find", { ...ACME, restore: true });
    expect((await runKeyCreate(storage, key)).json).toMatchObject({ project_id: json.id });
    const { text } = await runProjectList(storage, ACME);
    expect(text.split("\n").map((line) => line.split(/ {2,}/).slice(1, 5))).toEqual([
      ["NAME", "STATE", "KEYS", "SPENDING LIMIT"],
      ["Default", "open", "0", "none"],
      ["Find", "open", "1", "0.00 of 5.00 USD (5h)"],
    ]);
    await expect(runProjectRename(storage, "none", { ...ACME, name: "x" })).rejects.toThrow(
      'no project "none"',
    );
    await expect(runProjectArchive(storage, "Default", ACME)).rejects.toThrow("default project");
  });

  test("limit sets and removes what a project, or each of its end users, may spend", async () => {
    await create();
    const amount = 1_000_000_000n;
    const limited = await runProjectLimit(storage, "Search", { ...ACME, amount, reset: "day" });
    expect(limited.json).toMatchObject({
      spending_limit: { amount_usd: "1.00", reset: "day", used_usd: "0.00" },
    });
    const each = { ...ACME, amount, eachEndUser: true };
    const { json, text } = await runProjectLimit(storage, "Search", each);
    expect(json).toMatchObject({ end_user_limit: { amount_usd: "1.00", reset: "total" } });
    expect(text).toBe("Limited each end user of project Search.");
    const removed = await runProjectLimit(storage, "Search", { ...ACME, amount: false });
    expect(removed.json).toMatchObject({ spending_limit: null, end_user_limit: {} });
    const wrong = runProjectLimit(storage, "Search", { ...ACME, amount, timeZone: "Nowhere" });
    await expect(wrong).rejects.toMatchObject({ exitCode: 2 });
  });

  test("a key moves between projects by command, and makes keys where it may", async () => {
    const { json: project } = await create();
    const { json: root } = await runKeyCreate(storage, { ...ACME, name: "root", allowChildren: true });
    expect(root).toMatchObject({ project_id: account.id, allows_children: true, parent_id: null });
    const secret = String(root.key);
    const { key } = await createAuthenticate(storage)(secret);
    const spendingLimit = { amount: 1n, period: "total" } as const;
    const wanted = { name: "low", spendingLimit, lifeMs: 60_000, models: undefined };
    const child = await createMakeChild(storage)({ key, secret }, wanted);
    const moved = await runKeyUpdate(storage, String(root.id), { project: "Search", allowChildren: false });
    expect(moved.json).toMatchObject({ project_id: project.id, allows_children: false });
    expect((await runKeyList(storage, ACME)).json).toMatchObject({ keys: [{ id: root.id }] });
    const below = await runKeyList(storage, { ...ACME, parent: String(root.id) });
    expect(below.json).toMatchObject({ keys: [{ id: child.key.id, project_id: project.id }] });
    const change = runKeyUpdate(storage, child.key.id, { project: "Default" });
    await expect(change).rejects.toThrow("keeps project and rates of its root");
  });
});

describe("member limit", () => {
  test("limits one member by e-mail, or each", async () => {
    const person = await addMember(storage.database, account.id, "developer");
    const amount = 50_000_000_000n;
    const { json } = await runMemberLimit(storage, { ...ACME, amount, reset: "month", person: person.name });
    expect(json).toMatchObject({
      person_id: person.id,
      spending_limit: { amount_usd: "50.00", reset: "month" },
    });
    const each = await runMemberLimit(storage, { ...ACME, amount, each: true });
    expect(each).toMatchObject({ json: { person_id: null }, text: "Limited each member of account acme." });
    const removed = await runMemberLimit(storage, { ...ACME, amount: false, each: true });
    expect(removed.json.spending_limit).toBeNull();
    const stranger = runMemberLimit(storage, { ...ACME, amount, person: "nobody@example.com" });
    await expect(stranger).rejects.toThrow("There is no person");
    await expect(runMemberLimit(storage, { ...ACME, amount })).rejects.toMatchObject({ exitCode: 2 });
  });
});
