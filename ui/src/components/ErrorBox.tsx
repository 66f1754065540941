/** An error in full: what happened, why, what to do, its code; trace and causes folded away. */

import type { ReactNode } from "react";
import { ApiProblem } from "../api/client";
import type { ErrorInfo, FieldProblem } from "../api/types";
import { Icon } from "./Icon";
import "./error-box.css";

interface Told {
  code: string;
  what: string;
  why?: string;
  fix?: string;
  errors?: FieldProblem[];
  info?: ErrorInfo;
}

export interface ErrorBoxProps {
  error: ApiProblem | ErrorInfo;
  title?: string;
  children?: ReactNode;
}

export function ErrorBox({ error, title, children }: ErrorBoxProps) {
  const { code, what, why, fix, errors, info } = tell(error);
  return (
    <div className="error-box" role={error instanceof ApiProblem ? "alert" : undefined}>
      <Icon name="warning" />
      <div className="grow stack tight">
        <div className="row wrap">
          {title && <strong>{title}</strong>}
          <code className="error-code">{code}</code>
          {info?.type && info.type !== code && <code className="faint">{info.type}</code>}
        </div>
        <p className="error-what">{what}</p>
        {why && (
          <p>
            <span className="faint">Why</span> {why}
          </p>
        )}
        {fix && (
          <p>
            <span className="faint">Fix</span> {fix}
          </p>
        )}
        {errors && errors.length > 0 && <FieldErrors errors={errors} />}
        {info && <More info={info} />}
        {children && <div className="row wrap">{children}</div>}
      </div>
    </div>
  );
}

function tell(error: ApiProblem | ErrorInfo): Told {
  if (error instanceof ApiProblem) {
    const { code, title, why, fix, errors } = error.problem;
    return { code, what: title, why, fix, errors };
  }
  return { code: error.code, what: error.message, info: error };
}

function FieldErrors({ errors }: { errors: FieldProblem[] }) {
  return (
    <ul className="error-fields">
      {errors.map(({ pointer, message, code }) => (
        <li key={`${pointer} ${code} ${message}`}>
          <code>{pointer || "/"}</code> {message}
        </li>
      ))}
    </ul>
  );
}

function More({ info }: { info: ErrorInfo }) {
  const parts = Object.entries(info.parts ?? {});
  return (
    <>
      {info.ops && info.ops.length > 0 && (
        <p className="muted">
          at <code>{info.ops.join(", ")}</code>
        </p>
      )}
      {parts.map(([name, part]) => (
        <details key={name}>
          <summary>
            <code>{name}</code> {part.message}
          </summary>
          <ErrorBox error={part} />
        </details>
      ))}
      {info.cause && (
        <details>
          <summary>Caused by {info.cause.message}</summary>
          <ErrorBox error={info.cause} />
        </details>
      )}
      {info.trace && (
        <details>
          <summary>Trace</summary>
          <pre className="error-trace">{info.trace}</pre>
        </details>
      )}
    </>
  );
}
