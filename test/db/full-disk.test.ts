import { describe, expect, test } from "bun:test";
import { isFull, nameFullDisk } from "../../src/db/full-disk.ts";

const withCode = (code: string) => Object.assign(new Error("disk I/O error"), { code });
const FOLDERS = ["/data", "/books"];
const readFreeBytes = (folder: string) => (folder === "/books" ? 4_096 : 1e9);

describe("a fault on a full disk", () => {
  test.each(["SQLITE_FULL", "SQLITE_IOERR_WRITE", "SQLITE_IOERR", "ENOSPC", "EDQUOT"])(
    "%s names the disk and its folder",
    (code) => {
      const cause = withCode(code);
      const named = nameFullDisk(new Error("wrapped", { cause }), FOLDERS, readFreeBytes);
      expect(named).toMatchObject({
        message: "The disk of /books is full: free space there, then start again.",
        cause: { cause },
      });
    },
  );

  test("that the disk cannot have caused stays as it is", () => {
    const locked = withCode("SQLITE_BUSY");
    expect(nameFullDisk(locked, FOLDERS, readFreeBytes)).toBe(locked);
    expect(nameFullDisk("text", FOLDERS, readFreeBytes)).toBe("text");
  });

  test("stays as it is where every disk has space, or none can be read", () => {
    const broken = withCode("SQLITE_IOERR");
    expect(nameFullDisk(broken, FOLDERS, () => 1e9)).toBe(broken);
    const read = () => {
      throw new Error("gone");
    };
    expect(nameFullDisk(broken, FOLDERS, read)).toBe(broken);
  });
});

test("the disk of a missing folder is that of its nearest existing one", () =>
  expect(isFull("/missing/folder/of/a/test")).toBe(isFull("/")));
