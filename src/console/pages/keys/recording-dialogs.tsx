import { PATTERN_NAMES, type PatternName } from "../../../domain/recording-rules.ts";
import { api, call } from "../../api.ts";
import { capitalize, formatCount } from "../../format.ts";
import { currentOf } from "../../parts/conflict-dialog.tsx";
import { Confirm, FormDialog } from "../../parts/dialog.tsx";
import { Choice, FieldRow, TextArea } from "../../parts/field.tsx";
import type { KeyPageData } from "../../queries/keys.ts";
import type { KeyRecording } from "../../queries/recordings.ts";
import { HOUR_MS } from "../../times.ts";
import { useAction } from "../../use-action.ts";
import fields from "./keys.module.css";

/** What a pattern redacts, in words. */
export const PATTERN_TEXTS: Readonly<Record<PatternName, string>> = {
  secret: "API keys, tokens and passwords",
  card: "card numbers",
  email: "e-mail addresses",
};

/** How long a recording is kept, in words. */
export function describeHours(hours: number): string {
  if (hours % 24 !== 0) return `${formatCount(hours)} hours`;
  return hours === 24 ? "a day" : `${formatCount(hours / 24)} days`;
}

/** As `PUT` takes it. */
type Wanted = Pick<
  KeyRecording,
  "version" | "until" | "kept_hours" | "keeps_media" | "patterns" | "expressions"
>;

/** What a key records already, as `PUT` takes it. */
export function bodyOf({
  version,
  until,
  kept_hours,
  keeps_media,
  patterns,
  expressions,
}: KeyRecording): Wanted {
  return { version, until, kept_hours, keeps_media, patterns, expressions };
}

/** The change of how a key records. */
export function useRecordingAction(account: string, key: string, done: string, onDone?: () => void) {
  return useAction({
    act: (wanted: Wanted) => call(() => api.accounts({ account }).keys({ key }).recording.put(wanted)),
    renews: [["account", account, "keys"]],
    done,
    isForm: onDone !== undefined,
    ...(onDone && { onDone }),
  });
}

const DURATIONS = [1, 8, 24, 72, 168].map((hours) => ({
  value: String(hours),
  text: hours === 1 ? "an hour" : describeHours(hours),
}));

interface DialogProps {
  readonly account: string;
  readonly shown: KeyPageData;
  readonly recording: KeyRecording;
  readonly onClose: () => void;
}

/** Has the bodies of a key kept. */
export function Switch({ account, shown, recording, onClose }: DialogProps) {
  const save = useRecordingAction(account, shown.id, "Bodies are kept from now on", onClose);
  const current = currentOf<KeyRecording>(save.error);
  const { kept_hours, keeps_media, patterns, expressions } = recording;
  const kept = DURATIONS.some(({ value }) => value === String(kept_hours)) ? String(kept_hours) : "24";
  const submit = (form: HTMLFormElement) => {
    const data = new FormData(form);
    save.mutate({
      version: current?.version ?? recording.version,
      until: new Date(Date.now() + Number(data.get("until")) * HOUR_MS).toISOString(),
      kept_hours: Number(data.get("kept_hours")),
      keeps_media: data.has("keeps_media"),
      patterns: PATTERN_NAMES.filter((name) => data.getAll("patterns").includes(name)),
      expressions: String(data.get("expressions"))
        .split("\n")
        .map((line) => line.trim())
        .filter((line) => line !== ""),
    });
  };
  return (
    <FormDialog
      title={`Keep request bodies of “${shown.name}”`}
      note="Every answer says until when its bodies are kept, in the header x-tollgate-recorded. Tell the people whose words these are."
      action="Keep bodies"
      isWide
      call={save}
      onSubmit={(_, form) => submit(form)}
      onClose={onClose}
    >
      <FieldRow>
        <Choice label="Record for" name="until" options={DURATIONS} defaultValue="24" />
        <Choice label="Keep each for" name="kept_hours" options={DURATIONS} defaultValue={kept} />
      </FieldRow>
      <fieldset className={fields.group}>
        <legend>Redact</legend>
        {PATTERN_NAMES.map((name) => (
          <label key={name} className={fields.check}>
            <input type="checkbox" name="patterns" value={name} defaultChecked={patterns.includes(name)} />
            {capitalize(PATTERN_TEXTS[name])}
          </label>
        ))}
        <TextArea
          label="Own expressions"
          name="expressions"
          hint="One a line, in RE2's syntax: customer \d+. At most 5."
          refusal="One of them is no expression of RE2, or matches the empty text."
          defaultValue={expressions.join("\n")}
          rows={3}
          spellCheck={false}
          isOptional
        />
        <label className={fields.check}>
          <input type="checkbox" name="keeps_media" defaultChecked={keeps_media} />
          Keep images and files too, instead of their type and length
        </label>
      </fieldset>
    </FormDialog>
  );
}

/** Deletes every recording of a key. */
export function DeleteAll({ account, shown, recording, onClose }: DialogProps) {
  const requests = recording.count === 1 ? "one request" : `${formatCount(recording.count)} requests`;
  return (
    <Confirm
      title={`Delete the bodies of “${shown.name}”?`}
      note={`Those of ${requests} become unreadable at once. Receipts stay. The key ${
        recording.is_on ? "goes on recording" : "records no more"
      }.`}
      action="Delete all"
      isDanger
      act={() => call(() => api.accounts({ account }).keys({ key: shown.id }).recordings.delete())}
      renews={[
        ["account", account, "keys"],
        ["account", account, "recording"],
      ]}
      done="Bodies deleted"
      onClose={onClose}
    />
  );
}
