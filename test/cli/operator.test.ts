import { describe, expect, test } from "bun:test";
import { tempFolder } from "../support/temp-folder.ts";
import { runTollgate } from "./run-tollgate.ts";

describe("operator create", () => {
  test("creates an operator and prints its one-time password once", async () => {
    const folder = tempFolder();
    const create = () => runTollgate(folder, ["operator", "create", "--email", "Ada@Example.com", "--json"]);
    const created = (await create()).json();
    expect(created).toEqual({
      id: expect.any(String),
      email: "ada@example.com",
      is_new: true,
      one_time_password: expect.stringMatching(/^[\w-]{24}$/),
    });
    const again = (await create()).json();
    expect(again).toMatchObject({ id: created.id, is_new: false });
    expect(again.one_time_password).not.toBe(created.one_time_password);
  });

  test("refuses a text that is no e-mail address", async () => {
    const failed = await runTollgate(tempFolder(), ["operator", "create", "--email", "a@b,c@d"]);
    expect(failed.exitCode).toBe(2);
  });
});
