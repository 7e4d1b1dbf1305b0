import { useQuery } from "@tanstack/react-query";
import { Select } from "../../parts/filters.tsx";
import { attributionQuery } from "../../queries/account.ts";
import { groupsFor } from "../../usage-view.ts";

/** What a view may be divided by: tags only where the account has declared keys of them. */
export function useGroups(account: string | undefined) {
  const { data } = useQuery({ ...attributionQuery(account ?? ""), enabled: account !== undefined });
  const tagKeys = data?.tag_keys ?? [];
  const names = groupsFor({ isOperator: account === undefined });
  return { tagKeys, names: names.filter((name) => name !== "tag" || tagKeys.length > 0) };
}

interface TagKeysProps {
  readonly account: string;
  readonly chosen: string | undefined;
  readonly onChange: (key: string) => void;
}

/** The key of the tags that the view is divided by. */
export function TagKeys({ account, chosen = "", onChange }: TagKeysProps) {
  const { tagKeys } = useGroups(account);
  const keys = chosen === "" || tagKeys.includes(chosen) ? tagKeys : [...tagKeys, chosen];
  return (
    <Select
      label="Tag"
      value={chosen}
      options={keys.map((value) => ({ value, text: value }))}
      onChange={onChange}
    />
  );
}
