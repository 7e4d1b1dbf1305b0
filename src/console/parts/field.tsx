import {
  type ComponentProps,
  createContext,
  type FormEvent,
  type ReactNode,
  useContext,
  useEffect,
  useId,
  useRef,
  useState,
} from "react";
import { ApiError } from "../api.ts";
import styles from "./field.module.css";
import { describeError } from "./loaded.tsx";

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
/** The server's words for any value of a wrong shape, which say less than a field does. */
const GENERAL = "The request body failed validation";

/** A value that the server refused. */
interface RefusedValue {
  /** The names that its path consists of: `["spending_limit", "amount_usd"]`. */
  readonly path: readonly string[];
  /** Why, where the server says more than that it does. */
  readonly reason: string | undefined;
  /** Whether the form has a field for it. */
  readonly isMarked: boolean;
}

const NOTHING_REFUSED: RefusedValue = { path: [], reason: undefined, isMarked: false };
const Refused = createContext(NOTHING_REFUSED);

function readRefusal(error: unknown, sentNames: readonly string[]): RefusedValue {
  if (!(error instanceof ApiError) || error.status !== 422) return NOTHING_REFUSED;
  const [, text, names = ""] = /^(.*): ([^: ]+)$/s.exec(error.message) ?? [];
  const path = names.split(/[.[\]]/).filter(Boolean);
  const reason = text === undefined || text === GENERAL ? undefined : `${text}.`;
  return { path, reason, isMarked: path.some((name) => sentNames.includes(name)) };
}

/** Whether the server refused the value of this name in the form around. */
export function useIsRefused(name: string): boolean {
  return useContext(Refused).path.includes(name);
}

/** Returns the error of a field: its own, or that the server refused its value. */
function useFieldError(name: string | undefined, { error, refusal = REFUSAL }: Partial<FieldText>) {
  const { path, reason } = useContext(Refused);
  return error ?? (name !== undefined && path.includes(name) ? (reason ?? refusal) : undefined);
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

/**
 * Fields below each other. A value that the server refuses is marked at the field of its name, which gets the focus;
 * {@link Failure} shows any other `error`.
 */
export function Form({ error, onSubmit, ...form }: ComponentProps<"form"> & { readonly error?: unknown }) {
  const [sentNames, setSentNames] = useState<readonly string[]>([]);
  const place = useRef<HTMLFormElement>(null);
  useEffect(() => {
    if (error) place.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [error]);
  return (
    <Refused value={readRefusal(error, sentNames)}>
      <form
        {...form}
        ref={place}
        className={styles.form}
        onSubmit={(event) => {
          setSentNames([...new FormData(event.currentTarget).keys()]);
          onSubmit?.(event);
        }}
      />
    </Refused>
  );
}

/** Fields beside each other where there is room. */
export function FieldRow({ children }: { readonly children: ReactNode }) {
  return <div className={styles.row}>{children}</div>;
}

/** The error message of a rejected form, unless a field shows it. Screen readers announce it when it appears. */
export function Failure({ error }: { readonly error: unknown }) {
  const { isMarked } = useContext(Refused);
  if (!error || isMarked) return null;
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

/** The texts of a form by the names of its fields. */
export type FormValues = Readonly<Record<string, string>>;

/** Stops the browser's own submission and returns the texts of a form by the names of its fields. */
export function readForm(event: FormEvent<HTMLFormElement>): FormValues {
  event.preventDefault();
  const entries = [...new FormData(event.currentTarget)];
  return Object.fromEntries(
    entries.flatMap(([name, value]) => (typeof value === "string" ? [[name, value]] : [])),
  );
}
