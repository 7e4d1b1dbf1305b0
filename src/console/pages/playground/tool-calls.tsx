import { useState } from "react";
import { Button } from "../../parts/button.tsx";
import { CodeBlock, printPretty } from "../../parts/code-block.tsx";
import { Form, TextArea } from "../../parts/field.tsx";
import stack from "../../parts/stack.module.css";
import type { ToolCall } from "./answer.ts";
import styles from "./playground.module.css";

interface ToolCallsProps {
  readonly calls: readonly ToolCall[];
  /** Goes on with what the tools returned; absent where the conversation went on already. */
  readonly onResults?: ((results: readonly string[]) => void) | undefined;
}

/** The calls that a model asks for, with fields for what each of the tools returns. */
export function ToolCalls({ calls, onResults }: ToolCallsProps) {
  const [results, setResults] = useState<readonly string[]>([]);
  if (calls.length === 0) return null;
  const set = (position: number, text: string) =>
    setResults((all) => calls.map((_, index) => (index === position ? text : (all[index] ?? ""))));
  return (
    <Form
      onSubmit={(event) => {
        event.preventDefault();
        onResults?.(results);
      }}
    >
      {calls.map(({ id, name, arguments: given }, index) => (
        <section key={id || index} className={styles.step} aria-label={`Call of ${name}`}>
          <p>
            Calls <code>{name}</code>
          </p>
          <CodeBlock label={`arguments of ${name}`} code={printPretty(given)} isWrapped />
          {onResults && (
            <TextArea
              label={`What ${name} returns`}
              rows={2}
              spellCheck={false}
              value={results[index] ?? ""}
              onChange={({ currentTarget }) => set(index, currentTarget.value)}
            />
          )}
        </section>
      ))}
      {onResults && (
        <Button type="submit" icon="play" className={stack.start}>
          Continue with these results
        </Button>
      )}
    </Form>
  );
}
