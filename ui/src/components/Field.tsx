/** A form field: label, control, hint and error, tied together for everyone. */

import {
  type InputHTMLAttributes,
  type ReactNode,
  type Ref,
  type SelectHTMLAttributes,
  type TextareaHTMLAttributes,
  useId,
} from "react";
import "./field.css";

interface Wired {
  id: string;
  "aria-describedby"?: string;
  "aria-invalid"?: boolean;
}

interface FieldProps {
  label: ReactNode;
  hint?: ReactNode;
  error?: string;
  children: (wired: Wired) => ReactNode;
}

export function Field({ label, hint, error, children }: FieldProps) {
  const id = useId();
  const note = `${id}-note`;
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {children({ id, "aria-describedby": hint || error ? note : undefined, "aria-invalid": error ? true : undefined })}
      {(error || hint) && (
        <div id={note} className={error ? "field-error" : "field-hint"}>
          {error ?? hint}
        </div>
      )}
    </div>
  );
}

type Common = Omit<FieldProps, "children">;

export function TextField({
  label,
  hint,
  error,
  ...rest
}: Common & InputHTMLAttributes<HTMLInputElement> & { ref?: Ref<HTMLInputElement> }) {
  return (
    <Field label={label} hint={hint} error={error}>
      {(wired) => <input className="input" type="text" autoComplete="off" spellCheck={false} {...rest} {...wired} />}
    </Field>
  );
}

export function TextArea({ label, hint, error, ...rest }: Common & TextareaHTMLAttributes<HTMLTextAreaElement>) {
  return (
    <Field label={label} hint={hint} error={error}>
      {(wired) => <textarea rows={5} spellCheck={false} {...rest} className="input mono" {...wired} />}
    </Field>
  );
}

export function SelectField({
  label,
  hint,
  error,
  children,
  ...rest
}: Common & SelectHTMLAttributes<HTMLSelectElement>) {
  return (
    <Field label={label} hint={hint} error={error}>
      {(wired) => (
        <select className="input" {...rest} {...wired}>
          {children}
        </select>
      )}
    </Field>
  );
}

export function CheckField({ label, hint, ...rest }: Common & InputHTMLAttributes<HTMLInputElement>) {
  const id = useId();
  return (
    <div className="check">
      <input type="checkbox" {...rest} id={id} aria-describedby={hint ? `${id}-note` : undefined} />
      <div>
        <label htmlFor={id}>{label}</label>
        {hint && (
          <div id={`${id}-note`} className="field-hint">
            {hint}
          </div>
        )}
      </div>
    </div>
  );
}
