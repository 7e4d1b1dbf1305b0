import type { FieldInWords } from "../../parts/conflict-dialog.tsx";
import type { Project } from "../../queries/projects.ts";
import { describeLimit, limitValuesOf, readLimit, type SpendingLimitValues } from "../../spending-limits.ts";

/** What can be set on a project, as the API takes it. */
export interface ProjectValues {
  readonly name: string;
  readonly spending_limit: SpendingLimitValues | null;
  readonly end_user_limit: SpendingLimitValues | null;
}

export function valuesOf({ name, spending_limit, end_user_limit }: Project): ProjectValues {
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

/** Only what differs is sent, so that the change of another field by another person stays. */
export function changesOf(before: ProjectValues, after: ProjectValues): Partial<ProjectValues> {
  const isSame = (name: keyof ProjectValues) => JSON.stringify(before[name]) === JSON.stringify(after[name]);
  return {
    ...(!isSame("name") && { name: after.name }),
    ...(!isSame("spending_limit") && { spending_limit: after.spending_limit }),
    ...(!isSame("end_user_limit") && { end_user_limit: after.end_user_limit }),
  };
}

export function describeValues(values: ProjectValues): readonly FieldInWords[] {
  return [
    ["Name", values.name],
    ["Budget", describeLimit(values.spending_limit)],
    ["Each end user", describeLimit(values.end_user_limit)],
  ];
}
