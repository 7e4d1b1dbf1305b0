import { beforeEach, describe, expect, test } from "bun:test";
import type { Actor } from "../../../src/accounts/audit-trail.ts";
import { createAuthenticate } from "../../../src/accounts/keys/authenticate.ts";
import { rotateKey } from "../../../src/accounts/keys/key-changes.ts";
import { findKeys, issueKey } from "../../../src/accounts/keys/keys.ts";
import {
  findManagementKey,
  type IssuedManagementKey,
  issueManagementKey,
} from "../../../src/accounts/keys/management-keys.ts";
import { setOperator } from "../../../src/accounts/people/directory.ts";
import { invite, listInvitations } from "../../../src/accounts/people/invitations.ts";
import { changeRole, removeMember } from "../../../src/accounts/people/members.ts";
import { createLink, openLink } from "../../../src/accounts/shared-links.ts";
import { addMember, addPerson } from "../actors.ts";
import { DIALECTS, storageForTests } from "../temp-storage.ts";

const mails = { enqueue: async () => undefined };

describe.each(DIALECTS)("what a person made, in %s,", (dialect) => {
  const storage = storageForTests(dialect);
  let accountId: string;
  let owner: Actor;
  beforeEach(async () => {
    accountId = (await storage.newAccount()).id;
    owner = await addMember(storage.database, accountId, "owner");
  });

  const newKey = (actor: Actor) => issueKey({ ...storage, actor }, { accountId, name: "k" });
  const isAccepted = async (secret: string) => {
    const authenticate = createAuthenticate({ database: storage.database, now: storage.now });
    return Promise.resolve(authenticate(secret)).then(
      () => true,
      () => false,
    );
  };
  const actorOf = ({ secret }: IssuedManagementKey) =>
    findManagementKey(storage.database, secret, storage.now());
  async function newProgram(by: Actor, of: string | undefined = accountId): Promise<IssuedManagementKey> {
    const scope = of ? ({ accountId: of, role: "owner" } as const) : undefined;
    const platform = { accountId: undefined, role: "operator" } as const;
    return issueManagementKey(storage, by, { ...(scope ?? platform), name: "p", expiresAtMs: undefined });
  }
  async function asActor(program: IssuedManagementKey): Promise<Actor> {
    const actor = await actorOf(program);
    if (!actor) throw new Error("The key is not accepted");
    return actor;
  }
  async function trail(): Promise<readonly string[]> {
    const { db, tables } = storage.database;
    const rows = await db.select().from(tables.auditEntries);
    return rows.map(({ action, actorName, target }) => `${action} of ${target} by ${actorName}`);
  }

  test("as a removed developer spends no more, and the audit trail names each key", async () => {
    const developer = await addMember(storage.database, accountId, "developer");
    const [own, other] = [await newKey(developer), await newKey(owner)];
    await removeMember(storage, owner, { accountId, personId: developer.id });
    expect(await isAccepted(own.secret)).toBe(false);
    expect(await isAccepted(other.secret)).toBe(true);
    expect(await trail()).toContain(`key.revoked of ${own.key.id} by ${owner.name}`);
  });

  test("ends when a developer leaves or becomes a viewer", async () => {
    const [leaver, viewer] = [
      await addMember(storage.database, accountId, "developer"),
      await addMember(storage.database, accountId, "developer"),
    ];
    const secrets = [(await newKey(leaver)).secret, (await newKey(viewer)).secret];
    await removeMember(storage, leaver, { accountId, personId: leaver.id });
    await changeRole(storage, owner, { accountId, personId: viewer.id, role: "viewer" });
    expect(await Promise.all(secrets.map(isAccepted))).toEqual([false, false]);
  });

  test("is handed over to an owner by name, and to nobody else", async () => {
    const developer = await addMember(storage.database, accountId, "developer");
    const stranger = await addPerson(storage.database);
    const { key, secret } = await newKey(developer);
    const remove = (keysTo: string) =>
      removeMember(storage, owner, { accountId, personId: developer.id, keysTo });
    for (const wrong of [stranger.id, developer.id, "nobody"]) {
      await expect(remove(wrong)).rejects.toMatchObject({ kind: "wrong_shape" });
    }
    await remove(owner.id);
    expect(await isAccepted(secret)).toBe(true);
    const [kept] = await findKeys(storage.database, key.id);
    expect(kept?.createdBy).toBe(owner.id);
    expect(await trail()).toContain(`key.handed_over of ${key.id} by ${owner.name}`);
  });

  test("includes keys of others whose secret it was shown by a rotation", async () => {
    const leaver = await addMember(storage.database, accountId, "owner");
    const [known, renewed] = [await newKey(owner), await newKey(owner)];
    const rotated = await rotateKey({ ...storage, actor: leaver }, known.key);
    const again = await rotateKey({ ...storage, actor: leaver }, renewed.key);
    // Two rotations later the leaver knows no secret of the key any more.
    const third = await rotateKey({ ...storage, actor: owner }, again.key);
    const { secret } = await rotateKey({ ...storage, actor: owner }, third.key);
    await removeMember(storage, owner, { accountId, personId: leaver.id });
    expect(await isAccepted(rotated.secret)).toBe(false);
    expect(await isAccepted(secret)).toBe(true);
  });

  test("by programs ends with a former owner: management keys, their own keys, links and invitations", async () => {
    const leaver = await addMember(storage.database, accountId, "owner");
    const program = await newProgram(leaver);
    const second = await newProgram(await asActor(program));
    const made = await newKey(await asActor(second));
    const expiresAtMs = storage.now() + 86_400_000;
    const { token } = await createLink(storage, leaver, accountId, {
      keyId: undefined,
      showsNames: true,
      expiresAtMs,
    });
    const invited = { accountId, email: "leaver-too@example.com", role: "owner" } as const;
    await invite({ ...storage, mails }, leaver, invited);
    const kept = await newProgram(owner);

    await changeRole(storage, owner, { accountId, personId: leaver.id, role: "developer" });
    expect(await actorOf(program)).toBeUndefined();
    expect(await actorOf(second)).toBeUndefined();
    expect(await openLink(storage.database, token, storage.now())).toBeUndefined();
    const [invitation] = await listInvitations(storage.database, accountId);
    expect(invitation?.revokedAtMs).not.toBeNull();
    expect(await isAccepted(made.secret)).toBe(true);

    await removeMember(storage, owner, { accountId, personId: leaver.id });
    expect(await isAccepted(made.secret)).toBe(false);
    expect(await actorOf(kept)).toBeDefined();
  });

  test("after its right has ended is refused, though the request was admitted before", async () => {
    const leaver = await addMember(storage.database, accountId, "owner");
    const program = await asActor(await newProgram(leaver));
    const { key } = await newKey(owner);
    const link = { keyId: undefined, showsNames: true, expiresAtMs: storage.now() + 1_000 };
    const invited = { accountId, email: "new@example.com", role: "owner" } as const;
    await removeMember(storage, owner, { accountId, personId: leaver.id });
    for (const former of [leaver, program]) {
      for (const late of [
        () => newKey(former),
        () => newProgram(former),
        () => rotateKey({ ...storage, actor: former }, key),
        () => createLink(storage, former, accountId, link),
        () => invite({ ...storage, mails }, former, invited),
      ]) {
        await expect(late()).rejects.toMatchObject({ kind: "not_permitted" });
      }
    }
    const stranger = await addPerson(storage.database);
    await expect(newProgram(stranger, "")).rejects.toMatchObject({ kind: "not_permitted" });
  });

  test("while it is removed does not outlive the removal", async () => {
    const leaver = await addMember(storage.database, accountId, "developer");
    const made = Array.from({ length: 20 }, () => newKey(leaver));
    const removal = removeMember(storage, owner, { accountId, personId: leaver.id });
    made.push(...Array.from({ length: 20 }, () => newKey(leaver)));
    const [settled] = await Promise.all([Promise.allSettled(made), removal]);
    const secrets = settled.flatMap((each) => (each.status === "fulfilled" ? [each.value.secret] : []));
    for (const secret of secrets) expect(await isAccepted(secret)).toBe(false);
  });

  test("for the platform ends with the right of an operator, and what was made with it", async () => {
    const operator = await addPerson(storage.database, { isOperator: true });
    const former = await addPerson(storage.database, { isOperator: true });
    const platform = await newProgram(former, "");
    const second = await newProgram(await asActor(platform), "");
    const inAccount = await newProgram(await asActor(second));
    const made = await newKey(await asActor(inAccount));
    const others = await newProgram(operator, "");
    await setOperator(storage, operator, { personId: former.id, isOperator: false });
    for (const ended of [platform, second, inAccount]) expect(await actorOf(ended)).toBeUndefined();
    expect(await actorOf(others)).toBeDefined();
    // API keys belong to their accounts, whose programs they may run.
    expect(await isAccepted(made.secret)).toBe(true);
    expect(await trail()).toContain(`management_key.revoked of ${platform.key.id} by ${operator.name}`);
  });

  test("for the platform is handed over to another operator by name", async () => {
    const operator = await addPerson(storage.database, { isOperator: true });
    const former = await addPerson(storage.database, { isOperator: true });
    const platform = await newProgram(former, "");
    const withdraw = (keysTo: string) =>
      setOperator(storage, operator, { personId: former.id, isOperator: false, keysTo });
    await expect(withdraw(owner.id)).rejects.toMatchObject({ kind: "wrong_shape" });
    await expect(withdraw(former.id)).rejects.toMatchObject({ kind: "wrong_shape" });
    await withdraw(operator.id);
    expect(await actorOf(platform)).toBeDefined();
    expect(await trail()).toContain(`management_key.handed_over of ${platform.key.id} by ${operator.name}`);
  });
});
