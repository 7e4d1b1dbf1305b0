import { beforeEach, describe, expect, test } from "bun:test";
import { listAuditEntries } from "../../src/accounts/audit-trail.ts";
import { updateKey } from "../../src/accounts/keys/key-changes.ts";
import { issueKey } from "../../src/accounts/keys/keys.ts";
import { setMemberLimit } from "../../src/accounts/member-limits.ts";
import { createProject, updateProject } from "../../src/accounts/project-changes.ts";
import { countProjectKeys, findProject, listProjects } from "../../src/accounts/projects.ts";
import { connectDatabase } from "../../src/db/database.ts";
import { addMember } from "./actors.ts";
import { DIALECTS, storageForTests } from "./temp-storage.ts";

const CONFLICT = { kind: "conflict" };
const DAILY = { amount: 5_000_000_000n, period: "day", timeZone: "Asia/Kolkata" } as const;
const WINDOW = { amount: 1_000_000_000n, period: "5h" } as const;

describe.each(DIALECTS)("projects in %s", (dialect) => {
  const storage = storageForTests(dialect);
  let account: { id: string; createdAtMs: number };
  beforeEach(async () => {
    account = await storage.newAccount();
  });

  const create = (name = "Search") => createProject(storage, { accountId: account.id, name });
  const trail = async () => {
    const page = { size: 50, after: undefined };
    const entries = await listAuditEntries(storage.database, { accountId: account.id }, page);
    return entries.map(({ action, target, before, after }) => ({
      action,
      target,
      before: JSON.parse(before ?? "null"),
      after: JSON.parse(after ?? "null"),
    }));
  };
  const limitIds = async () =>
    (await storage.ledger.spendLimits(account.id)).map(({ limitId }) => limitId).sort();

  test("an account has its default project from the beginning, and then those that are created", async () => {
    const [only] = await listProjects(storage.database, account);
    expect(only).toMatchObject({ id: account.id, name: "Default", version: 1 });
    const search = await create();
    expect(await listProjects(storage.database, account)).toEqual([only, search] as (typeof search)[]);
    expect(await findProject(storage.database, account, search.id)).toEqual(search);
    expect((await trail())[0]).toMatchObject({ action: "project.created", after: { name: "Search" } });
  });

  test("a name is taken once in an account, and by the default project for ever", async () => {
    const search = await create();
    await expect(create()).rejects.toMatchObject(CONFLICT);
    await expect(create("Default")).rejects.toMatchObject(CONFLICT);
    const other = await create("Other");
    await expect(updateProject(storage, other, { name: "Search" })).rejects.toMatchObject(CONFLICT);
    expect(await updateProject(storage, search, { name: "Search" })).toMatchObject({ version: 2 });
    const second = await storage.newAccount();
    expect(await createProject(storage, { accountId: second.id, name: "Search" })).toMatchObject({
      version: 1,
    });
  });

  test("one of two edits of one version wins", async () => {
    const search = await create();
    const other = await connectDatabase(storage.location);
    const edits = await Promise.allSettled([
      updateProject(storage, search, { name: "a" }),
      updateProject({ ...storage, database: other }, search, { name: "b" }),
    ]);
    await other.close();
    expect(edits.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    expect(edits.find(({ status }) => status === "rejected")).toMatchObject({ reason: CONFLICT });
  });

  test("an archived project takes no new keys, keeps those that it has, and may be restored", async () => {
    const search = await create();
    const { key } = await issueKey(storage, { accountId: account.id, name: "k", projectId: search.id });
    const archived = await updateProject(storage, search, { isArchived: true });
    expect(archived.archivedAtMs).toBe(storage.now());
    const late = issueKey(storage, { accountId: account.id, name: "late", projectId: search.id });
    await expect(late).rejects.toMatchObject(CONFLICT);
    const { key: free } = await issueKey(storage, { accountId: account.id, name: "free" });
    await expect(updateKey(storage, free, { projectId: search.id })).rejects.toMatchObject(CONFLICT);
    expect(await updateKey(storage, key, { name: "renamed" })).toMatchObject({ projectId: search.id });
    await updateProject(storage, archived, { isArchived: false });
    expect(await updateKey(storage, free, { projectId: search.id })).toMatchObject({ projectId: search.id });
    const actions = (await trail()).map(({ action }) => action);
    expect(actions).toContain("project.archived");
    expect(actions).toContain("project.restored");
    expect(await countProjectKeys(storage.database, account.id)).toEqual(new Map([[search.id, 2]]));
  });

  test("the default project is renamed and limited, and never archived", async () => {
    const [only] = await listProjects(storage.database, account);
    if (!only) throw new Error("There is no default project");
    await expect(updateProject(storage, only, { isArchived: true })).rejects.toMatchObject(CONFLICT);
    const renamed = await updateProject(storage, only, { name: "Main", spendingLimit: DAILY });
    expect(renamed).toMatchObject({ id: account.id, name: "Main", version: 2 });
    await expect(updateProject(storage, only, { name: "Late" })).rejects.toMatchObject(CONFLICT);
    expect(await limitIds()).toEqual([`project:${account.id}`]);
  });

  test("a project of another account is as unknown as one that does not exist", async () => {
    const other = await storage.newAccount();
    const foreign = await createProject(storage, { accountId: other.id, name: "Foreign" });
    const { key } = await issueKey(storage, { accountId: account.id, name: "k" });
    for (const projectId of [foreign.id, other.id, "none"]) {
      const wrong = { kind: "wrong_shape", publicMessage: expect.stringContaining("project_id") };
      const issuing = issueKey(storage, { accountId: account.id, name: "n", projectId });
      await expect(issuing).rejects.toMatchObject(wrong);
      await expect(updateKey(storage, key, { projectId })).rejects.toMatchObject(wrong);
      expect(await findProject(storage.database, account, projectId)).toBeUndefined();
      const edit = updateProject(
        storage,
        { id: projectId, accountId: account.id, version: 1 },
        { name: "x" },
      );
      await expect(edit).rejects.toMatchObject({ kind: "unknown_item" });
    }
  });

  test("limits of a project are set, changed and removed, each with its audit entry", async () => {
    const limits = { spendingLimit: DAILY, endUserLimit: WINDOW };
    const search = await createProject(storage, { accountId: account.id, name: "Search", ...limits });
    expect(await limitIds()).toEqual([`project:${search.id}`, `project:${search.id}:each_end_user`]);
    const larger = { ...DAILY, amount: 6_000_000_000n };
    const changed = await updateProject(storage, search, { spendingLimit: larger });
    await updateProject(storage, changed, { endUserLimit: null });
    expect(await limitIds()).toEqual([`project:${search.id}`]);
    expect((await storage.ledger.spendLimits(account.id))[0]).toMatchObject({
      amount: 6_000_000_000n,
      period: "day",
      timeZone: "Asia/Kolkata",
      scope: { kind: "project", id: search.id },
    });
    expect((await trail()).slice(0, 3)).toMatchObject([
      { before: { end_user_limit: { amount_usd: "1.00", period: "5h" } }, after: {} },
      {
        action: "project.updated",
        before: { spending_limit: { amount_usd: "5.00" } },
        after: { spending_limit: { amount_usd: "6.00", time_zone: "Asia/Kolkata" } },
      },
      { action: "project.created", after: { spending_limit: {}, end_user_limit: {} } },
    ]);
    const badZone = { ...DAILY, timeZone: "Nowhere" };
    await expect(updateProject(storage, changed, { endUserLimit: badZone })).rejects.toMatchObject({
      publicMessage: expect.stringContaining("end_user_limit.time_zone"),
    });
  });

  test("an owner who was removed meanwhile changes nothing", async () => {
    const owner = await addMember(storage.database, account.id, "owner");
    const developer = await addMember(storage.database, account.id, "developer");
    const search = await createProject(
      { ...storage, actor: owner },
      { accountId: account.id, name: "Search" },
    );
    const edit = updateProject({ ...storage, actor: developer }, search, { spendingLimit: null });
    await expect(edit).rejects.toMatchObject({ kind: "not_permitted" });
    const limit = { accountId: account.id, personId: developer.id, limit: WINDOW };
    await expect(setMemberLimit({ ...storage, actor: developer }, limit)).rejects.toMatchObject({
      kind: "not_permitted",
    });
    expect(await limitIds()).toEqual([]);
  });

  test("a member has a limit, and each member by itself; one who left can lose it", async () => {
    const owner = await addMember(storage.database, account.id, "owner");
    const parts = { ...storage, actor: owner };
    const ofOwner = { accountId: account.id, personId: owner.id };
    await setMemberLimit(parts, { ...ofOwner, limit: DAILY });
    await setMemberLimit(parts, { accountId: account.id, personId: undefined, limit: WINDOW });
    expect(await limitIds()).toEqual(["each_member", `member:${owner.id}`]);
    expect(
      (await storage.ledger.spendLimits(account.id)).map(({ scope, each }) => ({ scope, each })),
    ).toEqual([
      { scope: undefined, each: "member" },
      { scope: { kind: "member", id: owner.id }, each: undefined },
    ]);
    const stranger = { accountId: account.id, personId: "nobody", limit: DAILY };
    await expect(setMemberLimit(parts, stranger)).rejects.toMatchObject({ kind: "unknown_item" });
    const { members } = storage.database.tables;
    await storage.database.transact((tx) => tx.delete(members));
    await setMemberLimit(storage, { ...ofOwner, limit: null });
    expect(await limitIds()).toEqual(["each_member"]);
    expect((await trail()).map(({ action }) => action).slice(0, 3)).toEqual([
      "member.limit_changed",
      "account.each_member_limit_changed",
      "member.limit_changed",
    ]);
  });
});
