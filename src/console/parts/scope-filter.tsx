import { useQuery } from "@tanstack/react-query";
import { memberLimitsQuery, projectsQuery } from "../queries/projects.ts";
import { addScope, GROUPS, isScopeGroup, listScopes, removeScope, splitScope } from "../usage-view.ts";
import { FilterChip } from "./chip.tsx";
import { Select, useFilter } from "./filters.tsx";

interface ScopeFilterProps {
  readonly account: string;
  /** "project:ID", "end_user:ada"; several have line feeds between them. */
  readonly scope: string | undefined;
}

/** A choice of projects, for an account with more than its default one; each other scope is a filter to remove. */
export function ScopeFilter({ account, scope }: ScopeFilterProps) {
  const scopes = listScopes(scope);
  const project = scopes.find((each) => each.startsWith("project:"));
  return (
    <>
      <ProjectFilter account={account} scope={scope} project={project} />
      {scopes
        .filter((each) => each !== project)
        .map((each) => (
          <ScopeChip key={each} account={account} scope={each} rest={removeScope(scope, each)} />
        ))}
    </>
  );
}

interface ProjectFilterProps extends ScopeFilterProps {
  readonly project: string | undefined;
}

function ProjectFilter({ account, scope, project }: ProjectFilterProps) {
  const { data } = useQuery(projectsQuery(account));
  const [, choose] = useFilter("scope");
  const options = data?.items.map(({ id, name }) => ({ value: `project:${id}`, text: name })) ?? [];
  if (options.length < 2 && project === undefined) return null;
  const chooseProject = (chosen: string) => {
    const rest = project === undefined ? scope : removeScope(scope, project);
    choose(chosen === "" ? (rest ?? "") : addScope(rest, chosen));
  };
  return (
    <Select
      label="Project"
      value={project ?? ""}
      options={[{ value: "", text: "any project" }, ...options]}
      onChange={chooseProject}
    />
  );
}

interface ScopeChipProps {
  readonly account: string;
  readonly scope: string;
  /** The filter without this scope. */
  readonly rest: string | undefined;
}

/** A scope that a row of the table has set. A press removes it. */
function ScopeChip({ account, scope, rest }: ScopeChipProps) {
  const [kind, id] = splitScope(scope);
  const { data: members } = useQuery({ ...memberLimitsQuery(account), enabled: kind === "member" });
  const member = members?.items.find(({ person_id }) => person_id === id)?.name;
  const title = isScopeGroup(kind) ? GROUPS[kind] : kind;
  // The id of a run begins with that of its key.
  const text = kind === "run" ? splitScope(id)[1] : (member ?? id);
  return <FilterChip filter="scope" name={title} text={text} rest={rest} />;
}
