import { useQuery } from "@tanstack/react-query";
import { api, call } from "../api.ts";
import { linksQuery, type SharedLink } from "../queries/account.ts";
import { keyNamesQuery } from "../queries/overview.ts";
import { type Project, projectsQuery } from "../queries/projects.ts";
import { DAY_MS } from "../times.ts";
import { ActionDialog, Confirm, SecretDialog } from "./dialog.tsx";
import { Choice } from "./field.tsx";

interface NewLinkProps {
  readonly account: string;
  /** The project that the link shows. Without one, the form asks what to show. */
  readonly project?: Project;
  readonly onClose: () => void;
}

const LIVES = [
  { value: "1", text: "a day" },
  { value: "7", text: "a week" },
  { value: "30", text: "30 days" },
  { value: "90", text: "90 days" },
] as const;

const NAMES = [
  { value: "no", text: "hidden" },
  { value: "yes", text: "shown" },
] as const;

/** Creates a shared link, then shows it once. */
export function NewLink({ account, project, onClose }: NewLinkProps) {
  return (
    <ActionDialog
      title={project ? `Share “${project.name}”` : "Create a shared link"}
      note={
        project
          ? "Whoever has the link reads usage of the last 30 days, the budget and the months of this project alone."
          : "Whoever has it reads usage of the last 30 days. It can be revoked."
      }
      action="Create link"
      act={({ shows = "", names, days }) =>
        call(() =>
          api.accounts({ account }).links.post({
            ...(project ? { project: project.id } : readShown(shows)),
            shows_names: names === "yes",
            expires_at: new Date(Date.now() + Number(days) * DAY_MS).toISOString(),
          }),
        )
      }
      renews={[linksQuery(account).queryKey]}
      shows={({ url }) => (
        <SecretDialog
          title="The link is ready"
          note="This is the only time that the link is shown: only its digest is stored."
          label="link"
          secret={url}
          onClose={onClose}
        />
      )}
      onClose={onClose}
    >
      {!project && <Shows account={account} />}
      <Choice
        label={project ? "Names of account and project" : "Names of account, keys and projects"}
        name="names"
        defaultValue={project ? "yes" : "no"}
        options={NAMES}
      />
      <Choice label="Expires after" name="days" defaultValue={project ? "90" : "7"} options={LIVES} />
    </ActionDialog>
  );
}

function Shows({ account }: { readonly account: string }) {
  const { data: keys } = useQuery(keyNamesQuery(account));
  const { data: projects } = useQuery(projectsQuery(account));
  return (
    <Choice
      label="Shows"
      name="shows"
      options={[
        { value: "", text: "the whole account" },
        ...(projects?.items ?? []).map(({ id, name }) => ({
          value: `project:${id}`,
          text: `the project ${name}`,
        })),
        ...(keys?.items ?? []).map(({ id, name }) => ({ value: `key:${id}`, text: `the key ${name}` })),
      ]}
    />
  );
}

function readShown(shows: string): { readonly key?: string; readonly project?: string } {
  const id = shows.slice(shows.indexOf(":") + 1);
  if (shows.startsWith("project:")) return { project: id };
  return shows.startsWith("key:") ? { key: id } : {};
}

/** What a link shows: "key research". */
export function describeShown({ key, project }: SharedLink): string {
  if (project) return `project ${project.name}`;
  return key ? `key ${key.name}` : "the whole account";
}

interface RevokeLinkProps {
  readonly account: string;
  readonly link: SharedLink;
  readonly onClose: () => void;
}

/** Ends a shared link at once. */
export function RevokeLink({ account, link, onClose }: RevokeLinkProps) {
  return (
    <Confirm
      title="Revoke the link"
      note="Whoever has it sees nothing any more. This cannot be undone."
      action="Revoke"
      isDanger
      act={() => call(() => api.accounts({ account }).links({ link: link.id }).delete())}
      renews={[linksQuery(account).queryKey]}
      done="Link revoked"
      onClose={onClose}
    />
  );
}
