import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { Select } from "../../parts/select.tsx";
import { keyNamesQuery } from "../overview/queries.ts";

/** Chooses the key that the URL holds as `key`. */
export function KeyFilter({ account }: { readonly account: string }) {
  const { data } = useQuery(keyNamesQuery(account));
  const { key = "" } = useSearch({ strict: false }) as { readonly key?: string };
  const navigate = useNavigate();
  const known = data?.items.map(({ id, name }) => ({ value: id, text: name })) ?? [];
  const isUnknown = key !== "" && !known.some(({ value }) => value === key);
  return (
    <Select
      label="Key"
      value={key}
      options={[{ value: "", text: "any key" }, ...known, ...(isUnknown ? [{ value: key, text: key }] : [])]}
      onChange={(chosen) =>
        void navigate({
          to: ".",
          search: (all: object) =>
            ({ ...all, key: chosen === "" ? undefined : chosen, page: undefined }) as never,
        })
      }
    />
  );
}
