import { useQueryClient } from "@tanstack/react-query";
import { ApiError, api, call } from "../../api.ts";
import { ConflictDialog, type FieldInWords, useEdit } from "../../parts/conflict-dialog.tsx";
import { Confirm, FormDialog } from "../../parts/dialog.tsx";
import { Field } from "../../parts/field.tsx";
import { SpendingFields } from "../../parts/spending-limit.tsx";
import { type Project, projectsQuery } from "../../queries/projects.ts";
import { describeLimit, limitValuesOf, readLimit, type SpendingLimitValues } from "../../spending-limits.ts";
import { useAction, useIdempotencyKey } from "../../use-action.ts";

/** What can be set on a project, as the API takes it. */
export interface ProjectValues {
  readonly name: string;
  readonly spending_limit: SpendingLimitValues | null;
  readonly end_user_limit: SpendingLimitValues | null;
}

function valuesOf({ name, spending_limit, end_user_limit }: Project): ProjectValues {
  return {
    name,
    spending_limit: limitValuesOf(spending_limit),
    end_user_limit: limitValuesOf(end_user_limit),
  };
}

export function readProjectForm(form: FormData): ProjectValues {
  return {
    name: String(form.get("name") ?? "").trim(),
    spending_limit: readLimit(form, "spending_limit"),
    end_user_limit: readLimit(form, "end_user_limit"),
  };
}

export function describeValues(values: ProjectValues): readonly FieldInWords[] {
  return [
    ["Name", values.name],
    ["Budget", describeLimit(values.spending_limit)],
    ["Each end user", describeLimit(values.end_user_limit)],
  ];
}

const TAKEN = "Another project has this name.";

interface ProjectFieldsProps {
  readonly values?: ProjectValues;
  readonly isNameTaken: boolean;
}

function ProjectFields({ values, isNameTaken }: ProjectFieldsProps) {
  return (
    <>
      <Field
        label="Name"
        name="name"
        hint="What the money is for: “search”, “customer support”."
        defaultValue={values?.name}
        error={isNameTaken ? TAKEN : undefined}
        maxLength={100}
        autoComplete="off"
        required
      />
      <SpendingFields
        label="Budget"
        name="spending_limit"
        limit={values?.spending_limit ?? null}
        hint="What all keys of the project may spend together."
      />
      <SpendingFields
        label="Limit of each end user"
        name="end_user_limit"
        limit={values?.end_user_limit ?? null}
        hint="Each user that requests name has as much by itself."
      />
    </>
  );
}

interface CreateProjectProps {
  readonly account: string;
  readonly onDone: (project: Project) => void;
  readonly onClose: () => void;
}

export function CreateProject({ account, onDone, onClose }: CreateProjectProps) {
  const headersFor = useIdempotencyKey();
  const create = useAction({
    act: (values: ProjectValues) => {
      const headers = headersFor(values);
      return call(() => api.accounts({ account }).projects.post(values, { headers }));
    },
    renews: [projectsQuery(account).queryKey],
    done: "Project created",
    isForm: true,
    onDone,
  });
  const isNameTaken = isConflict(create.error);
  return (
    <FormDialog
      title="Create a project"
      action="Create project"
      isWide
      call={isNameTaken ? { ...create, error: null } : create}
      onSubmit={(_, form) => create.mutate(readProjectForm(new FormData(form)))}
      onClose={onClose}
    >
      <ProjectFields isNameTaken={isNameTaken} />
    </FormDialog>
  );
}

function isConflict(error: Error | null): boolean {
  return error instanceof ApiError && error.code === "conflict";
}

interface EditProjectProps {
  readonly account: string;
  /** The project as it was when the dialog was opened. */
  readonly opened: Project;
  readonly onClose: () => void;
}

/** Edits a project. When another edit came first, shows both versions and lets the person choose. */
export function EditProject({ account, opened, onClose }: EditProjectProps) {
  const queryClient = useQueryClient();
  const { queryKey } = projectsQuery(account);
  const { base, values, edit, version, current, conflict, submit } = useEdit({
    opened,
    valuesOf,
    save: (change) => call(() => api.accounts({ account }).projects({ project: opened.id }).patch(change)),
    renews: [queryKey],
    done: "Project saved",
    onSaved: onClose,
  });
  // Nobody else saved: the name is what conflicts.
  const isNameTaken = current !== undefined && current.version === version;
  const closeAndRead = () => {
    void queryClient.invalidateQueries({ queryKey });
    onClose();
  };
  if (conflict && !isNameTaken) {
    return (
      <ConflictDialog thing="project" conflict={conflict} describe={describeValues} onClose={closeAndRead} />
    );
  }
  return (
    <FormDialog
      title={`Edit “${base.name}”`}
      action="Save"
      isWide
      call={isNameTaken ? { ...edit, error: null } : edit}
      onSubmit={(_, form) => submit(readProjectForm(new FormData(form)))}
      onClose={onClose}
    >
      <ProjectFields key={base.version} values={values} isNameTaken={isNameTaken} />
    </FormDialog>
  );
}

/** Archives a project, or takes it back. Its keys go on either way. */
export function ArchiveProject({ account, opened, onClose }: EditProjectProps) {
  const isArchived = opened.archived_at !== null;
  return (
    <Confirm
      title={isArchived ? `Restore “${opened.name}”?` : `Archive “${opened.name}”?`}
      note={
        isArchived
          ? "It takes new keys again."
          : "It takes no new keys. Those that it has stay valid, within its budget: revoke them to end them."
      }
      action={isArchived ? "Restore" : "Archive"}
      act={() =>
        call(() =>
          api
            .accounts({ account })
            .projects({ project: opened.id })
            .patch({ version: opened.version, is_archived: !isArchived }),
        )
      }
      renews={[projectsQuery(account).queryKey]}
      done={isArchived ? "Project restored" : "Project archived"}
      onClose={onClose}
    />
  );
}
