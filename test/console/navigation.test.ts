import { expect, test } from "bun:test";
import { listNavigation } from "../../src/console/shell/navigation.ts";
import { matchPages } from "../../src/console/shell/palette-hits.ts";

const titlesOf = (role: string | undefined, isOperator = false) =>
  listNavigation({ role, isOperator }).map(({ title }) => title);
const found = (text: string, role: string) =>
  matchPages(text, { account: "a1", groups: listNavigation({ role, isOperator: false }) }).map(
    ({ title }) => title,
  );

test("a person without an account has no pages of one, and an operator has the operators' pages", () => {
  expect(titlesOf(undefined)).toEqual([]);
  expect(titlesOf(undefined, true)).toEqual(["Operator"]);
  expect(titlesOf("owner", true)).toEqual(["Traffic", "Build", "Account", "Operator"]);
});

test("the search finds the pages that the role may open alone", () => {
  expect(found("playground", "developer")).toEqual(["Playground"]);
  expect(found("playground", "viewer")).toEqual([]);
  expect(found("operator", "owner")).toEqual([]);
  expect(found("traffic usage", "viewer")).toEqual(["Usage"]);
});
