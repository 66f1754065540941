/** What the compiler says of a program, asked again a moment after each change. */

import { useEffect, useState } from "react";
import { api } from "../../../api/client";
import type { CheckedProgram } from "../../../api/schema";
import type { Json } from "../../../api/types";
import type { Finding } from "../../../components/code/CodeEditor";
import { unitOf } from "../../../components/code/marks";
import { type TextFile, textsOf } from "../../../components/code/texts";

const PAUSE_MS = 300;

export interface FileFinding extends Finding {
  file: string;
}

export function useFindings(value: Json): FileFinding[] {
  const [found, setFound] = useState<FileFinding[]>([]);
  useEffect(() => {
    const texts = textsOf(value);
    if (!texts) return;
    const abort = new AbortController();
    const timer = window.setTimeout(() => {
      const { files } = texts;
      const body = files.length === 1 ? { source: files[0]?.text ?? "" } : { sources: files as unknown as Json };
      api
        .post<CheckedProgram>("/afl/check", body, { signal: abort.signal })
        .then(({ diagnostics }) => setFound(diagnostics.map((one) => findingOf(one, files))))
        .catch(() => !abort.signal.aborted && setFound([])); // What the editor itself asks says why.
    }, PAUSE_MS);
    return () => {
      window.clearTimeout(timer);
      abort.abort();
    };
  }, [value]);
  return found;
}

export function findingOf(
  { severity, message, hint, file, line, column, end_line, end_column }: CheckedProgram["diagnostics"][number],
  files: readonly TextFile[],
): FileFinding {
  const text = (files.find(({ name }) => name === file) ?? files[0])?.text.split("\n")[line - 1] ?? "";
  return {
    file,
    line,
    from: unitOf(text, column),
    to: end_line === line ? unitOf(text, end_column) : text.length,
    message: hint ? `${message}: ${hint}` : message,
    warning: severity !== "error",
  };
}
