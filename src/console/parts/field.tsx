import { type ComponentProps, createContext, type ReactNode, useContext, useId } from "react";
import { ApiError } from "../api.ts";
import { describeError } from "./error-panel.tsx";
import styles from "./field.module.css";

interface FieldText {
  readonly label: string;
  /** What to enter, its unit and bounds. */
  readonly hint?: ReactNode;
  /** What is wrong with the value. */
  readonly error?: string | undefined;
  /** What is wrong when the server refuses the value: "Must lie in the future." */
  readonly refusal?: string | undefined;
  readonly isOptional?: boolean | undefined;
}

const REFUSAL = "The server refuses this value.";

/** Provides the names that a refused body's path consists of, to the fields inside. */
export const RefusedFields = createContext<readonly string[]>([]);

/** Returns the path of the value that the server refused: `["spending_limit", "amount_usd"]`. */
export function refusedPathOf(error: unknown): readonly string[] {
  if (!(error instanceof ApiError) || error.status !== 422) return [];
  return (/: ([^: ]+)$/.exec(error.message)?.[1] ?? "").split(/[.[\]]/).filter(Boolean);
}

/** Returns the error of a field: its own, or that the server refused its value. */
function useFieldError(name: string | undefined, { error, refusal = REFUSAL }: Partial<FieldText>) {
  const refused = useContext(RefusedFields);
  return error ?? (name !== undefined && refused.includes(name) ? refusal : undefined);
}

type FieldProps = FieldText & ComponentProps<"input"> & { readonly affix?: string };

/** A line of text with its label. `affix` stands before the value: "$". */
export function Field({ label, hint, error: own, refusal, isOptional, affix, ...input }: FieldProps) {
  const id = useId();
  const error = useFieldError(input.name, { error: own, refusal });
  const control = <input {...input} {...wiring(id, { hint, error })} />;
  return (
    <Frame id={id} text={{ label, hint, error, isOptional }}>
      {affix ? (
        <div className={styles.affixed}>
          <span className={styles.affix} aria-hidden="true">
            {affix}
          </span>
          {control}
        </div>
      ) : (
        control
      )}
    </Frame>
  );
}

/** Several lines of text with their label. */
export function TextArea({
  label,
  hint,
  error: own,
  refusal,
  isOptional,
  ...area
}: FieldText & ComponentProps<"textarea">) {
  const id = useId();
  const error = useFieldError(area.name, { error: own, refusal });
  return (
    <Frame id={id} text={{ label, hint, error, isOptional }}>
      <textarea {...area} {...wiring(id, { hint, error })} />
    </Frame>
  );
}

/** A choice among few short values, drawn by the system: cheaper than {@link Select}, and best on phones. */
export function Choice({
  label,
  hint,
  error: own,
  refusal,
  isOptional,
  options,
  ...select
}: FieldText &
  ComponentProps<"select"> & {
    readonly options: readonly { readonly value: string; readonly text: string }[];
  }) {
  const id = useId();
  const error = useFieldError(select.name, { error: own, refusal });
  return (
    <Frame id={id} text={{ label, hint, error, isOptional }}>
      <select {...select} {...wiring(id, { hint, error })}>
        {options.map(({ value, text }) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
    </Frame>
  );
}

/** Fields below each other. */
export function Form(props: ComponentProps<"form">) {
  return <form {...props} className={styles.form} noValidate={props.noValidate} />;
}

/** Fields beside each other where there is room. */
export function FieldRow({ children }: { readonly children: ReactNode }) {
  return <div className={styles.row}>{children}</div>;
}

/** The error message of a rejected form. Screen readers announce it when it appears. */
export function Failure({ error }: { readonly error: unknown }) {
  if (!error) return null;
  const text = error instanceof Error ? error.message : describeError(error).text;
  return (
    <p className={styles.failure} role="alert">
      {text}
    </p>
  );
}

function Frame({ id, text, children }: { id: string; text: Partial<FieldText>; children: ReactNode }) {
  const { label, hint, error, isOptional } = text;
  return (
    <div className={styles.field}>
      <label className={styles.label} htmlFor={id}>
        {label}
        {isOptional && <span className={styles.optional}>optional</span>}
      </label>
      {children}
      {hint && (
        <p id={`${id}-hint`} className={styles.hint}>
          {hint}
        </p>
      )}
      {error && (
        <p id={`${id}-error`} className={styles.error} role="alert">
          {error}
        </p>
      )}
    </div>
  );
}

function wiring(id: string, { hint, error }: { hint?: ReactNode; error?: string | undefined }) {
  const described = [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(" ");
  return {
    id,
    className: styles.control,
    "aria-invalid": error ? true : undefined,
    "aria-describedby": described || undefined,
  } as const;
}
