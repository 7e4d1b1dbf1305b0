import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { memberLimitsQuery, projectsQuery } from "../queries/projects.ts";
import { withSearch } from "../search.ts";
import { GROUPS, isScopeGroup } from "../usage-view.ts";
import { FilterChip } from "./chip.tsx";
import { Select } from "./filters.tsx";

interface ScopeFilterProps {
  readonly account: string;
  /** "project:ID", "end_user:ada". */
  readonly scope: string | undefined;
}

/** A choice of projects, for an account with more than its default one; any other scope is a filter to remove. */
export function ScopeFilter({ account, scope = "" }: ScopeFilterProps) {
  const { data } = useQuery(projectsQuery(account));
  const navigate = useNavigate();
  const options = data?.items.map(({ id, name }) => ({ value: `project:${id}`, text: name })) ?? [];
  const isProject = scope === "" || scope.startsWith("project:");
  if (!isProject) return <ScopeChip account={account} scope={scope} />;
  if (options.length < 2 && scope === "") return null;
  return (
    <Select
      label="Project"
      value={scope}
      options={[{ value: "", text: "any project" }, ...options]}
      onChange={(chosen) =>
        void navigate({ to: ".", search: withSearch({ scope: chosen || undefined, page: undefined }) })
      }
    />
  );
}

/** A scope that a row of the table has set. A press removes it. */
function ScopeChip({ account, scope }: { readonly account: string; readonly scope: string }) {
  const [kind = "", id = ""] = splitScope(scope);
  const { data: members } = useQuery({ ...memberLimitsQuery(account), enabled: kind === "member" });
  const member = members?.items.find(({ person_id }) => person_id === id)?.name;
  const title = isScopeGroup(kind) ? GROUPS[kind] : kind;
  // The id of a run begins with that of its key.
  const text = kind === "run" ? splitScope(id)[1] : (member ?? id);
  return <FilterChip filter="scope" name={title} text={text} />;
}

function splitScope(scope: string): readonly [kind: string, id: string] {
  const colon = scope.indexOf(":");
  return [scope.slice(0, colon), scope.slice(colon + 1)];
}
